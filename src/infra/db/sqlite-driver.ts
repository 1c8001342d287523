import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from 'kysely'
import type Database from 'libsql'
import type { EventLoopShare } from '../../lib/event-loop.ts'
import { type Bindable, bindable } from './bindable.ts'
import { Turns } from './turns.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/**
 * One libsql handle as a Kysely driver; callers take turns, first come first served. A caller whose turn comes late in a turn
 * of the event loop begins in the next one, so that no number of transactions or reads keeps other callbacks waiting.
 */
export class SqliteDriver implements Driver {
  readonly #database: Database.Database
  readonly #connection: DatabaseConnection
  readonly #onSlow: (sql: string, ms: number) => void
  readonly #eventLoop: EventLoopShare
  readonly #turns = new Turns('the database was busy with another transaction for 30 s', 30_000)
  readonly #statements = new Map<string, Database.Statement>()
  #closing: Promise<void> | undefined

  /** The drivers of one database share `eventLoop`: what one has used of a turn is missing to the other. */
  constructor(database: Database.Database, eventLoop: EventLoopShare, onSlow: (sql: string, ms: number) => void) {
    this.#database = database
    this.#eventLoop = eventLoop
    this.#onSlow = onSlow
    this.#connection = { executeQuery: (query) => this.#run(query), streamQuery: () => this.#noStreams() }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#closing !== undefined) throw new DatabaseUnavailable(new Error('it is closed'))
    await this.#turns.take().catch((error: unknown) => {
      throw new DatabaseUnavailable(error)
    })
    const yielding = this.#eventLoop.yieldIfHeld()
    if (yielding !== undefined) await yielding
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    this.#turns.give()
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    // "immediate": the write lock is taken now, so no statement inside can fail with SQLITE_BUSY.
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A full disk rolls back by itself; the error to tell is that one, not "no transaction is active".
    if (this.#database.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  /** Waits for whoever has or awaits the turn, then closes. Twice safely. */
  destroy(): Promise<void> {
    this.#closing ??= this.#turns.take().finally(() => {
      // A cached statement would keep the file open, and would still run.
      this.#statements.clear()
      this.#database.close()
    })
    return this.#closing
  }

  async #run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const startedMs = performance.now()
    const parameters = query.parameters.map(integerKept)
    const statement = this.#prepare(query.sql)
    try {
      if (statement.reader) return { rows: statement.all(parameters) as R[] }
      const { changes, lastInsertRowid } = statement.run(parameters)
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    } catch (error) {
      throw isOutOfOrder(error) ? new DatabaseUnavailable(error) : error
    } finally {
      const tookMs = performance.now() - startedMs
      if (tookMs > SLOW_MS) this.#onSlow(query.sql, tookMs)
    }
  }

  /** Preparing costs more than running a point query; the texts are few because values are always parameters. */
  #prepare(sql: string): Database.Statement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear()
    this.#statements.set(sql, statement)
    return statement
  }

  #noStreams(): never {
    throw new Error('The file store does not stream; page instead.')
  }
}

/** The disk is full or broken, or somebody else holds the file: no fault of the statement. */
function isOutOfOrder(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^SQLITE_(FULL|IOERR|CANTOPEN|BUSY|LOCKED)/.test(String(error.code))
  )
}

/** A statement over this blocks the event loop long enough to be worth knowing about. */
const SLOW_MS = 20
const MAX_STATEMENTS = 500

/** libsql binds every JavaScript number as REAL, which divides and prints otherwise than PostgreSQL's integers. */
function integerKept(value: unknown): Bindable {
  const bound = bindable(value)
  return typeof bound === 'number' && Number.isSafeInteger(bound) ? BigInt(bound) : bound
}
