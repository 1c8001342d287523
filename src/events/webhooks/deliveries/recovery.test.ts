import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { explain } from '../../../../test/kit/database/explain.ts'
import { type WebhookFixture, webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { startReceiver } from '../../../../test/servers/receiver.ts'
import { fixedClock } from '../../../platform/time/clock.ts'
import { recoverEndpoint } from './recovery.ts'

const DAY_MS = 86_400_000
const EVER = { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER }

const stamped = (fixture: WebhookFixture) =>
  eventually(async () => {
    expect(await fixture.db.read.selectFrom('events').select('id').where('position', 'is', null).execute()).toEqual([])
  })

const statuses = async (fixture: WebhookFixture) =>
  (await fixture.deliveries()).map(({ eventId, status, trigger }) => [eventId, status, trigger])

describeEachDatabase('recovering what an endpoint missed', (open) => {
  async function started(clock = fixedClock(Date.now())) {
    const receiver = closing(await startReceiver())
    const fixture = closing(webhookFixture(await open(), { clock }))
    const { id } = await fixture.create({ url: receiver.url, retryCount: 0 })
    await fixture.engine.start()
    return { fixture, receiver, id, clock }
  }

  it('delivers the missed events of an endpoint once it is active again, each event once', async () => {
    const { fixture, receiver, id } = await started()
    await fixture.endpoints.update(id, { isActive: false })
    const missed = await fixture.record({}, { type: 'mailbox.changed' }, { type: 'message.sent' }, { fanOut: false })
    await stamped(fixture)
    expect(await fixture.deliveries()).toEqual([])

    expect(await recoverEndpoint(fixture, id, EVER)).toEqual({ recovered: 2, stoppedAt: undefined })
    expect(await recoverEndpoint(fixture, id, EVER)).toEqual({ recovered: 0, stoppedAt: undefined })
    expect(await statuses(fixture)).toEqual(missed.slice(0, 2).map((event) => [event, 'pending', 'recover']))
    await fixture.endpoints.update(id, { isActive: true })
    await eventually(async () =>
      expect(await statuses(fixture)).toEqual(missed.slice(0, 2).map((event) => [event, 'success', 'recover'])),
    )
    expect(receiver.requests.map(({ headers }) => headers['webhook-id']).sort()).toEqual(missed.slice(0, 2).sort())
  })

  it('resends failed deliveries under the same ids, but not successful, waiting or deduplicated ones', async () => {
    const { fixture, receiver, id } = await started()
    receiver.script({ status: 500 })
    const [failed] = await fixture.record({ objectId: 'a', version: 1 })
    await eventually(async () => expect(await statuses(fixture)).toEqual([[failed, 'failed', 'event']]))
    const [repeat] = await fixture.record({ objectId: 'a', version: 1 })
    const [arrived] = await fixture.record({})
    const before = await eventually(async () => {
      expect(await statuses(fixture)).toEqual([
        [failed, 'failed', 'event'],
        [repeat, 'deduplicated', 'event'],
        [arrived, 'success', 'event'],
      ])
      return fixture.deliveries()
    })
    expect((await recoverEndpoint(fixture, id, EVER)).recovered).toBe(1)
    await eventually(async () => expect((await statuses(fixture))[0]).toEqual([failed, 'success', 'recover']))
    expect((await fixture.deliveries()).map((delivery) => delivery.id)).toEqual(before.map((delivery) => delivery.id))
    const [first, , third] = receiver.requests
    expect([third?.body, third?.headers['webhook-id']]).toEqual([first?.body, failed])
  })

  it('recovers only events of the range, and only account.deleted of a deleted account', async () => {
    const { fixture, id, clock } = await started()
    await fixture.endpoints.update(id, { isActive: false, eventTypes: ['*'] })
    const sinceMs = clock.now() + DAY_MS
    await fixture.record({})
    clock.advance(DAY_MS)
    const [kept = ''] = await fixture.record({})
    await fixture.record({ accountId: 'acc_gone' })
    const [last = ''] = await fixture.record({ accountId: 'acc_gone', type: 'account.deleted' })
    clock.advance(DAY_MS)
    await fixture.record({})
    await stamped(fixture)
    await fixture.db.transaction((tx) =>
      tx.insertInto('accountErasures').values({ accountId: 'acc_gone', requestedAt: 1 }).execute(),
    )
    expect((await recoverEndpoint(fixture, id, { sinceMs, untilMs: sinceMs + DAY_MS })).recovered).toBe(2)
    expect((await statuses(fixture)).map(([event]) => event)).toEqual([kept, last])
  })

  it('processes a long range in steps and returns where to continue after its time limit', async () => {
    const { fixture, id, clock } = await started()
    await fixture.endpoints.update(id, { isActive: false })
    for (let index = 0; index < 5; index += 1) {
      await fixture.record(...Array.from({ length: 90 }, () => ({})))
      clock.advance(1000)
    }
    await stamped(fixture)
    let nowMs = 0
    const slow = { ...clock, monotonic: () => (nowMs += 6000) }
    const first = await recoverEndpoint({ ...fixture, clock: slow }, id, EVER)
    expect(first).toEqual({ recovered: 400, stoppedAt: expect.any(Number) })
    const rest = await recoverEndpoint(fixture, id, { ...EVER, sinceMs: first.stoppedAt ?? 0 })
    expect(rest).toEqual({ recovered: 50, stoppedAt: undefined })
  })

  it('recovers each event once when called concurrently, and reads by indexes', async () => {
    const { fixture, id } = await started()
    await fixture.endpoints.update(id, { isActive: false })
    await fixture.record(...Array.from({ length: 20 }, () => ({})))
    await stamped(fixture)
    const found = await Promise.all(Array.from({ length: 4 }, () => recoverEndpoint(fixture, id, EVER)))
    expect(found.reduce((sum, { recovered }) => sum + recovered, 0)).toBe(20)
    const plan = await explain(fixture.db, (tx) =>
      recoverEndpoint(
        { ...fixture, db: { ...fixture.db, dialect: fixture.db.dialect, transaction: (run) => run(tx) } },
        id,
        EVER,
      ),
    )
    expect(plan).not.toMatch(/SCAN (events|webhookDeliveries)$|Seq Scan on "?(events|webhookDeliveries)|TEMP B-TREE/m)
  })
})

describeEachDatabase('retrying a delivery of an inactive endpoint', (open) => {
  async function failedOnce() {
    const receiver = closing(await startReceiver())
    const fixture = closing(webhookFixture(await open()))
    receiver.script({ status: 500 })
    const { id } = await fixture.create({ url: receiver.url, retryCount: 0 })
    await fixture.engine.start()
    await fixture.record({})
    const [delivery] = await eventually(async () => {
      const found = await fixture.deliveries()
      expect(found).toMatchObject([{ status: 'failed' }])
      return found
    })
    await fixture.endpoints.update(id, { isActive: false })
    return { fixture, receiver, id, deliveryId: delivery?.id ?? '' }
  }

  it('makes one attempt while the caller waits', async () => {
    const { fixture, receiver, id, deliveryId } = await failedOnce()
    expect(await fixture.testDeliveries.retryInactive(deliveryId)).toBe(true)
    expect(await fixture.deliveries()).toMatchObject([{ status: 'success', trigger: 'retry', attempt: 2 }])
    expect(receiver.requests[1]?.body).toBe(receiver.requests[0]?.body)
    expect((await fixture.endpoints.get(id)).isActive).toBe(false)
  })

  it('makes only one attempt when it fails; a waiting delivery keeps waiting', async () => {
    const { fixture, receiver, id, deliveryId } = await failedOnce()
    receiver.script({ status: 503 })
    await fixture.testDeliveries.retryInactive(deliveryId)
    expect(await fixture.deliveries()).toMatchObject([{ status: 'failed', attempt: 2, maxAttempts: 2 }])
    await fixture.db.transaction((tx) =>
      tx.updateTable('webhookDeliveries').set({ status: 'pending', nextAttemptAt: 1, maxAttempts: 9 }).execute(),
    )
    receiver.script({ status: 503 })
    await fixture.testDeliveries.retryInactive(deliveryId)
    expect(await fixture.deliveries()).toMatchObject([{ status: 'retrying', attempt: 3, maxAttempts: 9 }])
    expect((await fixture.endpoints.get(id)).isActive).toBe(false)
  })

  it('is left to the queue when the endpoint is active, and skipped while a worker holds it', async () => {
    const { fixture, receiver, id, deliveryId } = await failedOnce()
    await fixture.db.transaction((tx) =>
      tx
        .updateTable('webhookDeliveries')
        .set({ lease: 'a worker', leasedUntil: Date.now() + 60_000, nextAttemptAt: 1 })
        .execute(),
    )
    expect(await fixture.testDeliveries.retryInactive(deliveryId)).toBe(true)
    expect(receiver.requests).toHaveLength(1)
    await fixture.endpoints.update(id, { isActive: true })
    expect(await fixture.testDeliveries.retryInactive(deliveryId)).toBe(false)
  })
})
