import type { Kysely, RawBuilder, Transaction } from 'kysely'

/** All tables. The `tables.ts` of each feature adds those it writes: `declare module '…/platform/db/index.ts' { interface Tables { … } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it by declaration merging.
export interface Tables {}

/** The argument of a store: `accountStore(db.read)`, or `accountStore(tx)` inside a transaction. */
export type Handle = Kysely<Tables>

/** An open transaction. Await nothing but the store inside it. */
export interface Tx extends Transaction<Tables> {
  /** Calls `run` after the commit, in order, and not after a rollback. For hints to workers. Must not throw. */
  afterCommit(run: () => void): void
}

/**
 * The database, on either engine. Use `read` for reads (on SQLite it rejects writes) and `transaction` for every write.
 * On SQLite transactions run one at a time, in call order. On PostgreSQL they are READ COMMITTED, and run again up to 3 times
 * after a deadlock or a serialisation failure, so a body must affect only the store.
 */
export interface Db {
  readonly engine: 'sqlite' | 'postgres'
  /** The path of the database file, on SQLite only. */
  readonly file?: string
  readonly read: Handle
  readonly dialect: Dialect
  transaction<T>(body: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Runs one write without a transaction around it, which on PostgreSQL costs a third. */
  statement<T>(body: (handle: Handle) => Promise<T>): Promise<T>
  /** Rejects when the database does not respond within 2 s. */
  ping(): Promise<void>
  /** Waits for running transactions, then closes. Twice safely. */
  close(): Promise<void>
}

/** The result of `Dialect.utf8`: bytes, or base64 where the driver decodes every value as text. */
export type Utf8 = Buffer | string | null

interface TransactionOptions {
  /**
   * One of many that may wait at the same time, such as the stores of all syncing accounts. On SQLite at most one of these waits
   * among the others, so that deliveries keep up with what is stored.
   */
  bulk?: boolean
}

/** SQL that differs between the engines. */
export interface Dialect {
  /** `for update skip locked` on PostgreSQL, nothing on SQLite, which has one writer. Goes at the end of a select. */
  skipLocked: RawBuilder<unknown>
  /** `for update` on PostgreSQL, nothing on SQLite. Goes at the end of a select. */
  forUpdate: RawBuilder<unknown>
  /** The time of the database in milliseconds, constant within a statement. The only clock that replicas share. */
  nowMs: RawBuilder<number>
  /**
   * A derived table of the values, for `select … from ${rows} as r` and `insert … select`. Any number of rows makes the same
   * statement text with one parameter.
   */
  rows<C extends string>(
    columns: Record<C, 'text' | 'bigint'>,
    values: readonly Readonly<Record<C, string | number | null>>[],
  ): RawBuilder<Record<C, string | number | null>>
  /**
   * A large text as UTF-8, for `toBytes`. Node converts a text that is not ASCII to a string and back at 4 µs per kB in each
   * direction.
   */
  utf8(text: RawBuilder<string | null>): RawBuilder<Utf8>
  toBytes(utf8: Utf8): Buffer
  /** True for a violated unique constraint. */
  isUniqueViolation(error: unknown): boolean
  /** True when a value of a row made the statement fail (a constraint, a range), not the state of the database. */
  isRefusedRow(error: unknown): boolean
}
