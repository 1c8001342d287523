import { once } from 'node:events'
import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { type Databases, databases, describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { describeRedis, type RedisOfSuite } from '../../../../test/kit/database/redis.ts'
import { sampleEvent } from '../../../../test/kit/events/events.ts'
import {
  type WebhookFixture,
  type WebhookFixtureOptions,
  webhookFixture,
} from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { startWorker } from '../../../../test/kit/workers/start.ts'
import { startReceiver } from '../../../../test/servers/receiver.ts'
import type { Db } from '../../../platform/db/index.ts'
import { silentLog } from '../../../platform/log/index.ts'
import { fixedClock, systemClock } from '../../../platform/time/clock.ts'
import { type SharedClaims, sharedClaims } from '../../deduplication/index.ts'
import { retryDelivery } from './retry.ts'

/** Events with these members are duplicates: the same object in the same version. */
const SAME = { objectId: 'msg_same', version: 1 }

const expectStatuses = (fixture: WebhookFixture, statuses: string[]) =>
  eventually(async () => {
    const found = await fixture.deliveries()
    expect(found.map(({ status }) => status)).toEqual(statuses)
    return found
  })

const configure = (db: Db, changes: { enabled?: number; keyFields?: string; ttlSeconds?: number }) =>
  db.transaction((tx) => tx.updateTable('deduplicationConfig').set(changes).execute())

describeEachDatabase('a duplicate event', (open) => suite(open))

describeRedis('a duplicate event, with the keys in Redis', (redis) => {
  describeEachDatabase('on', (open) => suite(open, redis))

  const open = databases('sqlite')
  async function started(claims: SharedClaims) {
    const receiver = closing(await startReceiver())
    const fixture = closing(webhookFixture(await open(), { claims }))
    await fixture.create({ url: receiver.url })
    await fixture.engine.start()
    return { receiver, fixture }
  }

  it('is sent when the first event is unknown, as after a database restore', async () => {
    const claims = await claimsIn(redis)
    const before = await started(claims)
    await before.fixture.record(SAME)
    await expectStatuses(before.fixture, ['success'])
    const after = await started(claims)
    await after.fixture.record(SAME)
    await expectStatuses(after.fixture, ['success'])
  })

  it('is sent at most once more per loss of Redis, and no event is lost or sent twice', async () => {
    // A fast clock, so that Redis is used again soon after it is back.
    const hasty = { ...systemClock, monotonic: () => systemClock.monotonic() * 1000 }
    const { fixture, receiver } = await started(await claimsIn(redis, hasty))
    let version = 0
    const recordEvents = async () => {
      version += 1
      const changed = { objectId: 'msg_changed', version }
      await fixture.record(SAME, changed, changed)
    }
    const sent = () => receiver.requests.map(({ headers }) => String(headers['webhook-id']))
    const reached = (count: number) => eventually(() => expect(new Set(sent()).size).toBeGreaterThanOrEqual(count))
    for (const step of ['start', 'stop', 'start', 'stop', 'start'] as const) {
      if (step === 'stop') await redis.server.stop()
      else await redis.server.start()
      for (let times = 0; times < 20; times += 1) await recordEvents()
      await reached(version)
    }
    await eventually(async () => {
      const rows = await fixture.db.read.selectFrom('webhookDeliveries').select('status').execute()
      expect(rows).toHaveLength(version * 3)
      expect(rows.filter(({ status }) => status !== 'success' && status !== 'deduplicated')).toEqual([])
    })
    const requests = sent()
    expect(new Set(requests).size).toBe(requests.length)
    const events = await fixture.db.read.selectFrom('events').select(['id', 'objectId', 'version']).execute()
    const countSent = (objectId: string, of: number) =>
      events.filter((event) => event.objectId === objectId && event.version === of && requests.includes(event.id))
        .length
    // Claimed again in the database after each loss, and in the empty Redis after each restart.
    expect(countSent(SAME.objectId, SAME.version)).toBeLessThanOrEqual(4)
    for (let of = 1; of <= version; of += 1) expect([1, 2]).toContain(countSent('msg_changed', of))
    expect(requests.length).toBeLessThanOrEqual(version + 8)
  })
})

async function claimsIn(redis: RedisOfSuite, clock = systemClock): Promise<SharedClaims> {
  await redis.empty()
  return sharedClaims({ redis: await redis.link(), clock, log: silentLog })
}

function suite(open: Databases, redis?: RedisOfSuite): void {
  async function openFixture(db: Db, options: WebhookFixtureOptions = {}) {
    return closing(webhookFixture(db, { ...options, ...(redis && { claims: await claimsIn(redis) }) }))
  }

  it('is not sent, and leaves a deduplicated row for every subscribed endpoint', async () => {
    const receiver = closing(await startReceiver())
    const fixture = await openFixture(await open())
    for (const id of ['one', 'two']) await fixture.create({ id, url: receiver.url })
    await fixture.engine.start()
    await fixture.record(SAME)
    await expectStatuses(fixture, ['success', 'success'])
    await fixture.record(SAME, { version: 2 })
    const found = await expectStatuses(fixture, [
      'success',
      'success',
      'deduplicated',
      'deduplicated',
      'success',
      'success',
    ])
    expect(found.slice(2, 4)).toMatchObject(
      ['one', 'two'].map((endpointId) => ({ endpointId, attempt: 0, nextAttemptAt: null, attempts: [], error: null })),
    )
    expect(receiver.requests).toHaveLength(4)
  })

  it('is detected within one batch too, by the time of the events', async () => {
    const receiver = closing(await startReceiver())
    const clock = fixedClock(Date.now())
    const fixture = await openFixture(await open(), { clock })
    await configure(fixture.db, { ttlSeconds: 60 })
    await fixture.create({ url: receiver.url })
    await fixture.record(SAME)
    clock.advance(59_999)
    await fixture.record(SAME)
    clock.advance(1)
    await fixture.record(SAME)
    await fixture.engine.start()
    await expectStatuses(fixture, ['success', 'deduplicated', 'success'])
  })

  it('is determined by the configured key fields', async () => {
    const receiver = closing(await startReceiver())
    const fixture = await openFixture(await open())
    await configure(fixture.db, { keyFields: '["eventType","data.subject"]' })
    await fixture.create({ url: receiver.url })
    const about = (subject: string) => ({ data: { subject } })
    await fixture.record({ objectId: 'a', ...about('x') }, { objectId: 'b', ...about('x') }, about('y'))
    await fixture.engine.start()
    await expectStatuses(fixture, ['success', 'deduplicated', 'success'])
    await configure(fixture.db, { enabled: 0 })
    await fixture.record(about('x'))
    await expectStatuses(fixture, ['success', 'deduplicated', 'success', 'success'])
  })

  it('is not one if the first had no subscriber, or without a version', async () => {
    const receiver = closing(await startReceiver())
    const fixture = await openFixture(await open())
    await fixture.engine.start()
    await fixture.record(SAME)
    await eventually(async () => {
      expect(await fixture.db.read.selectFrom('events').select('id').where('position', 'is', null).execute()).toEqual(
        [],
      )
    })
    await fixture.create({ url: receiver.url })
    await fixture.record(SAME)
    await expectStatuses(fixture, ['success'])
    await fixture.record({ objectId: 'x', version: null }, { objectId: 'x', version: null })
    await expectStatuses(fixture, ['success', 'success', 'success'])
  })

  it('can be retried; retries and tests are never deduplicated', async () => {
    const receiver = closing(await startReceiver())
    const { type: _type, ...message } = sampleEvent('message.received')
    const fixture = await openFixture(await open(), { readMessage: async () => message })
    const { id: endpointId } = await fixture.create({ url: receiver.url })
    await fixture.engine.start()
    await fixture.record(SAME, SAME)
    const [, suppressed] = await expectStatuses(fixture, ['success', 'deduplicated'])
    await fixture.db.transaction((tx) =>
      retryDelivery(
        tx,
        { dialect: fixture.db.dialect, queue: fixture.queue },
        suppressed?.id ?? '',
        fixture.clock.now(),
      ),
    )
    await expectStatuses(fixture, ['success', 'success'])
    await fixture.testDeliveries.testMessage('acc_test', 'msg_test')
    for (let times = 0; times < 2; times += 1) await fixture.testDeliveries.test(endpointId)
    expect(receiver.requests).toHaveLength(5)
  })

  it('is not the event that holds the claim itself', async () => {
    const receiver = closing(await startReceiver())
    const fixture = await openFixture(await open())
    await fixture.create({ url: receiver.url })
    const [eventId = ''] = await fixture.record(SAME)
    await fixture.engine.start()
    await expectStatuses(fixture, ['success'])
    // The state after a crash between the claim and the deliveries.
    await fixture.db.transaction(async (tx) => {
      await tx.deleteFrom('webhookDeliveries').execute()
      await tx.updateTable('events').set({ position: null }).where('id', '=', eventId).execute()
    })
    await fixture.record(SAME)
    await expectStatuses(fixture, ['success', 'deduplicated'])
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId])
  })

  it('is suppressed, and the first sent, after a kill between the claim and the deliveries', async () => {
    const place = await open.place()
    const db = await open(place)
    const receiver = closing(await startReceiver())
    const fixture = await openFixture(db)
    await fixture.create({ url: receiver.url })
    const [first, repeat] = await fixture.record(SAME, SAME)

    const args = [JSON.stringify(place), ...(redis ? [redis.server.url] : [])]
    const child = startWorker('claiming-worker', args)
    closing({ close: async () => void child.kill('SIGKILL') })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await fixture.deliveries()).toEqual([])

    await fixture.queue.releaseInstance('worker')
    await fixture.engine.start()
    const found = await expectStatuses(fixture, ['success', 'deduplicated'])
    expect(found.map(({ eventId }) => eventId)).toEqual([first, repeat])
    expect(receiver.requests).toHaveLength(1)
  })
}
