import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { readPlans } from '../../../../test/kit/database/plans.ts'
import { webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { startReceiver } from '../../../../test/servers/receiver.ts'
import { silentLog } from '../../../platform/log/index.ts'
import { fixedClock } from '../../../platform/time/clock.ts'
import { activityCounter } from './counter.ts'
import { readActivity } from './read.ts'
import { addCounts, purgeActivity, sumCounts } from './store.ts'

const HOUR_MS = 3_600_000
const NOW = Date.parse('2026-06-10T12:30:00Z')
const NOON = Date.parse('2026-06-10T12:00:00Z')

const received = (createdAt: number) => ({ type: 'message.received', fanOut: 1, createdAt })

describeEachDatabase('the counts of the overview', (open) => {
  it('count messages, bookings and deliveries, but no test events', async () => {
    const receiver = closing(await startReceiver())
    const fixture = closing(webhookFixture(await open()))
    const { activity, clock, db } = fixture
    const startedMs = clock.now() - HOUR_MS
    const { id } = await fixture.create({
      url: receiver.url,
      retryCount: 0,
      eventTypes: ['message.*', 'mailbox.changed', 'booking.created'],
    })
    await fixture.engine.start()
    receiver.script({ status: 500 })
    await fixture.record({}, { type: 'message.sent' }, { type: 'mailbox.changed' }, { type: 'booking.created' })
    await eventually(async () => {
      const statuses = (await fixture.deliveries()).map(({ status }) => status).sort()
      expect(statuses).toEqual(['failed', 'success', 'success', 'success'])
    })
    await fixture.testDeliveries.test(id)
    await fixture.testDeliveries.testEvent('message.received')
    await fixture.record({ fanOut: false })
    await eventually(async () => {
      const rows = await db.read.selectFrom('events').select('id').where('position', 'is', null).execute()
      expect(rows).toEqual([])
    })
    await activity.flush()
    const [period] = (await readActivity(db.read, [startedMs], clock.now())).periods
    expect(period).toMatchObject({ received: 1, sent: 1, booked: 1, delivered: 3, failed: 1 })
    expect(period?.latencyP95Ms).toBeGreaterThan(0)
  })

  it('add up over instances and belong to the hour of the event', async () => {
    const db = await open()
    const deps = { db, clock: fixedClock(NOW), log: silentLog }
    const [one, other] = [activityCounter(deps), activityCounter(deps)]
    one.onEvents([received(NOON - 1), received(NOON), received(NOW)])
    other.onEvents([received(NOW)])
    await Promise.all([one.stop(), other.stop()])
    const { periods } = await readActivity(db.read, [NOON - 2 * HOUR_MS, NOON - HOUR_MS, NOON], NOW)
    // Nothing was counted before the first count, so that nobody takes it for zero.
    expect(periods.map((period) => period.received)).toEqual([null, 1, 3])
  })

  it('are kept while the database fails, and stored by the next attempt', async () => {
    const db = await open()
    let isDown = true
    const transaction: typeof db.transaction = (work) => {
      if (isDown) throw new Error('the database is away')
      return db.transaction(work)
    }
    const counter = activityCounter({ db: { transaction }, clock: fixedClock(NOW), log: silentLog })
    counter.onEvents([received(NOW)])
    await counter.flush()
    isDown = false
    counter.onEvents([received(NOW)])
    await counter.stop()
    expect(await sumCounts(db.read, NOON, NOW)).toEqual(new Map([['received', 2]]))
  })

  it('are deleted by the hour', async () => {
    const db = await open()
    const hours = [0, 1, 2].map((back) => ({ hour: NOON - back * HOUR_MS, name: 'sent' as const, amount: 1 }))
    await db.transaction((tx) => addCounts(tx, hours))
    expect(await db.transaction((tx) => purgeActivity(tx, NOON, 200))).toBe(2)
    expect(await db.transaction((tx) => purgeActivity(tx, NOON, 200))).toBe(0)
    expect(await sumCounts(db.read, 0, NOW)).toEqual(new Map([['sent', 1]]))
  })

  it('are read by ranges of the primary key', async () => {
    const plans = await readPlans(await open(), (tx) => readActivity(tx, [NOON - HOUR_MS, NOON], NOW))
    expect(plans).toHaveLength(3)
    for (const plan of plans.slice(1)) {
      expect(plan).toMatch(/SEARCH "?activityCounts"? USING PRIMARY KEY|Index Cond: \(?\(?"?hour"? >=|Index.* Scan/)
    }
    for (const plan of plans) expect(plan).not.toMatch(/Seq Scan|TEMP B-TREE FOR ORDER/)
  })
})
