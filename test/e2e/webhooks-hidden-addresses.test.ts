import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { closing } from '../kit/closing.ts'
import { eventually } from '../kit/eventually.ts'
import { DENIED_HOSTS } from '../kit/http/denied-hosts.ts'
import { api } from '../kit/http/http.ts'
import { startServiceProcess } from '../kit/service/process.ts'
import { type NameAnswer, startNameServer } from '../servers/name-server.ts'
import { startReceiver } from '../servers/receiver.ts'

/** PRIVATE_TARGETS allows only ALLOWED. DENIED must never be contacted. Both listen at the same port. */
const ALLOWED = '127.0.0.2'
const DENIED = '127.0.0.1'

async function start() {
  const silent = await silentListener()
  const receiver = closing(await startReceiver({ host: ALLOWED, port: silent.port }))
  const names = new Map<string, NameAnswer | (() => NameAnswer)>()
  const nameServer = closing(
    await startNameServer((name) => {
      const response = names.get(name) ?? 'refused'
      return typeof response === 'function' ? response() : response
    }, 0),
  )
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-hidden-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const service = await startServiceProcess({
    dataDir,
    env: {
      PRIVATE_TARGETS: ALLOWED,
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

/** Counts connections to the denied addresses, IPv4 and IPv6. */
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
  const port = await listen(DENIED, 0)
  await listen('::1', port)
  return { port, contacts: () => contacts }
}

/** Names that resolve to at least one denied address. */
const RESOLVED: Record<string, readonly string[]> = {
  'loopback.example': [DENIED],
  'loopback6.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'translated.example': ['64:ff9b::7f00:1'],
  'sixtofour.example': ['2002:7f00:1::1'],
  'unspecified.example': ['0.0.0.0'],
  'metadata.example': ['169.254.169.254'],
  'mixed.example': [ALLOWED, DENIED],
  'mixed6.example': [ALLOWED, '::1'],
}

it('rejects an endpoint at a denied address and names the setting', async () => {
  const { client, create, names, silent, port } = await start()
  for (const [name, addresses] of Object.entries(RESOLVED)) names.set(name, addresses)
  const id = await create(`http://${ALLOWED}:${port}/hook`)
  for (const host of [...DENIED_HOSTS, ...Object.keys(RESOLVED), 'Mixed.Example.']) {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${port}/hook`
      for (const response of [
        await client.post('/webhooks/endpoints', { url }),
        await client.put(`/webhooks/endpoints/${id}`, { url }),
      ]) {
        expect(response.status, `${url} → ${response.text}`).toBe(400)
        const { code, details } = response.json.error
        expect([code, details[0].path, url]).toEqual(['validation_failed', 'body.url', url])
        expect(details[0].message, url).toContain('PRIVATE_TARGETS')
      }
    }
  }
  for (const user of ['user@', 'user:pass@', `${ALLOWED}@`, `${ALLOWED}:${port}@`, '%00@', '@']) {
    const url = `http://${user}${DENIED}:${port}/hook`
    const { status, json } = await client.post('/webhooks/endpoints', { url })
    expect([status, json.error.details[0].path, url]).toEqual([400, 'body.url', url])
  }
  const [endpoint] = (await client.get('/webhooks/endpoints')).json.endpoints
  expect(endpoint.url).toBe(`http://${ALLOWED}:${port}/hook`)
  expect(silent.contacts()).toBe(0)
})

it('fails a delivery whose name resolves to a denied address only at sending, and says why', async () => {
  const { client, create, test, names, receiver, silent, port } = await start()
  // The names do not resolve yet.
  const ids: Record<string, string> = {}
  for (const name of Object.keys(RESOLVED)) ids[name] = await create(`https://${name}:${port}/hook`)
  for (const [name, addresses] of Object.entries(RESOLVED)) names.set(name, addresses)
  const error = { kind: 'refused_address', message: expect.stringContaining('PRIVATE_TARGETS') }
  for (const [name, id] of Object.entries(ids)) {
    expect(await test(id), name).toMatchObject({ status: 'failed', responseStatus: null, error })
  }
  // An endpoint that returns 410 is disabled, and every other endpoint receives that event.
  receiver.script({ status: 410 })
  await test(await create(receiver.url))
  await eventually(async () => {
    const { json } = await client.get('/webhooks/deliveries?eventType=webhook.endpoint_disabled&status=failed')
    expect(json.deliveries).toHaveLength(Object.keys(ids).length)
    for (const delivery of json.deliveries) {
      expect(delivery).toMatchObject({ error, attempts: [{ attempt: 1, error }] })
    }
  })
  expect(silent.contacts()).toBe(0)
  expect(receiver.requests).toHaveLength(1)
})

it('does not follow a redirect to a denied address', async () => {
  const { create, test, receiver, silent, port } = await start()
  const id = await create(receiver.url)
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.script({
      status,
      headers: { location: `http://${DENIED}:${port}/inside`, refresh: `0; url=http://${DENIED}` },
    })
    expect(await test(id)).toMatchObject({ status: 'failed', responseStatus: status, error: { kind: 'redirect' } })
  }
  expect(silent.contacts()).toBe(0)
})

it('contacts only the address that it checked when a name changes between two lookups', async () => {
  const { create, test, names, nameServer, receiver, silent, port } = await start()
  let questions = 0
  // The name server alternates between the two addresses. The service must not cache a checked name.
  names.set('rebound.example', () => {
    questions += 1
    return Math.floor((questions - 1) / 2) % 2 === 0 ? [ALLOWED] : [DENIED]
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
