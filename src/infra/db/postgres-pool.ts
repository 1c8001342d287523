import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { bindable } from './bindable.ts'
import { DatabaseUnavailable } from './db.ts'
import { mayBePrepared } from './prepared.ts'

/** Wraps the pool for Kysely: converts parameters, and throws when a commit was in fact a rollback. */
export function checkedPool(pool: pg.Pool): PostgresPool {
  const names = preparedNames()
  return {
    connect: async () => new CheckedClient(await connected(pool), names),
    end: () => pool.end(),
  }
}

/** Names statements that may be prepared and are frequent. A connection keeps a named statement with its plan until it closes. */
function preparedNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  /** Runs of the others; minus infinity for those that may not be prepared. */
  const runs = new Map<string, number>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= MAX_PREPARED) return known
    const before = runs.get(text) ?? (mayBePrepared(text) ? 0 : Number.NEGATIVE_INFINITY)
    if (before + 1 < MIN_RUNS) {
      if (runs.size >= MAX_TEXTS) runs.clear()
      runs.set(text, before + 1)
      return undefined
    }
    const name = `posthorn_${names.size + 1}`
    names.set(text, name)
    runs.delete(text)
    return name
  }
}

const MAX_PREPARED = 150
/** Many texts run once, such as an insert of just so many rows. */
const MIN_RUNS = 5
const MAX_TEXTS = 2000

/** Any failure to connect, such as a wrong password, means that the database is unavailable. */
async function connected(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw new DatabaseUnavailable(error)
  }
}

/** A connection of the pool, until `release`. */
class CheckedClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  readonly #nameOf: (text: string) => string | undefined
  #isUsable = true

  constructor(client: pg.PoolClient, nameOf: (text: string) => string | undefined) {
    this.#client = client
    this.#nameOf = nameOf
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R>(text: unknown, values: readonly unknown[] = []): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof text !== 'string') throw new Error('Cursors are not supported; read pages instead.')
    if (text === 'commit') return this.#commit()
    if (text === 'rollback') return this.#rollback()
    return this.#send(text, values.map(bindable))
  }

  release(): void {
    this.#client.release(!this.#isUsable)
  }

  async #send<R>(text: string, values: unknown[]): Promise<PostgresQueryResult<R>> {
    const name = this.#nameOf(text)
    const { command, rowCount, rows } = await this.#checked(
      name === undefined ? this.#client.query(text, values) : this.#client.query({ name, text, values }),
    )
    return { command: commandOf(command), rowCount: rowCount ?? 0, rows }
  }

  async #commit<R>(): Promise<PostgresQueryResult<R>> {
    const { command } = await this.#checked(this.#client.query('commit'))
    // When an error inside the transaction was caught, PostgreSQL rolls back at the commit without an error.
    if (command === 'COMMIT') return NO_ROWS
    throw new Error('the transaction was rolled back, because its body caught the error of a statement')
  }

  async #rollback<R>(): Promise<PostgresQueryResult<R>> {
    // The connection does not respond; a rollback would only time out again.
    if (!this.#isUsable) return NO_ROWS
    try {
      await this.#client.query('rollback')
    } catch {
      // The connection is lost and the transaction with it. The caller throws the error that led to the rollback.
      this.#isUsable = false
    }
    return NO_ROWS
  }

  async #checked<T>(query: Promise<T>): Promise<T> {
    try {
      return await query
    } catch (error) {
      // A late result of this query would arrive as the result of the next one.
      if (isReadTimeout(error)) this.#isUsable = false
      throw isLostConnection(error) ? new DatabaseUnavailable(error) : error
    }
  }
}

/** True when the connection broke or the server ended it (connection exceptions, shutdown). */
function isLostConnection(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|57P0[123])/.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  return 'syscall' in error || /^Connection terminated|not queryable/.test(error.message) || isReadTimeout(error)
}

/** The error of `pg` after `query_timeout`. */
function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

type Command = PostgresQueryResult<unknown>['command']

const COUNTED: readonly Command[] = ['INSERT', 'UPDATE', 'DELETE', 'MERGE']
const NO_ROWS: PostgresQueryResult<never> = { command: 'SELECT', rowCount: 0, rows: [] }

/** Kysely only distinguishes the commands that count changed rows. */
function commandOf(command: string): Command {
  return COUNTED.find((known) => known === command) ?? 'SELECT'
}
