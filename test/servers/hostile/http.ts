import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { CHUNK, pour } from './pour.ts'

/** Bodies that a hostile server responds with. */
export const HTTP_ATTACKS = ['endless', 'huge', 'rows', 'deep', 'drip', 'bomb', 'hang'] as const
export type HttpAttack = (typeof HTTP_ATTACKS)[number]

export interface HostileHttp {
  url: string
  /** Attacks from now on, or behaves well, which is how it starts. */
  isHostile: boolean
  close(): Promise<void>
}

const HUGE = 100 * 1024 * 1024
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '))

/** A receiver of webhooks. The path names the attack that it responds with: `/hook/endless`. */
export function startHostileReceiver(): Promise<HostileHttp> {
  return start((request, response, isHostile) => {
    const attack = HTTP_ATTACKS.find((name) => request.url?.endsWith(`/${name}`))
    request.resume()
    if (isHostile && attack !== undefined) respond(attack, response)
    else response.writeHead(204).end()
  })
}

/**
 * Forwards to a provider's API and responds to some requests with an attack of its own. Replaces the target's address in the
 * responses, so that links between pages lead here.
 */
export async function startHostileProvider(target: string, random: () => number, share: number): Promise<HostileHttp> {
  const proxy = await start((request, response, isHostile) => {
    if (isHostile && random() < share) {
      request.resume()
      respond(HTTP_ATTACKS[Math.floor(random() * HTTP_ATTACKS.length)] ?? 'endless', response)
      return
    }
    forward(request, response).catch(() => response.destroy())
  })

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers
    const { 'transfer-encoding': _encoding, ...rest } = headers
    const reply = await fetch(target + request.url, {
      method: request.method ?? 'GET',
      headers: Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)])),
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      redirect: 'manual',
    })
    const type = reply.headers.get('content-type') ?? 'application/json'
    const text = (await reply.text()).replaceAll(target, proxy.url)
    response.writeHead(reply.status, { 'content-type': type }).end(text)
  }
  return proxy
}

type Handler = (request: IncomingMessage, response: ServerResponse, isHostile: boolean) => void

async function start(handle: Handler): Promise<HostileHttp> {
  const server = createServer((request, response) => {
    request.on('error', () => {})
    handle(request, response, it.isHostile)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const it: HostileHttp = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isHostile: false,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return it
}

function respond(attack: HttpAttack, response: ServerResponse): void {
  const json = { 'content-type': 'application/json' }
  if (attack === 'hang') return
  if (attack === 'bomb') {
    response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(BOMB)
    return
  }
  response.writeHead(200, json)
  if (attack === 'endless') pour({ head: '{"value":"', next: () => 'x'.repeat(CHUNK) }, response)
  if (attack === 'huge') pour({ head: '{"value":"', next: () => 'x'.repeat(CHUNK), length: HUGE }, response)
  if (attack === 'rows') pour({ head: '{"value":[', next: () => '{"id":"1"},'.repeat(CHUNK / 16) }, response)
  if (attack === 'deep') pour({ head: '{"value":', next: () => '['.repeat(CHUNK), length: 1024 * 1024 }, response)
  if (attack === 'drip') pour({ head: '{"value":"', next: () => 'x', everyMs: 200 }, response)
}
