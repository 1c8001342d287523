import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { memoryLog } from '../../../test/kit/service/memory-log.ts'
import { sleep } from '../concurrency/abort.ts'
import type { Db, Tx } from './db.ts'
import {
  databaseTime,
  keepRenewing,
  type LeasedTable,
  leasedRows,
  type RowLease,
  releaseLeasesOfDead,
} from './leased-rows.ts'
import { DatabaseUnavailable } from './unavailable.ts'

declare module './db.ts' {
  interface Tables {
    leasedRowsTest: {
      id: string
      box: string
      dueAt: number | null
      rank: number
      lease: string | null
      leasedUntil: number | null
    }
  }
}

const TABLE: LeasedTable<'leasedRowsTest'> = { name: 'leasedRowsTest', key: 'box', dueAt: 'dueAt' }
const KEEPS_TOKEN = { ...TABLE, keepsToken: true }
const KINDS = [
  ['clears its token', TABLE],
  ['keeps its token', KEEPS_TOKEN],
] as const
const FIRST = { token: 'first', forMs: 60_000 }
const SECOND = { token: 'second', forMs: 60_000 }
const NOW = 1000

type NewRow = [id: string, dueAt: number | null, box?: string, rank?: number]

describeEachDatabase('leased rows', (open) => {
  async function fixture(rows: readonly NewRow[], table = TABLE) {
    const db = await open()
    await db.transaction(async (tx) => {
      await sql`create table "leasedRowsTest"
        ("id" text primary key, "box" text, "dueAt" bigint, "rank" bigint, "lease" text, "leasedUntil" bigint)`.execute(
        tx,
      )
      for (const [id, dueAt, box = 'a', rank = 0] of rows) {
        const values = { id, dueAt, box, rank, lease: null, leasedUntil: null }
        await tx.insertInto('leasedRowsTest').values(values).execute()
      }
    })
    const on = (tx: Tx | Db['read']) => leasedRows(tx, db.dialect, table)
    const claim = (lease: RowLease, { limit = 10, key = 'a' } = {}) =>
      db.transaction((tx) => on(tx).claim({ key, nowMs: NOW, limit }, lease))
    const claimIds = async (lease: RowLease, options = {}) => (await claim(lease, options)).map(({ row }) => row.id)
    const release = (id: string, lease: RowLease) => db.transaction((tx) => on(tx).release({ ids: [id] }, lease))
    const row = (id: string) =>
      db.read.selectFrom('leasedRowsTest').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    /** As if the time of the lease had passed. */
    const expire = () =>
      db.transaction((tx) =>
        tx.updateTable('leasedRowsTest').set({ leasedUntil: 1 }).where('leasedUntil', '>', 1).execute(),
      )
    return { db, on, claim, claimIds, release, row, expire }
  }

  it('are claimed in the order of their due time and id, up to the limit, and only those of the key', async () => {
    const { claimIds } = await fixture([
      ['late', NOW + 1],
      ['c', 30],
      ['b', 20],
      ['a', 20],
      ['ended', null],
      ['other', 1, 'another'],
    ])
    expect(await claimIds(FIRST, { limit: 2 })).toEqual(['a', 'b'])
    expect(await claimIds(FIRST)).toEqual(['c'])
    expect(await claimIds(FIRST)).toEqual([])
  })

  it('are claimed by priority before their due time', async () => {
    const { claimIds } = await fixture(
      [
        ['later', 1, 'a', 2],
        ['first', 20, 'a', 1],
      ],
      { ...TABLE, priority: sql`"rank"` },
    )
    expect(await claimIds(FIRST)).toEqual(['first', 'later'])
  })

  it('are stored under the lease, by the clock of the database', async () => {
    const { db, claim, row } = await fixture([['a', 1]])
    const before = await databaseTime(db.read, db.dialect)
    const [claimed] = await claim(FIRST)
    expect(claimed?.row).toEqual(await row('a'))
    const after = await databaseTime(db.read, db.dialect)
    expect(claimed?.row.lease).toBe('first')
    expect(claimed?.row.leasedUntil).toBeGreaterThanOrEqual(before + FIRST.forMs)
    expect(claimed?.row.leasedUntil).toBeLessThanOrEqual(after + FIRST.forMs)
  })

  it('go to one of the runs that claim at once', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `row_${index + 10}`)
    const { claimIds } = await fixture(ids.map((id) => [id, 1]))
    const runs = Array.from({ length: 8 }, (_, index) =>
      claimIds({ token: `run_${index}`, forMs: 60_000 }, { limit: 5 }),
    )
    const claimed = (await Promise.all(runs)).flat()
    expect(new Set(claimed).size).toBe(claimed.length)
    // On PostgreSQL a claim skips rows that another one has locked.
    expect([...claimed, ...(await claimIds(FIRST, { limit: 40 }))].sort()).toEqual(ids)
  })

  it('can be claimed by another run once the lease has expired, which shows the interruption', async () => {
    const { claim, claimIds, expire } = await fixture([['a', 1]])
    expect(await claim(FIRST)).toMatchObject([{ wasInterrupted: false }])
    expect(await claimIds(SECOND)).toEqual([])
    await expire()
    expect(await claim(SECOND)).toMatchObject([{ row: { id: 'a', lease: 'second' }, wasInterrupted: true }])
  })

  it('are renewed after the lease has expired, unless another run has claimed them', async () => {
    const { db, on, claimIds, expire, row } = await fixture([
      ['lost', 1],
      ['late', 2],
    ])
    await claimIds(FIRST)
    await expire()
    await claimIds(SECOND, { limit: 1 })
    const lost = await row('lost')
    await db.transaction((tx) => on(tx).renew({ key: 'a' }, FIRST))
    expect(await row('lost')).toEqual(lost)
    expect((await row('late')).leasedUntil).toBeGreaterThan(NOW)
    expect(await claimIds(SECOND)).toEqual([])
  })

  it.each(KINDS)('can be claimed at once after a release that %s', async (_kind, table) => {
    const { claim, claimIds, release, row } = await fixture([['a', 1]], table)
    await claim(FIRST)
    await release('a', SECOND)
    expect(await claimIds(SECOND)).toEqual([])
    await release('a', FIRST)
    expect(await row('a')).toMatchObject({ leasedUntil: null, lease: table === KEEPS_TOKEN ? 'first' : null })
    expect(await claim(SECOND)).toMatchObject([{ wasInterrupted: table === KEEPS_TOKEN }])
  })

  it.each(KINDS)('are not taken back by a renewal that waited behind a release that %s', async (_kind, table) => {
    const { db, on, claimIds } = await fixture(
      [
        ['a', 1],
        ['b', 2],
      ],
      table,
    )
    await claimIds(FIRST)
    let renewing: Promise<unknown> | undefined
    await db.transaction(async (tx) => {
      await on(tx).release({ key: 'a' }, FIRST)
      renewing = Promise.all([
        db.transaction((later) => on(later).renew({ key: 'a' }, FIRST)),
        db.transaction((later) => on(later).renew({ ids: ['a', 'b'] }, FIRST)),
      ])
      // The renewals must wait for this transaction; otherwise they end within this time.
      await Promise.race([renewing, sleep(300)])
    })
    await renewing
    expect(await claimIds(SECOND)).toEqual(['a', 'b'])
  })

  it('of no ids are neither renewed nor released', async () => {
    const { db, on, claimIds } = await fixture([['a', 1]])
    await claimIds(FIRST)
    await db.transaction(async (tx) => {
      await on(tx).renew({ ids: [] }, FIRST)
      await on(tx).release({ ids: [] }, FIRST)
    })
    expect(await claimIds(SECOND)).toEqual([])
  })

  it('of dead processes are released at the start of the file store only', async () => {
    const { db, claimIds } = await fixture([['a', 1]])
    await claimIds(FIRST)
    await releaseLeasesOfDead(db, TABLE)
    expect(await claimIds(SECOND)).toEqual(db.engine === 'sqlite' ? ['a'] : [])
  })

  it('say when the next free one is due, and which keys have due ones', async () => {
    const { db, on, claimIds } = await fixture([
      ['held', 10],
      ['free', 20],
      ['b1', 15, 'b'],
      ['c1', 5, 'c'],
      ['late', NOW + 1, 'd'],
      ['ended', null, 'e'],
    ])
    await claimIds(FIRST, { limit: 1 })
    const rows = on(db.read)
    expect(await Promise.all(['a', 'd', 'e'].map((key) => rows.nextDueAt(key)))).toEqual([20, NOW + 1, undefined])
    expect(await rows.keysDue(NOW, 10)).toEqual(['c', 'b', 'a'])
    expect(await rows.keysDue(NOW, 2)).toEqual(['c', 'b'])
  })
})

describe('keepRenewing', () => {
  const LEASE = { token: 'run', forMs: 3000 }

  it('renews at each third of the lease, one renewal at a time, until it is stopped', async () => {
    vi.useFakeTimers()
    const ends: (() => void)[] = []
    const renew = () => new Promise<void>((resolve) => ends.push(resolve))
    const stop = keepRenewing({ ...memoryLog(), operation: 'test.renew', lease: LEASE, renew })
    try {
      await vi.advanceTimersByTimeAsync(999)
      expect(ends).toHaveLength(0)
      await vi.advanceTimersByTimeAsync(2001)
      expect(ends).toHaveLength(1)
      ends[0]?.()
      await vi.advanceTimersByTimeAsync(1000)
      expect(ends).toHaveLength(2)
      ends[1]?.()
      stop()
      await vi.advanceTimersByTimeAsync(5000)
      expect(ends).toHaveLength(2)
    } finally {
      stop()
      vi.useRealTimers()
    }
  })

  it('logs failures other than outages of the database, and goes on', async () => {
    vi.useFakeTimers()
    const { log, entries } = memoryLog()
    const errors = [new DatabaseUnavailable('unreachable', new Error('ECONNREFUSED')), new TypeError('a bug')]
    let renewals = 0
    const renew = async () => {
      renewals += 1
      throw errors.shift() ?? new Error('no such column')
    }
    const stop = keepRenewing({ log, operation: 'test.renew', lease: LEASE, renew })
    try {
      await vi.advanceTimersByTimeAsync(3000)
      expect(renewals).toBe(3)
      expect(entries).toMatchObject([
        { level: 'error', operation: 'test.renew', error: { message: 'a bug' } },
        { level: 'error', operation: 'test.renew', error: { message: 'no such column' } },
      ])
    } finally {
      stop()
      vi.useRealTimers()
    }
  })
})
