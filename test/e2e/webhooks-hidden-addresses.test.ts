import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { closing } from '../kit/closing.ts'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http.ts'
import { startServiceProcess } from '../kit/process.ts'
import { type NameAnswer, startNameServer } from '../servers/name-server.ts'
import { startReceiver } from '../servers/receiver.ts'

/** The one address that the setting opens; its neighbour must never be reached. Both have something at the same port. */
const OPEN = '127.0.0.2'
const SHUT = '127.0.0.1'

async function start() {
  const silent = await silentListener()
  const receiver = closing(await startReceiver({ host: OPEN, port: silent.port }))
  const names = new Map<string, NameAnswer | (() => NameAnswer)>()
  const nameServer = closing(
    await startNameServer((name) => {
      const answer = names.get(name) ?? 'refused'
      return typeof answer === 'function' ? answer() : answer
    }, 0),
  )
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-hidden-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const service = await startServiceProcess({
    dataDir,
    env: {
      PRIVATE_TARGETS: OPEN,
      NAME_SERVER: nameServer.server,
      NODE_OPTIONS: `--import ${new URL('../servers/own-name-server.mjs', import.meta.url)}`,
    },
  })
  onTestFinished(() => service.stop().then(() => undefined))
  const client = api(service.url, service.key)
  const create = async (url: string) => {
    const { status, json, text } = await client.post('/webhooks/endpoints', { url, eventTypes: ['*'], retryCount: 0 })
    expect(status, `${url} → ${text}`).toBe(201)
    return json.id as string
  }
  const test = async (id: string) => (await client.post(`/webhooks/endpoints/${id}/test`)).json
  return { client, create, test, names, nameServer, receiver, silent, port: silent.port }
}

/** Takes connections where nobody may connect, of both families, and counts them. */
async function silentListener() {
  let contacts = 0
  const listen = async (host: string, port: number) => {
    const server = createServer((socket) => {
      contacts += 1
      socket.destroy()
    })
    server.listen(port, host)
    await once(server, 'listening')
    onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())))
    return (server.address() as AddressInfo).port
  }
  const port = await listen(SHUT, 0)
  await listen('::1', port)
  return { port, contacts: () => contacts }
}

const SPELLINGS = [
  ...['127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0x7F.0.0.0x1'],
  ...['017700000001', '0177.0.0.1', '0177.0.0.01', '１２７.0.0.1', '127。0。0。1', '%31%32%37.0.0.1'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'app.localhost', '0.0.0.0', '0', '[::]', '[::1]', '[0:0:0:0:0:0:0:1]'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]'],
  ...['[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::1]', '[2001:db8::5efe:127.0.0.1]'],
  ...['10.0.0.1', '169.254.169.254', '[::ffff:169.254.169.254]', '[fe80::1]', '[fd00:ec2::254]', '255.255.255.255'],
]

/** What a name may stand for, each of it or among it an address that is not opened. */
const ANSWERS: Record<string, readonly string[]> = {
  'loopback.example': [SHUT],
  'loopback6.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'translated.example': ['64:ff9b::7f00:1'],
  'sixtofour.example': ['2002:7f00:1::1'],
  'unspecified.example': ['0.0.0.0'],
  'metadata.example': ['169.254.169.254'],
  'mixed.example': [OPEN, SHUT],
  'mixed6.example': [OPEN, '::1'],
}

it('an address that may not be reached is refused when the endpoint is made, with the setting named', async () => {
  const { client, create, names, silent, port } = await start()
  for (const [name, addresses] of Object.entries(ANSWERS)) names.set(name, addresses)
  const id = await create(`http://${OPEN}:${port}/hook`)
  for (const host of [...SPELLINGS, ...Object.keys(ANSWERS), 'Mixed.Example.']) {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${port}/hook`
      for (const answer of [
        await client.post('/webhooks/endpoints', { url }),
        await client.put(`/webhooks/endpoints/${id}`, { url }),
      ]) {
        expect(answer.status, `${url} → ${answer.text}`).toBe(400)
        const { code, details } = answer.json.error
        expect([code, details[0].path, url]).toEqual(['validation_failed', 'body.url', url])
        expect(details[0].message, url).toContain('PRIVATE_TARGETS')
      }
    }
  }
  for (const user of ['user@', 'user:pass@', `${OPEN}@`, `${OPEN}:${port}@`, '%00@', '@']) {
    const url = `http://${user}${SHUT}:${port}/hook`
    const { status, json } = await client.post('/webhooks/endpoints', { url })
    expect([status, json.error.details[0].path, url]).toEqual([400, 'body.url', url])
  }
  const [endpoint] = (await client.get('/webhooks/endpoints')).json.endpoints
  expect(endpoint.url).toBe(`http://${OPEN}:${port}/hook`)
  expect(silent.contacts()).toBe(0)
})

it('an address that shows only at sending is not reached either, and the delivery says why', async () => {
  const { client, create, test, names, receiver, silent, port } = await start()
  // None of them resolves yet.
  const ids: Record<string, string> = {}
  for (const name of Object.keys(ANSWERS)) ids[name] = await create(`https://${name}:${port}/hook`)
  for (const [name, addresses] of Object.entries(ANSWERS)) names.set(name, addresses)
  const why = { kind: 'refused_address', message: expect.stringContaining('PRIVATE_TARGETS') }
  for (const [name, id] of Object.entries(ids)) {
    expect(await test(id), name).toMatchObject({ status: 'failed', responseStatus: null, error: why })
  }
  // An event of the service itself: an endpoint that answers 410 is disabled, and all others hear of it.
  receiver.script({ status: 410 })
  await test(await create(receiver.url))
  await eventually(async () => {
    const { json } = await client.get('/webhooks/deliveries?eventType=webhook.endpoint_disabled&status=failed')
    expect(json.deliveries).toHaveLength(Object.keys(ids).length)
    for (const delivery of json.deliveries) {
      expect(delivery).toMatchObject({ error: why, attempts: [{ attempt: 1, error: why }] })
    }
  })
  expect(silent.contacts()).toBe(0)
  expect(receiver.requests).toHaveLength(1)
})

it('a redirect to such an address is an answer, not a way there', async () => {
  const { create, test, receiver, silent, port } = await start()
  const id = await create(receiver.url)
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.script({
      status,
      headers: { location: `http://${SHUT}:${port}/inside`, refresh: `0; url=http://${SHUT}` },
    })
    expect(await test(id)).toMatchObject({ status: 'failed', responseStatus: status, error: { kind: 'redirect' } })
  }
  expect(silent.contacts()).toBe(0)
})

it('a name that moves to such an address between two lookups is reached where it was checked, or not at all', async () => {
  const { create, test, names, nameServer, receiver, silent, port } = await start()
  let turns = 0
  // Every other question of each family is answered with the other address; nothing may be remembered.
  names.set('rebound.example', () => {
    turns += 1
    return Math.floor((turns - 1) / 2) % 2 === 0 ? [OPEN] : [SHUT]
  })
  const id = await create(`http://rebound.example:${port}/hook`)
  let [arrived, refused] = [0, 0]
  await eventually(async () => {
    const { status, error } = await test(id)
    if (status === 'success') arrived += 1
    else {
      expect(error).toEqual({ kind: 'refused_address', message: expect.stringContaining('PRIVATE_TARGETS') })
      refused += 1
    }
    return arrived > 0 && refused > 0
  })
  expect(nameServer.asked.length).toBeGreaterThan(2)
  expect(receiver.requests).toHaveLength(arrived)
  expect(silent.contacts()).toBe(0)
})
