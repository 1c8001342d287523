import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from 'kysely'
import type Database from 'libsql'
import { yieldIfHeld } from '../../concurrency/event-loop.ts'
import { DatabaseUnavailable, sqliteOutage } from '../unavailable.ts'
import { type Bindable, bindable } from './bindable.ts'
import { Mutex } from './mutex.ts'

interface SqliteDriverOptions {
  database: Database.Database
  /** A statement that would begin when an event loop turn has lasted this long begins in the next turn. */
  maxTurnMs: number
  /** Rejects writes. */
  isReader?: boolean
  onSlow: (sql: string, ms: number) => void
  /** Throws when there must not be a transaction. */
  onBegin?: () => void
  onCommit?: () => void
}

/**
 * A Kysely driver on one libsql handle. Callers use it one at a time, in call order. It ends the turn of the event loop
 * between statements, also within a transaction, so that other callbacks run however much there is to read or write.
 */
export class SqliteDriver implements Driver {
  readonly #options: SqliteDriverOptions
  readonly #database: Database.Database
  readonly #connection: DatabaseConnection
  readonly #mutex = new Mutex('another transaction kept the database busy for 30 s', 30_000)
  readonly #statements = new Map<string, Prepared>()
  #closing: Promise<void> | undefined

  constructor(options: SqliteDriverOptions) {
    this.#options = options
    this.#database = options.database
    this.#connection = { executeQuery: (query) => this.#run(query), streamQuery: () => this.#noStreams() }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#closing !== undefined) throw new DatabaseUnavailable('stopping', new Error('the database is closed'))
    await this.#mutex.acquire().catch((error: unknown) => {
      throw new DatabaseUnavailable('busy', error)
    })
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    this.#mutex.release()
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    this.#options.onBegin?.()
    // "immediate" takes the write lock now, so that no later statement fails with SQLITE_BUSY.
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
    this.#options.onCommit?.()
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // On a full disk SQLite has rolled back already; another rollback would hide that error.
    if (this.#database.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  /** Runs `body` while nobody holds the connection; later callers wait for its end. */
  async pause(body: () => Promise<void>): Promise<void> {
    await this.acquireConnection()
    try {
      await body()
    } finally {
      await this.releaseConnection()
    }
  }

  /** Waits for all current callers, then closes. Twice safely. */
  destroy(): Promise<void> {
    this.#closing ??= this.#mutex.acquire().finally(() => {
      // A cached statement would keep the file open.
      this.#statements.clear()
      this.#database.close()
    })
    return this.#closing
  }

  async #run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const yielding = yieldIfHeld(this.#options.maxTurnMs)
    if (yielding !== undefined) await yielding
    const startedMs = performance.now()
    const parameters = query.parameters.map(withIntegers)
    try {
      const { statement, returnsRows } = this.#prepare(query.sql)
      if (returnsRows) return { rows: statement.all(parameters) as R[] }
      const { changes, lastInsertRowid } = statement.run(parameters)
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    } catch (error) {
      throw this.#failure(error)
    } finally {
      const tookMs = performance.now() - startedMs
      if (tookMs > SLOW_MS) this.#options.onSlow(query.sql, tookMs)
    }
  }

  /** Caches statements, because preparing costs more than a lookup by key. Values are parameters, so there are few texts. */
  #prepare(sql: string): Prepared {
    const cached = this.#statements.get(sql)
    if (cached !== undefined) return cached
    const statement = this.#database.prepare(sql)
    // `reader` is a call into libsql, which costs as much as a small statement.
    const prepared = { statement, returnsRows: statement.reader }
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear()
    this.#statements.set(sql, prepared)
    return prepared
  }

  #failure(error: unknown): unknown {
    const outage = sqliteOutage(error)
    // A write over the reader is our own mistake.
    const isMistake = outage === undefined || (outage === 'read_only' && this.#options.isReader === true)
    return isMistake ? error : new DatabaseUnavailable(outage, error)
  }

  #noStreams(): never {
    throw new Error('Streams are not supported; read pages instead.')
  }
}

interface Prepared {
  statement: Database.Statement
  returnsRows: boolean
}

/** A longer statement is logged, because it blocks the event loop. */
const SLOW_MS = 20
const MAX_STATEMENTS = 500

/** libsql binds every number as REAL, which divides and prints differently from an integer. */
function withIntegers(value: unknown): Bindable {
  const bound = bindable(value)
  return typeof bound === 'number' && Number.isSafeInteger(bound) ? BigInt(bound) : bound
}
