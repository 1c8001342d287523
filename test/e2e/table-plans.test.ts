import { expect, it } from 'vitest'
import { bookingStore } from '../../src/booking/bookings/store.ts'
import { taskStore } from '../../src/booking/tasks/store.ts'
import { eventFeed } from '../../src/events/index.ts'
import { deliveryStore } from '../../src/events/webhooks/deliveries/store.ts'
import { backfillStore } from '../../src/mail/backfill/store.ts'
import { outboxStore } from '../../src/mail/outbox/store.ts'
import { auditStore } from '../../src/operations/audit/store.ts'
import type { Dialect, Tx } from '../../src/platform/db/index.ts'
import { pageRequest } from '../../src/platform/formats/pagination.ts'
import { describeEachDatabase } from '../kit/database/database.ts'
import { readPlans } from '../kit/database/plans.ts'

type List = (tx: Tx, dialect: Dialect) => Promise<unknown>

const bookings = (query: object): List => {
  const whole = { fromMs: undefined, toMs: undefined, ...query }
  return (tx) => bookingStore(tx).list(whole)
}
const audit = (filter: object): List => {
  const request = pageRequest({}, [], ['integer', 'text'])
  return (tx) => Promise.all([auditStore(tx).list(filter, request), auditStore(tx).count(filter)])
}

/** A page by cursor, and the count. */
const events = (filter: object): List => {
  const page = { from: 5, offset: 0, limit: 26 }
  return (tx) => Promise.all([eventFeed(tx).list(filter, 'desc', page), eventFeed(tx).count(filter, 10_000)])
}

/** Lists of the portal with each of their filters, and the column by which an index finds the rows. */
const LISTS: [list: string, column: string, run: List][] = [
  ['bookings', 'status', bookings({ status: 'cancelled' })],
  ['bookings', 'experienceId', bookings({ experienceSlug: 'call' })],
  ['bookings', 'guestEmail', bookings({ guestEmail: 'grace@example.com' })],
  ['bookings', 'hostId', bookings({ accountId: 'acc_1' })],
  ['bookings', 'startMs', bookings({ fromMs: 1, toMs: 2 })],
  ['jobs', 'status', (tx) => taskStore(tx).list({ status: 'failed' })],
  ['jobs', 'type', (tx) => taskStore(tx).list({ type: 'message' })],
  ['audit', 'actor', audit({ actor: 'service' })],
  ['audit', 'action', audit({ action: 'draft.deleted' })],
  ['audit', 'target', audit({ target: 'acc_1' })],
  ['audit', 'at', audit({ sinceMs: 1 })],
  ['backfills', 'status', (tx) => backfillStore(tx).list({ status: 'failed' })],
  ['outbox', 'status', (tx, dialect) => outboxStore(tx, dialect).list({ status: 'failed' })],
  ['outbox', 'accountId', (tx, dialect) => outboxStore(tx, dialect).list({ accountId: 'acc_1' })],
  ['deliveries', 'status', (tx) => deliveryStore(tx).list({ status: 'failed' })],
  ['deliveries', 'eventType', (tx) => deliveryStore(tx).list({ eventType: 'message.sent' })],
  ['deliveries', 'endpointId', (tx) => deliveryStore(tx).list({ endpointId: 'whe_1' })],
  ['deliveries', 'accountId', (tx) => deliveryStore(tx).list({ accountId: 'acc_1' })],
  ['events', 'type', events({ type: 'message.received' })],
  ['events', 'accountId', events({ accountId: 'acc_1' })],
]

describeEachDatabase('a page of', (open) => {
  it.each(LISTS)('%s by %s reads an index in its order', async (list, column, run) => {
    const db = await open()
    const plans = await readPlans(db, (tx) => run(tx, db.dialect))
    const [page = '', count = ''] = plans
    expect(plans).toHaveLength(2)
    for (const plan of [page, count]) {
      expect(plan).toMatch(new RegExp(`\\(${column}[=><]\\?|Index Cond: .*"?${column}"? [=><]`))
      expect(plan).not.toMatch(/SCAN (?!(?:matching|counted)$)\w+$|Seq Scan/m)
    }
    expect(page).not.toMatch(/TEMP B-TREE|^\s*(->\s*)?Sort\b/m)
    // Their rows are wide: those before the page are not read.
    const isWide = ['bookings', 'outbox', 'deliveries'].includes(list)
    if (isWide && db.engine === 'sqlite') expect(page).toContain('USING COVERING INDEX')
  })
})
