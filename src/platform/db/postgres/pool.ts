import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { isOutOfFiles } from '../../errors/open-files.ts'
import { mayBePrepared } from '../prepared.ts'
import { bindable } from '../sqlite/bindable.ts'
import { DatabaseUnavailable, type Outage, postgresOutage } from '../unavailable.ts'
import type { SilenceWatch } from './silence.ts'

/** Wraps the pool for Kysely: converts parameters, and throws when a commit was in fact a rollback. */
export function checkedPool(pool: pg.Pool, silence: SilenceWatch | undefined): PostgresPool {
  const prepareName = preparedNames()
  const generations = new Generations()
  return {
    connect: async () => {
      const client = await connected(pool, generations, silence)
      return new CheckedClient(client, { prepareName, generations, silence })
    },
    end: () => pool.end(),
  }
}

/**
 * After a failover, connections to the old server stay open, and it rejects their writes. All connections that exist then are replaced:
 * those that only read would read old rows.
 */
class Generations {
  readonly #of = new WeakMap<pg.PoolClient, number>()
  #current = 0
  #endedAtMs = Number.NEGATIVE_INFINITY

  isOver(client: pg.PoolClient): boolean {
    const generation = this.#of.get(client)
    if (generation === undefined) this.#of.set(client, this.#current)
    return generation !== undefined && generation < this.#current
  }

  /** At most once in a second, because the server may stay read-only for long. */
  end(): void {
    const nowMs = performance.now()
    if (nowMs - this.#endedAtMs < GENERATION_MS) return
    this.#endedAtMs = nowMs
    this.#current += 1
  }
}

const GENERATION_MS = 1000

/** Names statements that may be prepared and are frequent. A connection keeps a named statement with its plan until it closes. */
function preparedNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  /** Runs of the others; minus infinity for those that may not be prepared. */
  const runs = new Map<string, number>()
  return (text) => {
    const prepared = names.get(text)
    if (prepared !== undefined || names.size >= MAX_PREPARED) return prepared
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
async function connected(
  pool: pg.Pool,
  generations: Generations,
  silence: SilenceWatch | undefined,
): Promise<pg.PoolClient> {
  if (silence?.isSilent) throw new DatabaseUnavailable('silent', new Error('no response to a new connection'))
  try {
    for (;;) {
      const client = await pool.connect()
      if (!generations.isOver(client)) return client
      client.release(true)
    }
  } catch (error) {
    throw new DatabaseUnavailable(outageOfConnecting(error, silence), error)
  }
}

function outageOfConnecting(error: unknown, silence: SilenceWatch | undefined): Outage {
  if (silence?.isSilent) return 'silent'
  if (isOutOfFiles(error)) return 'out_of_files'
  // The error of the pool when no connection was free, or none could be opened, within its timeout.
  if (error instanceof Error && /^timeout exceeded/.test(error.message)) return 'busy'
  return postgresOutage(error) ?? 'unreachable'
}

interface ClientDeps {
  prepareName(text: string): string | undefined
  generations: Generations
  silence: SilenceWatch | undefined
}

/** A connection of the pool, until `release`. */
class CheckedClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  readonly #deps: ClientDeps
  #isUsable = true
  #isSilent = false

  constructor(client: pg.PoolClient, deps: ClientDeps) {
    this.#client = client
    this.#deps = deps
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
    this.#client.release(!this.#isUsable || this.#deps.generations.isOver(this.#client))
  }

  async #send<R>(text: string, values: unknown[]): Promise<PostgresQueryResult<R>> {
    const name = this.#deps.prepareName(text)
    const { command, rowCount, rows } = await this.#checked(
      name === undefined ? this.#client.query(text, values) : this.#client.query({ name, text, values }),
    )
    return { command: parseCommand(command), rowCount: rowCount ?? 0, rows }
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
    const forget = this.#deps.silence?.watch(() => this.#hangUp())
    try {
      return await query
    } catch (error) {
      throw this.#failure(error)
    } finally {
      forget?.()
    }
  }

  /** Makes the running query fail. */
  #hangUp(): void {
    this.#isSilent = true
    this.#isUsable = false
    // The types of the pool leave out what its clients inherit.
    if ('end' in this.#client && typeof this.#client.end === 'function') void this.#client.end()
  }

  #failure(error: unknown): unknown {
    if (this.#isSilent) return new DatabaseUnavailable('silent', error)
    if (error instanceof pg.DatabaseError) {
      // Their repetition comes first.
      if (error.code?.startsWith('40')) return error
      const outage = postgresOutage(error)
      if (outage === 'read_only') this.#deps.generations.end()
      if (UNUSABLE.test(error.code ?? '')) this.#isUsable = false
      return outage === undefined ? error : new DatabaseUnavailable(outage, error)
    }
    // A late result of this query would arrive as the result of the next one.
    if (isReadTimeout(error)) this.#isUsable = false
    return isLostConnection(error) ? new DatabaseUnavailable('unreachable', error) : error
  }
}

/** The connection is open, but a proxy lost the server behind it, or moved it to one that does not know its prepared statements. */
const UNUSABLE = /^(08|26000)/

/** True when the connection broke. */
function isLostConnection(error: unknown): boolean {
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
function parseCommand(command: string): Command {
  return COUNTED.find((candidate) => candidate === command) ?? 'SELECT'
}
