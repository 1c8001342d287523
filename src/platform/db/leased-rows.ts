import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Log } from '../log/index.ts'
import type { Db, Dialect, Handle, Tables, Tx } from './db.ts'
import { padded } from './padded.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/*
 * Leases decide which run works on a row, over all processes that share the database.
 *
 *     free ──claim──▶ held ──renew──▶ held, for longer
 *      ▲               │
 *      ├───release─────┤
 *      ├───expiry──────┘
 *
 * Who may claim: any run, in any process, while the row is free, that is, while `leasedUntil` is null or past.
 *
 * Order: a claim takes the rows of one key (an account, an endpoint, a booking) that have been due for longest. Keys take turns
 * in the job queue, so one key with many rows does not delay the others.
 *
 * A lost lease: once it has expired, another run may claim the row. Until one does, the old token stays in the row, and the run
 * that was late may still renew it and store its result. So every write of a result has the condition `lease = token`, and
 * throws `LeaseLost` when it changes no row. A step that must not happen twice, such as sending a message, also needs
 * `isLeased` in the transaction before it.
 *
 * A renewal that waits while the same run releases its rows takes nothing back: it renews only rows that are still held.
 *
 * Clock: leases begin and end by the clock of the database, the only one that processes share. Whether a row is due is decided by
 * the clock of the caller. A clock that is wrong lets a run claim rows early or late, but never rows that another run holds.
 *
 * Engines: on PostgreSQL, claims of several processes skip rows that others have locked, and do not wait for them. So a claim
 * may return fewer rows than are due, and the sweep of the queue finds the rest. On SQLite there is one process, and one
 * transaction at a time.
 *
 * Batches: a claim, a renewal and a release each take one or two statements for any number of rows. A claim locks its rows until
 * the transaction of the caller ends.
 */

/** Identifies the run that holds rows, and says how long it keeps them without renewal. */
export interface RowLease {
  token: string
  forMs: number
}

/** A run no longer holds a row: the row was changed by a request, or another run claimed it. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

interface LeaseColumns {
  id: string
  /** The token of the run that holds the row, or held it last. */
  lease: string | null
  leasedUntil: number | null
}

type LeasedTableName = {
  [Name in keyof Tables]: Selectable<Tables[Name]> extends LeaseColumns ? Name : never
}[keyof Tables]

/** A table with the columns `id`, `lease` and `leasedUntil`. */
export interface LeasedTable<Name extends LeasedTableName> {
  name: Name
  /** The column that says what the row belongs to; one run works on one key. */
  key: keyof Tables[Name] & string
  /** The column that says when the row is due; null when there is no work left. */
  dueAt: keyof Tables[Name] & string
  /** Claimed first are rows with the lowest value of this expression. */
  priority?: RawBuilder<unknown>
  /** A released row keeps the token, so that the next claim still shows that a run may have begun work on it. */
  keepsToken?: boolean
}

interface DueRows {
  key: string
  nowMs: number
  limit: number
}

export interface ClaimedRow<Row> {
  row: Row
  /** An earlier run claimed the row and stored no result: it was killed, or lost its lease. */
  wasInterrupted: boolean
}

/** Rows of a run: by their ids, or all that it holds of a key. By ids where a key may have very many rows that wait. */
type RowsOfRun = { ids: readonly string[] } | { key: string }

/** The rows of one table, as runs claim them. Methods that write need a `Tx`, or the handle of `Db.statement`. */
interface LeasedRows<Row> {
  /** Claims up to `limit` free rows that are due, in the order described above. Returns them in this order. */
  claim(due: DueRows, lease: RowLease): Promise<ClaimedRow<Row>[]>
  /** Lets the lease of these rows begin anew. Leaves out rows that the run has released, or that another run claimed. */
  renew(rows: RowsOfRun, lease: RowLease): Promise<void>
  /** Frees these rows at once. Leaves out rows that the run does not hold. */
  release(rows: RowsOfRun, lease: RowLease): Promise<void>
  /** Frees every row, also those that other runs hold. */
  releaseAll(): Promise<void>
  /** When the next free row of the key is due; undefined when none waits. */
  nextDueAt(key: string): Promise<number | undefined>
  /** Keys with free rows that are due, those first that have been due for longest. */
  keysDue(nowMs: number, limit: number): Promise<string[]>
}

export function leasedRows<Name extends LeasedTableName>(
  handle: Handle,
  dialect: Dialect,
  { name, key, dueAt, priority, keepsToken = false }: LeasedTable<Name>,
): LeasedRows<Selectable<Tables[Name]>> {
  type Row = Selectable<Tables[Name]> & LeaseColumns
  const table = sql.table(name)
  const keyColumn = sql.ref(key)
  const dueColumn = sql.ref(dueAt)
  const free = keepsToken ? sql`"leasedUntil" = null` : sql`"lease" = null, "leasedUntil" = null`
  const order = priority === undefined ? sql`${dueColumn}, "id"` : sql`${priority}, ${dueColumn}, "id"`
  const isHeldBy = ({ token }: RowLease) => sql`"lease" = ${token} and "leasedUntil" is not null`
  const isOneOf = (rows: RowsOfRun) =>
    'key' in rows
      ? sql`${keyColumn} = ${rows.key} and ${dueColumn} is not null`
      : sql`"id" in (${sql.join(padded(rows.ids))})`

  return {
    async claim({ key: ofKey, nowMs, limit }, lease) {
      const due = await sql<LeaseColumns>`
        select "id", "lease" from ${table}
        where ${keyColumn} = ${ofKey} and ${dueColumn} <= ${nowMs} and ${isUnleased(dialect)}
        order by ${order} limit ${limit} ${dialect.skipLocked}`.execute(handle)
      if (due.rows.length === 0) return []
      const ids = due.rows.map(({ id }) => id)
      const { rows } = await sql<Row>`
        update ${table} set "lease" = ${lease.token}, "leasedUntil" = ${leaseEnd(dialect, lease)}
        where "id" in (${sql.join(padded(ids))}) returning *`.execute(handle)
      const byId = new Map(rows.map((row) => [row.id, row]))
      return due.rows.flatMap(({ id, lease: before }) => {
        const row = byId.get(id)
        return row === undefined ? [] : [{ row, wasInterrupted: before !== null }]
      })
    },

    async renew(rows, lease) {
      if ('ids' in rows && rows.ids.length === 0) return
      await sql`
        update ${table} set "leasedUntil" = ${leaseEnd(dialect, lease)}
        where ${isOneOf(rows)} and ${isHeldBy(lease)}`.execute(handle)
    },

    async release(rows, lease) {
      if ('ids' in rows && rows.ids.length === 0) return
      await sql`update ${table} set ${free} where ${isOneOf(rows)} and ${isHeldBy(lease)}`.execute(handle)
    },

    async releaseAll() {
      await sql`update ${table} set ${free} where "leasedUntil" is not null`.execute(handle)
    },

    async nextDueAt(ofKey) {
      const { rows } = await sql<{ dueAt: number }>`
        select ${dueColumn} as "dueAt" from ${table}
        where ${keyColumn} = ${ofKey} and ${dueColumn} is not null and ${isUnleased(dialect)}
        order by ${dueColumn} limit 1`.execute(handle)
      return rows[0]?.dueAt
    },

    async keysDue(nowMs, limit) {
      const { rows } = await sql<{ key: string }>`
        select ${keyColumn} as "key" from ${table}
        where ${dueColumn} is not null and ${dueColumn} <= ${nowMs} and ${isUnleased(dialect)}
        group by ${keyColumn} order by min(${dueColumn}) limit ${limit}`.execute(handle)
      return rows.map((row) => row.key)
    },
  }
}

/** The end of a lease that begins now. */
export function leaseEnd({ nowMs }: Dialect, { forMs }: RowLease) {
  return sql<number>`${nowMs} + ${sql.lit(forMs)}`
}

/** Whether no run holds the row. */
export function isUnleased({ nowMs }: Dialect) {
  return sql<boolean>`("leasedUntil" is null or "leasedUntil" <= ${nowMs})`
}

/** Whether the row's lease has not expired. A run that was suspended for longer must not begin what another run may be doing. */
export function isLeased({ nowMs }: Dialect) {
  return sql<boolean>`"leasedUntil" > ${nowMs}`
}

/** The time from which the lease of a row counts that is stored under a lease. */
export async function databaseTime(handle: Handle, { nowMs }: Dialect): Promise<number> {
  const { rows } = await sql<{ nowMs: number }>`select ${nowMs} as "nowMs"`.execute(handle)
  const [row] = rows
  if (row === undefined) throw new Error('the database returned no time')
  return row.nowMs
}

/**
 * Call it when the process starts. The file store has one process, so every lease in it is of a process that ended. On PostgreSQL
 * another process may hold the rows, and leases of dead processes expire.
 */
export async function releaseLeasesOfDead<Name extends LeasedTableName>(
  db: Pick<Db, 'engine' | 'dialect' | 'transaction'>,
  table: LeasedTable<Name>,
): Promise<void> {
  if (db.engine === 'sqlite') await db.transaction((tx: Tx) => leasedRows(tx, db.dialect, table).releaseAll())
}

interface Renewal {
  log: Log
  /** For the log: `outbox.renew`. */
  operation: string
  lease: RowLease
  renew(): Promise<void>
}

/**
 * Renews a lease at each third of its time until the returned function is called. Failed renewals do not stop the run: the lease
 * may then expire, and the run cannot store what another run has claimed. Logs every failure except an outage of the database, which
 * the run meets and reports itself.
 */
export function keepRenewing({ log, operation, lease, renew }: Renewal): () => void {
  let isRenewing = false
  const timer = setInterval(() => {
    if (isRenewing) return
    isRenewing = true
    renew()
      .catch((error: unknown) => {
        if (error instanceof DatabaseUnavailable) return
        log.error('Cannot renew a lease. Another run may take over the work when it expires.', { operation, error })
      })
      .finally(() => {
        isRenewing = false
      })
  }, lease.forMs / 3)
  return () => clearInterval(timer)
}
