import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { bindable } from './bindable.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/** The pool as Kysely is given it: parameters pass the gate, and the ends of transactions mean what they say. */
export function checkedPool(pool: pg.Pool): PostgresPool {
  return {
    connect: async () => new CheckedClient(await connected(pool)),
    end: () => pool.end(),
  }
}

/** Whatever keeps us from a connection, a wrong password included, is nothing that a caller did. */
async function connected(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw new DatabaseUnavailable(error)
  }
}

/** One borrowed connection, until `release`. */
class CheckedClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  #isUsable = true

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R>(text: unknown, values: readonly unknown[] = []): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof text !== 'string') throw new Error('PostgreSQL is not asked by cursors here; page instead.')
    if (text === 'commit') return this.#commit()
    if (text === 'rollback') return this.#rollback()
    return this.#send(text, values.map(bindable))
  }

  release(): void {
    this.#client.release(!this.#isUsable)
  }

  async #send<R>(text: string, values: unknown[]): Promise<PostgresQueryResult<R>> {
    const { command, rowCount, rows } = await this.#answered(this.#client.query(text, values))
    return { command: commandOf(command), rowCount: rowCount ?? 0, rows }
  }

  async #commit<R>(): Promise<PostgresQueryResult<R>> {
    const { command } = await this.#answered(this.#client.query('commit'))
    // An error that was caught inside the transaction makes PostgreSQL answer a commit by rolling back, without an error.
    if (command === 'COMMIT') return NO_ROWS
    throw new Error('the transaction was rolled back: an error inside it was caught and not passed on')
  }

  async #rollback<R>(): Promise<PostgresQueryResult<R>> {
    // Of one that went silent it would only be waited for again.
    if (!this.#isUsable) return NO_ROWS
    try {
      await this.#client.query('rollback')
    } catch {
      // The connection is gone, and the transaction with it; the error to tell is the one that led here.
      this.#isUsable = false
    }
    return NO_ROWS
  }

  async #answered<T>(query: Promise<T>): Promise<T> {
    try {
      return await query
    } catch (error) {
      // It would answer the next question with what is still to come.
      if (isSilent(error)) this.#isUsable = false
      throw isLostConnection(error) ? new DatabaseUnavailable(error) : error
    }
  }
}

/** What is no answer of the server, or one by which it hangs up: connection exceptions, and the server's shutdown. */
function isLostConnection(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|57P0[123])/.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  return 'syscall' in error || /^Connection terminated|not queryable/.test(error.message) || isSilent(error)
}

/** What `pg` says after `query_timeout`. */
function isSilent(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

type Command = PostgresQueryResult<unknown>['command']

const COUNTED: readonly Command[] = ['INSERT', 'UPDATE', 'DELETE', 'MERGE']
const NO_ROWS: PostgresQueryResult<never> = { command: 'SELECT', rowCount: 0, rows: [] }

/** Kysely only tells apart the commands that count changed rows. */
function commandOf(command: string): Command {
  return COUNTED.find((known) => known === command) ?? 'SELECT'
}
