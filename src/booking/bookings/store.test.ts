import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import type { Db } from '../../platform/db/index.ts'
import type { BookingRow } from '../tables.ts'
import { assignHosts, bookingStore, eraseBookings, purgeBookings, purgeHolds } from './store.ts'

const DAY_MS = 24 * 60 * 60_000

function buildRow(number: number, hosts: string[]): BookingRow {
  const slot = { start: number * DAY_MS, end: number * DAY_MS + 1, timezone: 'UTC', metadata: {} }
  return {
    id: `bkg_${number}`,
    experienceId: 'exp_1',
    experienceSlug: 'call',
    requestKey: null,
    status: 'confirmed',
    startMs: slot.start,
    endMs: slot.end,
    slot: JSON.stringify({ ...slot, hosts, participants: [...hosts, 'Ada'] }),
    given: '{}',
    guestEmail: 'lin@northwind.example',
    hosts: JSON.stringify(hosts),
    eventId: null,
    joinUrl: null,
    reason: null,
    cancelledBy: null,
    calendarState: 'written',
    calendarError: null,
    sequence: 0,
    linkSecret: 'secret',
    isReasonInternal: 0,
    verifiedBy: null,
    mailCharge: null,
    version: 2,
    createdAt: 0,
    updatedAt: 0,
  }
}

async function insert(db: Db, rows: readonly BookingRow[]): Promise<void> {
  await db.transaction(async (tx) => {
    for (const row of rows) {
      await bookingStore(tx).insert(row)
      await assignHosts(tx, row)
      for (const hostId of JSON.parse(row.hosts)) {
        const times = { startMs: row.startMs, endMs: row.endMs, blockedFrom: row.startMs, blockedTo: row.endMs }
        const block = { ownerId: row.id, hostId, experienceId: 'exp_1', ...times, day: '1970-01-01', expiresAt: null }
        await tx.insertInto('bookingBlocks').values(block).execute()
        await tx
          .insertInto('bookingEvents')
          .values({ bookingId: row.id, hostId, calendarId: 'cal_1', eventId: `cev_${row.id}_${hostId}` })
          .execute()
      }
    }
  })
}

const TABLES = ['bookings', 'bookingAssignments', 'bookingBlocks', 'bookingEvents'] as const

async function contents(db: Db): Promise<string> {
  const all = await Promise.all(TABLES.map((table) => db.read.selectFrom(table).selectAll().execute()))
  return JSON.stringify(all)
}

describeEachDatabase('stored bookings', (open) => {
  it('keep nothing of a deleted account, and what belongs to other hosts too', async () => {
    const db = await open()
    const bookings = [1, 2, 3, 4, 5].map((number) => buildRow(number, ['acc_gone']))
    await insert(db, [...bookings, buildRow(6, ['acc_gone', 'acc_kept']), buildRow(7, ['acc_kept'])])
    for (let rows = -1; rows !== 0; ) rows = await db.transaction((tx) => eraseBookings(tx, 'acc_gone', 2))
    expect(await contents(db)).not.toContain('acc_gone')
    const left = await db.read.selectFrom('bookings').selectAll().orderBy('id').execute()
    expect(left.map(({ id, hosts }) => [id, hosts])).toEqual([
      ['bkg_6', '["acc_kept"]'],
      ['bkg_7', '["acc_kept"]'],
    ])
    expect(JSON.parse(left[0]?.slot ?? '')).toMatchObject({ hosts: ['acc_kept'], participants: ['acc_kept', 'Ada'] })
    expect(await db.read.selectFrom('bookingBlocks').select('ownerId').orderBy('ownerId').execute()).toHaveLength(2)
  })

  it('are deleted some time after they took place, as are expired holds', async () => {
    const db = await open()
    await insert(
      db,
      [1, 2, 3, 4].map((number) => buildRow(number, ['acc_1'])),
    )
    await db.transaction(async (tx) => {
      for (const [id, expiresAt] of [
        ['hld_1', 10],
        ['hld_2', 30],
      ] as const) {
        await bookingStore(tx).insertHold({
          id,
          experienceId: 'exp_1',
          slot: '{}',
          expiresAt,
          client: null,
          startMs: null,
          endMs: null,
        })
      }
    })
    expect(await db.transaction((tx) => purgeBookings(tx, 4 * DAY_MS, 2))).toBe(2)
    expect(await db.transaction((tx) => purgeBookings(tx, 4 * DAY_MS, 2))).toBe(1)
    expect(await db.transaction((tx) => purgeHolds(tx, 20, 10))).toBe(1)
    const ids = async (table: 'bookings' | 'bookingHolds') => db.read.selectFrom(table).select('id').execute()
    expect([await ids('bookings'), await ids('bookingHolds')]).toEqual([[{ id: 'bkg_4' }], [{ id: 'hld_2' }]])
    expect(await db.read.selectFrom('bookingAssignments').select('bookingId').execute()).toEqual([
      { bookingId: 'bkg_4' },
    ])
  })
})
