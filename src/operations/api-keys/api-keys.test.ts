import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { explain } from '../../../test/kit/database/explain.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { TEST_KEYS } from '../../../test/kit/service/composition.ts'
import { type Bus, memoryBus } from '../../platform/bus/index.ts'
import { sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import { combineAuthenticators, type Scope } from '../../platform/http/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { silentLog } from '../../platform/log/index.ts'
import { fixedClock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import { idempotency } from '../idempotency/index.ts'
import { apiKeyRoutes, keys as createKeys, serviceKey } from './index.ts'
import { apiKeyStore } from './store.ts'

const SERVICE_KEY = 'service-key'
const START_MS = Date.parse('2026-06-01T00:00:00Z')
const SCOPES: readonly Scope[] = ['read', 'write', 'admin']

type Clock = ReturnType<typeof fixedClock>

/** One of several instances on a database. */
function instance(db: Db, clock: Clock, bus: Bus = memoryBus({ log: silentLog })) {
  const keys = createKeys({ db, bus, clock, ids: idGenerator(clock), log: silentLog })
  const idempotent = idempotency({ db, clock, sealer: sealer(TEST_KEYS) })
  const app = testServer({
    authenticator: combineAuthenticators(serviceKey(SERVICE_KEY), keys.authenticator),
    idempotency: idempotent,
  })
  apiKeyRoutes(app, { keys: keys.service, idempotency: idempotent, transaction: (body) => db.transaction(body) })
  for (const scope of SCOPES) app.get(`/${scope}`, { config: { access: `key:${scope}` } }, async () => ({ scope }))
  keys.start()
  closing({ close: () => app.close().then(keys.stop) })

  const call = async (method: 'GET' | 'POST' | 'DELETE', url: string, key: string, payload?: object, more = {}) => {
    const headers = { authorization: `Bearer ${key}`, ...more }
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
    return { status: response.statusCode, headers: response.headers, text: response.body, json: response.json() }
  }
  return {
    keys,
    call,
    create: async (scopes: Scope[], more: { name?: string; expiresAt?: string | null } = {}) =>
      (await call('POST', '/api-keys', SERVICE_KEY, { name: 'Billing', scopes, ...more })).json,
    status: async (key: string, path = '/read') => (await call('GET', path, key)).status,
  }
}

/** The database, whose reads return their results after `release`. */
function heldReads(db: Db) {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let arrived = () => {}
  const held = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const read = db.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      arrived()
      await released
      return result
    },
  })
  return { db: Object.create(db, { read: { value: read } }) as Db, held, release }
}

describeEachDatabase('API keys', (open) => {
  async function served() {
    const db = await open()
    const clock = fixedClock(START_MS)
    return { db, clock, ...instance(db, clock) }
  }

  it('are shown once, stored as hashes, and listed without the key', async () => {
    const { db, call, create } = await served()
    const expiresAt = isoTime(START_MS + 1000)
    const { key, ...created } = await create(['write'], { name: ' Billing ', expiresAt })
    expect(key).toMatch(/^phk_[\w-]{43}$/)
    expect(created).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'Billing',
      scopes: ['read', 'write'],
      hint: key.slice(-4),
      createdBy: 'service',
      createdAt: isoTime(START_MS),
      expiresAt,
      lastUsedAt: null,
    })
    expect((await call('GET', `/api-keys/${created.id}`, SERVICE_KEY)).json).toEqual(created)
    expect((await call('GET', '/api-keys', SERVICE_KEY)).json.apiKeys).toEqual([created])
    const rows = JSON.stringify(await db.read.selectFrom('apiKeys').selectAll().execute())
    expect(rows).not.toContain(key)
    expect(rows).not.toContain(key.slice(4, 40))
  })

  it('are listed newest first, in pages', async () => {
    const { call, create } = await served()
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) ids.push((await create(['read'], { name })).id)
    const first = (await call('GET', '/api-keys?limit=2', SERVICE_KEY)).json
    const second = (await call('GET', `/api-keys?limit=2&cursor=${first.pagination.nextCursor}`, SERVICE_KEY)).json
    expect([...first.apiKeys, ...second.apiKeys].map(({ id }) => id)).toEqual(ids.toReversed())
    expect(first.pagination).toMatchObject({ total: 3, hasNext: true })
    expect(second.pagination).toMatchObject({ page: 2, hasNext: false })
  })

  it('open what their scopes include, and name the missing one', async () => {
    const { call, create, status } = await served()
    for (const [index, scope] of SCOPES.entries()) {
      const { key } = await create([scope])
      const statuses = await Promise.all(SCOPES.map((needed) => status(key, `/${needed}`)))
      expect(statuses).toEqual(SCOPES.map((_needed, needs) => (needs <= index ? 200 : 403)))
    }
    const { key } = await create(['read', 'write'])
    const refused = await call('GET', '/admin', key)
    expect(refused.json.error.message).toBe(
      'This request requires a key with the scope "admin". This one has: read, write.',
    )
    expect(refused.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="admin"')
    expect((await call('POST', '/api-keys', key, { name: 'x', scopes: ['read'] })).status).toBe(403)
    const admin = (await create(['admin'])).key
    const made = await call('POST', '/api-keys', admin, { name: 'x', scopes: ['admin'] })
    expect([made.status, made.json.createdBy]).toEqual([200, expect.stringMatching(/^key:key_/)])
    expect((await call('DELETE', `/api-keys/${made.json.id}`, admin)).status).toBe(200)
  })

  it('of the settings are one or two, and both have every scope', async () => {
    const [server, db] = [serviceKey('new-key,old-key'), await open()]
    const app = testServer({
      authenticator: server,
      idempotency: idempotency({ db, clock: fixedClock(0), sealer: sealer(TEST_KEYS) }),
    })
    app.get('/admin', { config: { access: 'key:admin' } }, async () => ({}))
    const status = async (key: string) =>
      (await app.inject({ url: '/admin', headers: { authorization: `Bearer ${key}` } })).statusCode
    expect([await status('new-key'), await status('old-key')]).toEqual([200, 200])
    for (const key of ['new-key,old-key', 'new', ',', 'new-key,']) expect([key, await status(key)]).toEqual([key, 401])
    await app.close()
  })

  it('end at their expiry, also when cached', async () => {
    const { clock, create, status } = await served()
    const { key } = await create(['read'], { expiresAt: isoTime(START_MS + 5000) })
    expect(await status(key)).toBe(200)
    clock.advance(4999)
    expect(await status(key)).toBe(200)
    clock.advance(1)
    expect(await status(key)).toBe(401)
  })

  it('are refused by every instance once revoked, even by one that reads the key meanwhile', async () => {
    const db = await open()
    const clock = fixedClock(START_MS)
    const bus = memoryBus({ log: silentLog })
    const reads = heldReads(db)
    const [first, second] = [instance(db, clock, bus), instance(reads.db, clock, bus)]
    const { id, key } = await first.create(['read'])
    expect(await first.status(key)).toBe(200)
    const early = second.status(key)
    await reads.held
    const revoked = await first.call('DELETE', `/api-keys/${id}`, SERVICE_KEY)
    expect(revoked.json).toEqual({ success: true, message: 'The API key "Billing" was revoked.' })
    reads.release()
    expect(await early).toBe(200)
    expect([await first.status(key), await second.status(key)]).toEqual([401, 401])
    expect((await first.call('DELETE', `/api-keys/${id}`, SERVICE_KEY)).status).toBe(404)
  })

  it('are refused ten seconds later when the hint of the revocation was lost', async () => {
    const db = await open()
    const clock = fixedClock(START_MS)
    const [first, second] = [instance(db, clock), instance(db, clock)]
    const { id, key } = await first.create(['read'])
    expect(await second.status(key)).toBe(200)
    await first.call('DELETE', `/api-keys/${id}`, SERVICE_KEY)
    expect([await first.status(key), await second.status(key)]).toEqual([401, 200])
    clock.advance(10_000)
    expect(await second.status(key)).toBe(401)
  })

  it('have the time of their last use, written at most once a minute', async () => {
    const { keys, clock, call, create, status } = await served()
    const { id, key } = await create(['read'])
    const lastUsed = async () => {
      await keys.stop()
      return (await call('GET', `/api-keys/${id}`, SERVICE_KEY)).json.lastUsedAt
    }
    await status(key)
    expect(await lastUsed()).toBe(isoTime(START_MS))
    clock.advance(59_999)
    await status(key)
    expect(await lastUsed()).toBe(isoTime(START_MS))
    clock.advance(1)
    await status(key)
    expect(await lastUsed()).toBe(isoTime(START_MS + 60_000))
  })

  it('have idempotency keys of their own', async () => {
    const { call, create } = await served()
    const [one, two] = [await create(['admin']), await create(['admin'])]
    const post = (key: string) =>
      call('POST', '/api-keys', key, { name: 'x', scopes: ['read'] }, { 'idempotency-key': 'same' })
    const [first, other, repeat] = [await post(one.key), await post(two.key), await post(one.key)]
    expect(other.json.id).not.toBe(first.json.id)
    expect([repeat.json, repeat.headers['idempotent-replayed']]).toEqual([first.json, 'true'])
  })

  it('need a name, scopes and an expiry in the future', async () => {
    const { call } = await served()
    for (const [body, path] of [
      [{ scopes: ['read'] }, 'body.name'],
      [{ name: '  ', scopes: ['read'] }, 'body.name'],
      [{ name: 'x', scopes: [] }, 'body.scopes'],
      [{ name: 'x', scopes: ['root'] }, 'body.scopes.0'],
      [{ name: 'x', scopes: ['read'], expiresAt: isoTime(START_MS) }, 'body.expiresAt'],
      [{ name: 'x', scopes: ['read'], expiresAt: 'tomorrow' }, 'body.expiresAt'],
    ] as const) {
      const { status, json } = await call('POST', '/api-keys', SERVICE_KEY, body)
      expect([status, json.error?.details[0].path]).toEqual([400, path])
    }
  })

  it('are found by an index', async () => {
    const db = await open()
    const plans = await explain(db, async (tx) => {
      const store = apiKeyStore(tx)
      await store.findByHash('x')
      await store.list({ page: 1, limit: 50, offset: 0, after: ['key_1'] })
      await store.markUsed('key_1', 1, 1)
    })
    expect(plans).not.toMatch(/SCAN apiKeys$|Seq Scan on "?apiKeys|TEMP B-TREE/m)
  })
})
