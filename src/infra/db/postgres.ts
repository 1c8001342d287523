import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { sleep, withTimeout } from '../../lib/abort.ts'
import type { Db, Dialect, Tables } from './db.ts'
import { checkedPool } from './postgres-pool.ts'
import { runTransaction } from './transaction.ts'

export interface PostgresOptions {
  url: string
  maxConnections: number
  onError: (error: Error) => void
  /** How long an answer is waited for; the server itself gives up a statement after 60 s. Default 75,000. */
  answerMs?: number
}

const INT8 = 20
const NUMERIC = 1700
const RETRIED = new Set(['40001', '40P01'])
const MAX_TRIES = 4
const PING_MS = 2000
const STATEMENT_MS = 60_000

/** PostgreSQL through one pool. 64-bit integers and their sums arrive as numbers: ours are times, counts and positions below 2^53. */
export function openPostgres(options: PostgresOptions): Db {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections,
    connectionTimeoutMillis: 10_000,
    idle_in_transaction_session_timeout: 30_000,
    statement_timeout: STATEMENT_MS,
    // A connection that went silent without closing would be waited for until the kernel gives it up, after minutes.
    query_timeout: options.answerMs ?? STATEMENT_MS + 15_000,
    keepAlive: true,
    application_name: 'posthorn',
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid, format),
    },
  } as pg.PoolConfig)
  pool.on('error', options.onError)
  // The pool listens to idle clients only; a lost connection in the middle of a transaction would end the process.
  pool.on('connect', (client) => client.on('error', options.onError))
  const handle = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: checkedPool(pool) }) })
  let closing: Promise<void> | undefined
  return {
    engine: 'postgres',
    read: handle,
    dialect: postgresDialect,
    transaction: (body) => retried(() => runTransaction(handle, body)),
    async ping() {
      const answer = pool.query({ text: 'select 1', query_timeout: PING_MS } as pg.QueryConfig)
      // Waiting for a free connection counts too.
      await withTimeout(answer, PING_MS, () => new Error('the database did not answer in 2 s'))
    },
    close() {
      closing ??= pool.end()
      return closing
    },
  }
}

async function retried<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run()
    } catch (error) {
      if (tries >= MAX_TRIES || !RETRIED.has(codeOf(error))) throw error
      await sleep(tries * 20 * Math.random())
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

const postgresDialect: Dialect = {
  skipLocked: sql`for update skip locked`,
  forUpdate: sql`for update`,
  // Not clock_timestamp(): that is volatile, so a comparison with it can use no index.
  nowMs: sql<number>`cast(extract(epoch from statement_timestamp()) * 1000 as bigint)`,
  rows(columns, values) {
    const types = Object.entries(columns).map(([name, type]) => sql`${sql.id(name)} ${sql.raw(String(type))}`)
    const given = sql`json_to_recordset(cast(${JSON.stringify(values)} as json)) as "given"(${sql.join(types)})`
    // The limit tells the planner how many rows there are: it assumes 100 of any function.
    return sql`(select * from ${given} limit ${values.length})`
  },
  isUniqueViolation: (error) => codeOf(error) === '23505',
  // Data exception, integrity violation, program limit, raised by a trigger.
  isRefusedRow: (error) => /^(22|23|54|P0)/.test(codeOf(error)),
}
