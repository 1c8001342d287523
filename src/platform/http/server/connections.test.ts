import { connect, type Socket } from 'node:net'
import * as Type from 'typebox'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import { api } from '../../../../test/kit/http/http.ts'
import { testServer } from '../../../../test/kit/http/server.ts'
import type { App, ServerOptions } from '../index.ts'

let app: App
afterEach(() => app.close())

async function listen(options: Partial<ServerOptions>): Promise<string> {
  app = testServer(options)
  const schema = { body: Type.Object({ text: Type.Optional(Type.String()) }) }
  app.post('/body', { config: { access: 'public' }, schema }, async (request) => request.body)
  app.post('/slow', { config: { access: 'public', bodyTimeoutMs: 5000 }, schema }, async (request) => request.body)
  app.get('/', { config: { access: 'public' } }, async () => ({}))
  return app.listen({ port: 0, host: '127.0.0.1' })
}

/** A connection from one of the addresses of the loopback network. `received` collects the response. */
function open(url: string, from = '127.0.0.1'): { socket: Socket; received(): string; isClosed(): boolean } {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: from })
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return { socket, received: () => text, isClosed: () => socket.destroyed }
}

const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`

/** Sends a body byte by byte, as slowly as a client can without being idle. */
function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write(' '), 20)
  socket.once('close', () => clearInterval(timer))
}

describe('a body that arrives slowly', () => {
  it('is 408 after the time for a body, even while bytes arrive, and ends the connection', async () => {
    const url = await listen({ bodyTimeoutMs: 200 })
    const slow = open(url)
    slow.socket.write(head('/body', 10_000))
    drip(slow.socket)
    await eventually(() => slow.isClosed())
    expect(slow.received()).toMatch(/^HTTP\/1\.1 408 /)
    expect(slow.received()).toContain('"code":"request_timeout"')
    expect(slow.received().match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  it('is accepted within the time, and for longer where the route allows it', async () => {
    const url = await listen({ bodyTimeoutMs: 200 })
    const body = JSON.stringify({ text: 'x'.repeat(20) })
    const slow = open(url)
    slow.socket.write(head('/slow', body.length) + body.slice(0, 5))
    const timedOut = open(url)
    timedOut.socket.write(head('/body', body.length) + body.slice(0, 5))
    await eventually(() => timedOut.isClosed())
    slow.socket.write(body.slice(5))
    await eventually(() => slow.received().includes(body))
    expect(slow.received()).toMatch(/^HTTP\/1\.1 200 /)
    expect((await api(url).post('/body', 'x'.repeat(60_000))).status).toBe(400)
  })
})

describe('a body that never ends after its request was refused', () => {
  it.each([
    ['by its size', 'application/json', 70_000],
    ['by its type', 'image/png', 10],
  ])('%s loses its connection when its time is over, without an error', async (_name, type, length) => {
    const errors: unknown[] = []
    const collect = (error: unknown) => void errors.push(error)
    process.prependListener('uncaughtException', collect)
    onTestFinished(() => void process.removeListener('uncaughtException', collect))
    const url = await listen({ bodyTimeoutMs: 50 })
    const refused = open(url)
    refused.socket.write(head('/body', length).replace('application/json', type))
    await eventually(() => refused.received().includes('HTTP/1.1 41'))
    const late = open(url)
    late.socket.write(head('/body', 10))
    await eventually(() => late.received().includes('HTTP/1.1 408'))
    await eventually(() => refused.isClosed())
    expect(errors).toEqual([])
  })
})

describe('connections', () => {
  it('of one address take a quarter of all, so dripping bodies do not lock out other addresses', async () => {
    const url = await listen({ maxConnections: 12 })
    const attackers = Array.from({ length: 20 }, () => open(url, '127.0.0.2'))
    for (const { socket } of attackers) {
      socket.write(head('/body', 10_000))
      drip(socket)
    }
    await eventually(() => attackers.filter(({ isClosed }) => isClosed()).length === 17)
    expect((await api(url).get('/')).status).toBe(200)
    for (const { socket } of attackers) socket.destroy()
    await eventually(async () => {
      const again = open(url, '127.0.0.2')
      again.socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
      await eventually(() => again.isClosed())
      return again.received().startsWith('HTTP/1.1 200')
    })
  })

  it('of trusted proxies count only towards the total', async () => {
    const url = await listen({ maxConnections: 12, trustedProxies: ['loopback'] })
    const all = Array.from({ length: 14 }, () => open(url))
    for (const { socket } of all) socket.write(head('/slow', 10))
    await eventually(() => all.filter(({ isClosed }) => isClosed()).length === 2)
  })

  it('that are idle are closed when the total is reached, so that new clients get in', async () => {
    const url = await listen({ maxConnections: 4, trustedProxies: ['loopback'] })
    const idle = Array.from({ length: 4 }, () => open(url))
    for (const { socket } of idle) socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await eventually(() => idle.every(({ received }) => received().includes('200 OK')))
    await eventually(
      async () =>
        (
          await api(url)
            .get('/')
            .catch(() => undefined)
        )?.status === 200,
    )
    expect(idle.some(({ isClosed }) => isClosed())).toBe(true)
  })
})
