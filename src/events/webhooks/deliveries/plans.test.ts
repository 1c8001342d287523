import { describe, expect, it } from 'vitest'
import { databases, describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { explain } from '../../../../test/kit/database/explain.ts'
import { type Db, leasedRows, type Tx } from '../../../platform/db/index.ts'
import { withholdEvents } from '../../index.ts'
import type { DeliveryQuery } from '../index.ts'
import { cancelForEndpoint, DELIVERIES, listEndpointsDue } from '../sending/leases.ts'
import { eraseDeliveries, purgeDeliveries, sendable } from './erasure.ts'
import { markDuplicates } from './mark-duplicates.ts'
import { deliveryStore } from './store.ts'

const LEASE = { token: 'lease', forMs: 1000 }
const STATES = ['pending', 'retrying', 'failed', 'cancelled', 'deduplicated'] as const

/** Every statement of this feature that a large table must not slow down. */
const STATEMENTS: [name: string, run: (tx: Tx, db: Db) => Promise<unknown>][] = [
  ['claiming', (tx, db) => rows(tx, db).claim({ key: 'whe_1', nowMs: 1, limit: 64 }, LEASE)],
  ['renewing', (tx, db) => rows(tx, db).renew({ ids: ['dlv_1', 'dlv_2'] }, LEASE)],
  ['releasing', (tx, db) => rows(tx, db).release({ ids: ['dlv_1', 'dlv_2'] }, LEASE)],
  ['the next due', (tx, db) => rows(tx, db).nextDueAt('whe_1')],
  ['the sweep', (tx, db) => listEndpointsDue({ ...db, read: tx }, 1)],
  ['the end of an endpoint', (tx) => cancelForEndpoint(tx, 'whe_1', 200)],
  ['withholding events', (tx) => withholdEvents(tx, ['evt_1'])],
  ['deleted accounts', (tx) => sendable(tx, [{ accountId: 'acc_1', type: 'message.sent' }])],
  ['erasing an account', (tx) => eraseDeliveries(tx, 'acc_1', 500)],
  ['finding duplicates', (tx) => markDuplicates(tx, [], [], async () => new Map([['evt_2', 'evt_1']]))],
  ['purging', (tx) => purgeDeliveries(tx, 1, 500)],
  ['one delivery', (tx) => deliveryStore(tx).getAll(['dlv_1'])],
  ['the list of an endpoint', (tx) => page(tx, { endpointId: 'whe_1' })],
  ['the list of an account', (tx) => page(tx, { accountId: 'acc_1' })],
  ['the list of a type', (tx) => page(tx, { eventType: 'message.sent' })],
  ...STATES.map((status): [string, (tx: Tx) => Promise<unknown>] => [
    `the list of ${status}`,
    (tx) => page(tx, { status }),
  ]),
]

const rows = (tx: Tx, db: Db) => leasedRows(tx, db.dialect, DELIVERIES)
const page = (tx: Tx, query: DeliveryQuery) => deliveryStore(tx).list(query)

describeEachDatabase('the statements about deliveries', (open) => {
  it.each(STATEMENTS)('%s reads by an index', async (_name, run) => {
    const db = await open()
    const plan = await explain(db, (tx) => run(tx, db))
    expect(plan).not.toMatch(
      /SCAN (webhookDeliveries|accountErasures)$|Seq Scan on "?(webhookDeliveries|accountErasures)|SCAN events|Seq Scan on "?events/m,
    )
    expect(plan).not.toMatch(/USE TEMP B-TREE/)
  })
})

describe('the start on the file store', () => {
  const open = databases('sqlite')
  it('releases leases by an index, without scanning waiting deliveries', async () => {
    const db = await open()
    const plan = await explain(db, (tx) => rows(tx, db).releaseAll())
    expect(plan).toMatch(/^SEARCH webhookDeliveries USING (COVERING )?INDEX webhookDeliveries_leasedUntil_partial/m)
  })
})
