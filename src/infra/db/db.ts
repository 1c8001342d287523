import type { Kysely, RawBuilder, Transaction } from 'kysely'

/**
 * Every table, by the room that writes it: each room's `schema.ts` adds its own with
 * `declare module '…/infra/db/index.ts' { interface Tables { … } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging in the rooms.
export interface Tables {}

/** What a store is built on: `accountStore(db.read)`, or `accountStore(tx)` inside a transaction. */
export type Handle = Kysely<Tables>

/** An open transaction. Nothing but the store may be awaited inside it. */
export interface Tx extends Transaction<Tables> {
  /** Runs after the commit, in order, never after a roll-back. For waking others; it must not throw. */
  afterCommit(run: () => void): void
}

/**
 * One database, whichever engine. Reads go through `read` (which refuses writes on SQLite), every write through
 * `transaction`. Transactions of the file store run one at a time, in the order they were asked for; on PostgreSQL
 * they are READ COMMITTED and repeated up to 3 times after a deadlock or serialisation failure, so the body must have no effect
 * but on the store.
 */
export interface Db {
  readonly engine: 'sqlite' | 'postgres'
  readonly read: Handle
  readonly dialect: Dialect
  transaction<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  /** Rejects when the database does not answer within 2 s; for health. */
  ping(): Promise<void>
  /** Waits for the running transaction, then closes. A second call does nothing. */
  close(): Promise<void>
}

/** What the two engines say differently. */
export interface Dialect {
  /** `for update skip locked` on PostgreSQL, nothing on SQLite (which has one writer). Ends a select. */
  skipLocked: RawBuilder<unknown>
  /** `for update` on PostgreSQL. Ends a select. */
  forUpdate: RawBuilder<unknown>
  /** The database's own time in milliseconds, the same within one statement: the only clock replicas share. */
  nowMs: RawBuilder<number>
  /**
   * A derived table of the given rows, for `select … from ${rows} as r` and `insert … select`: one parameter and one
   * text of the statement, however many rows there are.
   */
  rows<C extends string>(
    columns: Record<C, 'text' | 'bigint'>,
    values: readonly Readonly<Record<C, string | number | null>>[],
  ): RawBuilder<Record<C, string | number | null>>
  /** True when the error is a broken unique constraint. */
  isUniqueViolation(error: unknown): boolean
  /** True when the statement failed for what a row holds (a constraint, a value out of range), not for the database's state. */
  isRefusedRow(error: unknown): boolean
}
