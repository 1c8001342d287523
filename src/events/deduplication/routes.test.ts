import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { type Databases, databases, describeEachDatabase } from '../../../test/kit/database/database.ts'
import { explain } from '../../../test/kit/database/explain.ts'
import { describeRedis } from '../../../test/kit/database/redis.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { TEST_KEYS } from '../../../test/kit/service/composition.ts'
import { idempotency } from '../../operations/idempotency/index.ts'
import { sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { silentLog } from '../../platform/log/index.ts'
import { type Clock, fixedClock } from '../../platform/time/clock.ts'
import { purgeDeduplicationClaims } from './database-claims.ts'
import { deduplicationRoutes, duplicateFinder, type SharedClaims, sharedClaims } from './index.ts'

const DEFAULTS = { enabled: true, keyFields: ['accountId', 'eventType', 'objectId', 'version'], ttlSeconds: 300 }
const CONFIG = '/cursor-sync/deduplication/config'
const TEST = '/cursor-sync/deduplication/test'
const SUBJECT = { accountId: 'acc_1', eventType: 'message.received', provider: 'imap', objectId: 'msg_1' }

describeEachDatabase('the deduplication API', (open) => {
  suite(open, async () => undefined)

  it('deletes expired claims in steps, by an index', async () => {
    const { call, clock, db } = await serve(await open(), undefined)
    for (const objectId of ['a', 'b', 'c']) await call('POST', TEST, { ...SUBJECT, objectId })
    const purge = (beforeMs: number) => db.transaction((tx) => purgeDeduplicationClaims(tx, beforeMs, 2))
    const left = async () => (await db.read.selectFrom('deduplicationClaims').select('key').execute()).length
    expect([await purge(clock.now()), await left()]).toEqual([0, 3])
    expect([await purge(clock.now() + 300_001), await left()]).toEqual([2, 1])
    expect([await purge(clock.now() + 300_001), await left()]).toEqual([1, 0])
    const plans = await explain(db, async (tx) => {
      await purgeDeduplicationClaims(tx, 1, 2)
      await duplicateFinder({ db, claims: undefined }).find(tx, [EVENT])
    })
    expect(plans).not.toMatch(/SCAN deduplicationClaims$|Seq Scan on "?deduplicationClaims|TEMP B-TREE/m)
  })
})

describeEachDatabase('stored deduplication keys', (open) => {
  it('begin with the time in the id of the object, if that is a key field', async () => {
    const { call, db } = await serve(await open(), undefined)
    const objects = ['msg_01k9zw5e7t1v3x5z7b9d1f3h5k', 'https://provider.example/1', null]
    const events = objects.map((objectId, index) => ({ ...EVENT, id: `evt_${index}`, objectId }))
    const keys = async () => {
      await db.transaction(async (tx) => {
        await tx.deleteFrom('deduplicationClaims').execute()
        await duplicateFinder({ db, claims: undefined }).find(tx, events)
      })
      const claims = await db.read.selectFrom('deduplicationClaims').select('key').orderBy('eventId').execute()
      return claims.map(({ key }) => key.slice(0, -43))
    }
    expect(await keys()).toEqual(['01k9zw5e7t', '', ''])
    await call('POST', CONFIG, { keyFields: ['accountId', 'data.id'] })
    expect(await keys()).toEqual([''])
  })
})

describeRedis('the deduplication API with keys in Redis', (redis) => {
  const open = databases('sqlite')
  suite(open, async (clock) => {
    await redis.empty()
    return sharedClaims({ redis: await redis.link(), clock, log: silentLog, timeoutMs: 20_000 })
  })

  it('a test uses the database while Redis is away', async () => {
    await redis.empty()
    const clock = fixedClock(Date.now())
    const claims = sharedClaims({ redis: await redis.link(), clock, log: silentLog, timeoutMs: 20_000 })
    const { call } = await serve(await open(), claims, clock)
    await redis.server.stop()
    const responses = [await call('POST', TEST, SUBJECT), await call('POST', TEST, SUBJECT)]
    expect(responses.map(({ body }) => body.isDuplicate)).toEqual([false, true])
  })
})

async function serve(db: Db, claims: SharedClaims | undefined, clock = fixedClock(Date.now())) {
  const idem = idempotency({ db, clock, sealer: sealer(TEST_KEYS) })
  const app = testServer({ idempotency: idem })
  closing({ close: () => app.close() })
  deduplicationRoutes(app, { db, clock, ids: idGenerator(clock), idempotency: idem, claims })
  const call = async (method: 'GET' | 'POST', url: string, payload?: object, key = 'good') => {
    const headers = { authorization: `Bearer ${key}` }
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
    return { status: response.statusCode, body: response.json() }
  }
  return { call, clock, db }
}

function suite(open: Databases, openClaims: (clock: Clock) => Promise<SharedClaims | undefined>): void {
  async function served(db?: Db) {
    const clock = fixedClock(Date.now())
    return serve(db ?? (await open()), await openClaims(clock), clock)
  }

  /** The file store has only one process: there both share one handle, because a second one would wait in SQLite for the first. */
  async function replicas() {
    const place = await open.place()
    const service = await open(place)
    const other = service.engine === 'sqlite' ? service : await open(place)
    return [await served(service), await served(other)] as const
  }

  it('settings have defaults, change one by one, and apply to every replica', async () => {
    const [one, two] = await replicas()
    expect(await one.call('GET', CONFIG)).toEqual({ status: 200, body: DEFAULTS })
    expect(await one.call('POST', CONFIG)).toEqual({ status: 200, body: DEFAULTS })
    expect((await one.call('POST', CONFIG, { ttlSeconds: 90.4 })).body).toEqual({ ...DEFAULTS, ttlSeconds: 90 })
    expect(await one.call('POST', CONFIG, { ttlSeconds: 60 })).toEqual({
      status: 200,
      body: { ...DEFAULTS, ttlSeconds: 60 },
    })
    const keyFields = ['eventType', 'data.from.email', 'eventType']
    const changed = { enabled: false, keyFields: ['eventType', 'data.from.email'], ttlSeconds: 60 }
    expect(await two.call('POST', CONFIG, { enabled: false, keyFields })).toEqual({ status: 200, body: changed })
    expect((await one.call('GET', CONFIG)).body).toEqual(changed)
  })

  it.each([
    ['enabled', { enabled: 'yes' }],
    ['keyFields', { keyFields: [] }],
    ['keyFields', { keyFields: 'eventType' }],
    ['keyFields.1', { keyFields: ['eventType', 'data'] }],
    ['keyFields.0', { keyFields: ['data.'] }],
    ['ttlSeconds', { ttlSeconds: 59 }],
    ['ttlSeconds', { ttlSeconds: 3601 }],
    ['ttlSeconds', { ttlSeconds: 3600.4 }],
  ])('refuse a bad %s: %j', async (path, wrong) => {
    const { call } = await served()
    const { status, body } = await call('POST', CONFIG, wrong)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_failed', `body.${path}`])
    expect((await call('GET', CONFIG)).body).toEqual(DEFAULTS)
  })

  it('a test returns false first, then true, then false after expiry, and always false while disabled', async () => {
    const { call, clock } = await served()
    const first = await call('POST', TEST, SUBJECT)
    expect(first).toEqual({
      status: 200,
      body: { success: true, isDuplicate: false, key: expect.any(String), ttlSeconds: 300, config: DEFAULTS },
    })
    const isDuplicate = async (change = {}) => (await call('POST', TEST, { ...SUBJECT, ...change })).body.isDuplicate
    expect(await isDuplicate()).toBe(true)
    expect(await isDuplicate({ provider: 'gmail', data: { any: 1 } })).toBe(true)
    expect(await isDuplicate({ objectId: 'msg_2' })).toBe(false)
    expect(await isDuplicate({ version: 2 })).toBe(false)
    clock.advance(299_999)
    expect(await isDuplicate()).toBe(true)
    clock.advance(1)
    expect(await isDuplicate()).toBe(false)
    expect(await isDuplicate()).toBe(true)

    await call('POST', CONFIG, { enabled: false })
    expect([await isDuplicate(), await isDuplicate()]).toEqual([false, false])
    await call('POST', CONFIG, { enabled: true, keyFields: ['data.from.email'] })
    expect(await isDuplicate({ data: { from: { email: 'a' } } })).toBe(false)
    expect(await isDuplicate({ data: { from: { email: 'a' } }, accountId: 'acc_2' })).toBe(true)
    await call('POST', CONFIG, { keyFields: ['subject'] })
    expect(await isDuplicate({ data: { subject: 'a' } })).toBe(false)
    expect(await isDuplicate({ data: { subject: 'b' } })).toBe(false)
    expect(await isDuplicate({ data: { subject: 'a' }, accountId: 'acc_2' })).toBe(true)
  })

  it('exactly one of many concurrent tests is the first, across replicas', async () => {
    const both = await replicas()
    for (const { call } of both) await call('POST', TEST, { ...SUBJECT, objectId: 'first use of the connection' })
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => both[index % 2]?.call('POST', TEST, SUBJECT)),
    )
    expect(responses.filter((response) => response?.body.isDuplicate === false)).toHaveLength(1)
  })

  it.each(['accountId', 'eventType', 'provider'])('a test needs %s', async (name) => {
    const { call } = await served()
    for (const url of [undefined, '']) {
      const { status, body } = await call('POST', TEST, { ...SUBJECT, [name]: url })
      expect([status, body.error.details[0].path]).toEqual([400, `body.${name}`])
    }
  })

  it('requires a key, and write access for changes', async () => {
    const { call } = await served()
    for (const [method, url] of [
      ['GET', CONFIG],
      ['POST', CONFIG],
      ['POST', TEST],
    ] as const) {
      expect((await call(method, url, undefined, 'wrong')).status).toBe(401)
      expect((await call(method, url, undefined, 'reader')).status).toBe(method === 'GET' ? 200 : 403)
    }
  })
}

const EVENT = {
  id: 'evt_1',
  type: 'message.received',
  accountId: 'acc_1',
  provider: 'imap' as const,
  sequence: 1,
  objectId: 'msg_1',
  version: 1,
  data: '{}',
  position: 1,
  fanOut: 1,
  createdAt: 1,
}
