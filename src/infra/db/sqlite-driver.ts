import type { DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely'
import { CompiledQuery } from 'kysely'
import type Database from 'libsql'

/** One libsql handle as a Kysely driver; callers take turns, first come first served. */
export class SqliteDriver implements Driver {
  readonly #database: Database.Database
  readonly #connection: DatabaseConnection
  readonly #onSlow: (sql: string, ms: number) => void
  #turn: Promise<void> = Promise.resolve()
  #release: () => void = () => {}

  constructor(database: Database.Database, onSlow: (sql: string, ms: number) => void) {
    this.#database = database
    this.#onSlow = onSlow
    this.#connection = { executeQuery: (query) => this.#run(query), streamQuery: () => this.#noStreams() }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#turn
    let free: () => void = () => {}
    this.#turn = new Promise((resolve) => {
      free = resolve
    })
    await before
    this.#release = free
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    this.#release()
  }

  async beginTransaction(connection: DatabaseConnection, _settings: TransactionSettings): Promise<void> {
    // "immediate": the write lock is taken now, so no statement inside can fail with SQLITE_BUSY.
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  async destroy(): Promise<void> {
    this.#database.close()
  }

  async #run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const startedMs = performance.now()
    const statement = this.#prepare(query.sql)
    const parameters = query.parameters.map(bindable)
    try {
      if (statement.reader) return { rows: statement.all(parameters) as R[] }
      const { changes, lastInsertRowid } = statement.run(parameters)
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    } finally {
      const tookMs = performance.now() - startedMs
      if (tookMs > SLOW_MS) this.#onSlow(query.sql, tookMs)
    }
  }

  readonly #statements = new Map<string, Database.Statement>()

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

/** A statement over this blocks the event loop long enough to be worth knowing about. */
const SLOW_MS = 20
const MAX_STATEMENTS = 500

/**
 * libsql aborts the whole process on a boolean parameter, so nothing reaches it unchecked. Dates become ISO text, NUL
 * is removed from text, and an object is a mistake of the caller (JSON is stored as text).
 */
export function bindable(value: unknown): string | number | bigint | Buffer | null {
  switch (typeof value) {
    case 'boolean':
      return value ? 1 : 0
    case 'string':
      return value.includes('\0') ? value.replaceAll('\0', '') : value
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('a number bound to SQL must be finite')
      return value
    case 'bigint':
      return value
    case 'undefined':
      return null
    default:
      if (value === null) return null
      if (value instanceof Date) return value.toISOString()
      if (value instanceof Uint8Array) return Buffer.from(value)
      throw new TypeError(`cannot bind ${typeof value} to SQL; store JSON as text`)
  }
}
