import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { testServer } from '../../../../test/kit/http/server.ts'
import { fc } from '../../../../test/kit/random/random.ts'
import { idempotency } from '../../../operations/idempotency/index.ts'
import { endpointRoutes } from '../index.ts'

const open = databases('sqlite')

async function serve(privateTargets = 'loopback') {
  const db = await open()
  const fixture = closing(webhookFixture(db, { privateTargets }))
  const writing = idempotency({ db, clock: fixture.clock, sealer: fixture.sealer })
  const app = testServer({ idempotency: writing })
  closing({ close: () => app.close() })
  endpointRoutes(app, { endpoints: fixture.endpoints, idempotency: writing })
  const send = (method: 'POST' | 'PUT', url: string, payload: string) =>
    app.inject({
      method,
      url,
      headers: { authorization: 'Bearer good', 'content-type': 'application/json' },
      payload,
    })
  return { fixture, send, create: (payload: string) => send('POST', '/webhooks/endpoints', payload) }
}

/** A listener at a forbidden address, which counts connections. */
async function silentListener() {
  let contacts = 0
  const server = createServer((socket) => {
    contacts += 1
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  return { port: (server.address() as AddressInfo).port, contacts: () => contacts }
}

const FIELDS = ['url', 'id', 'secret', 'eventTypes', 'headers', 'isActive', 'retryCount', 'retryDelayMs', 'timeoutMs']
const text = fc.string({ unit: 'binary', maxLength: 60 })
const value = fc.oneof(fc.jsonValue(), text, fc.webUrl(), fc.double(), fc.dictionary(text, text), fc.array(text))
const body = fc.dictionary(fc.constantFrom(...FIELDS, 'retryStrategy', '__proto__', 'constructor'), value)

it('creates an endpoint from any input or rejects it with a 400 and a reason', async () => {
  const { create, send, fixture } = await serve()
  const { id } = await fixture.create({ url: 'https://127.0.0.1/hook' })
  const check = async (payload: string) => {
    for (const response of [await create(payload), await send('PUT', `/webhooks/endpoints/${id}`, payload)]) {
      expect([200, 201, 400, 409], `${payload} → ${response.body}`).toContain(response.statusCode)
      if (response.statusCode === 400) expect(response.json().error.message).toBeTruthy()
    }
  }
  await fc.assert(
    fc.asyncProperty(body, (input) => check(JSON.stringify(input))),
    { numRuns: 300 },
  )
  await fc.assert(fc.asyncProperty(text, check), { numRuns: 100 })
  // Accepted input can be read and written back.
  expect((await fixture.endpoints.list({ limit: 200 })).items.length).toBeGreaterThan(0)
})

it('can send every set of custom headers that it accepts', async () => {
  const { fixture, create } = await serve()
  const received: string[][] = []
  const { createServer: createHttp } = await import('node:http')
  const receiver = createHttp((request, response) => {
    received.push(request.rawHeaders)
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  onTestFinished(() => {
    receiver.closeAllConnections()
    receiver.close()
  })
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const name = fc.oneof(
    fc.constantFrom('Host', 'content-length', 'WEBHOOK-ID', 'webhook-signature', 'Transfer-Encoding', 'authorization'),
    fc.constantFrom('__proto__', '__PROTO__', 'constructor', 'toString'),
    fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/),
    text,
  )
  const headers = fc.dictionary(name, fc.oneof(fc.string({ maxLength: 40 }), text), { maxKeys: 4 })
  await fc.assert(
    fc.asyncProperty(headers, async (headers) => {
      const response = await create(JSON.stringify({ url, headers }))
      expect([201, 400]).toContain(response.statusCode)
      if (response.statusCode === 400) return
      // Every body loses its __proto__ members when it is parsed.
      const names = Object.keys(headers).filter((name) => name !== '__proto__')
      const lowerCased = names.map((name) => name.toLowerCase())
      for (const reserved of ['host', 'content-length', 'webhook-id', 'transfer-encoding']) {
        expect(lowerCased).not.toContain(reserved)
      }
      received.length = 0
      await fixture.testDeliveries.test(response.json().id)
      expect(received).toHaveLength(1)
      const sent = received[0]?.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
      for (const name of [...lowerCased, 'host', 'content-length', 'webhook-id']) {
        expect(sent?.filter((other) => other === name)).toHaveLength(1)
      }
    }),
    { numRuns: 150 },
  )
})

it('refuses a forbidden address in every notation and never connects to it', async () => {
  const { port, contacts } = await silentListener()
  const { create, fixture } = await serve('none')
  await fixture.engine.start()
  const hosts = fc.constantFrom(
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '0177.0.0.1',
    '127.0.0.1.',
    'localhost',
    'LOCALHOST.',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '0.0.0.0',
    '[2002:7f00:1::]',
    '[::]',
    '１２７.0.0.1',
    '127。0。0。1',
    'anything.example',
    '169.254.169.254',
    '10.0.0.1',
  )
  const userinfo = fc.constantFrom('', '', 'user@', 'user:pass@', 'good.example:443@', '%00@')
  const tail = fc.constantFrom('', '/', '/hook', '#', '?x=@good.example', '\\@good.example/', '/../..')
  const scheme = fc.constantFrom('https://', 'http://', 'HTTPS://', 'https:\\\\', 'https:/', ' https://')
  const urls = fc
    .tuple(scheme, userinfo, hosts, tail)
    .map(([start, user, host, end]) => `${start}${user}${host}:${port}${end}`)
  let made = 0
  await fc.assert(
    fc.asyncProperty(urls, async (url) => {
      const response = await create(JSON.stringify({ url }))
      expect(response.statusCode, url).toBe(400)
      // Simulates a host that resolved elsewhere at creation: the guard checks every delivery again.
      made += 1
      const { id } = await fixture.create({ url: 'https://not-there-yet.invalid/', id: `x${made}`, retryCount: 0 })
      await fixture.db.transaction((tx) =>
        tx.updateTable('webhookEndpoints').set({ url }).where('id', '=', id).execute(),
      )
      await fixture.testDeliveries.test(id)
    }),
    { numRuns: 200 },
  )
  await eventually(async () => {
    const kinds = new Set((await fixture.deliveries()).map(({ error }) => error?.kind))
    expect([...kinds].sort()).toEqual(['refused_address'])
  })
  expect(contacts()).toBe(0)
})
