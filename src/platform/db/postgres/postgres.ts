import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { sleep, withTimeout } from '../../concurrency/abort.ts'
import { errorCode } from '../../errors/describe-error.ts'
import type { Db, Dialect, Tables } from '../db.ts'
import { runTransaction } from '../transaction.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { checkedPool } from './pool.ts'
import { SilenceWatch, type SilenceWatchOptions } from './silence.ts'

export interface PostgresOptions {
  url: string
  maxConnections: number
  onError: (error: Error) => void
  /** The timeout of a new connection. Default 10,000. */
  connectTimeoutMs?: number
  /** The timeout of a query; the server cancels a statement after 60 s. Default 75,000. */
  queryTimeoutMs?: number
  /** When a silent server is noticed. Tests make it small. */
  silence?: Pick<SilenceWatchOptions, 'afterMs' | 'probeMs'>
  /** Where unqualified names are looked up and created. Default: as the database has it for the user. */
  schema?: string
  /** False for maintenance, whose statements may take any time. Default true. */
  hasTimeouts?: boolean
}

const INT8 = 20
const NUMERIC = 1700
const RETRIED = new Set(['40001', '40P01'])
const MAX_ATTEMPTS = 4
const PING_MS = 2000
const STATEMENT_MS = 60_000

/** Opens a connection pool. 64-bit integers and their sums are read as numbers: all of ours are below 2^53. */
export function openPostgres(options: PostgresOptions): Db {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    ...(options.hasTimeouts !== false && {
      idle_in_transaction_session_timeout: 30_000,
      statement_timeout: STATEMENT_MS,
      // Otherwise a query on a connection that went silent fails only after minutes, when the kernel closes it.
      query_timeout: options.queryTimeoutMs ?? STATEMENT_MS + 15_000,
    }),
    keepAlive: true,
    application_name: 'posthorn',
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid, format),
    },
  } as pg.PoolConfig)
  pool.on('error', options.onError)
  // The pool listens to idle clients only. An unhandled error inside a transaction would end the process.
  pool.on('connect', (client) => {
    client.on('error', options.onError)
    // Sent before the first query of the connection.
    if (options.schema !== undefined) client.query(`set search_path to "${options.schema}"`).catch(options.onError)
  })
  const silence = options.hasTimeouts === false ? undefined : new SilenceWatch({ url: options.url, ...options.silence })
  const handle = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: checkedPool(pool, silence) }) })
  let closing: Promise<void> | undefined
  return {
    engine: 'postgres',
    read: handle,
    dialect: postgresDialect,
    transaction: (body) => withRetries(() => runTransaction(handle, body)),
    statement: (body) => withRetries(() => body(handle)),
    async ping() {
      const response = pool.query({ text: 'select 1', query_timeout: PING_MS } as pg.QueryConfig)
      // Includes the wait for a free connection.
      await withTimeout(response, PING_MS, () => new Error('the database did not respond in 2 s'))
    },
    close() {
      closing ??= pool.end().finally(() => silence?.close())
      return closing
    },
  }
}

async function withRetries<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      if (!RETRIED.has(errorCode(error))) throw error
      if (attempt >= MAX_ATTEMPTS) throw new DatabaseUnavailable('busy', error)
      await sleep(attempt * 20 * Math.random())
    }
  }
}

const postgresDialect: Dialect = {
  skipLocked: sql`for update skip locked`,
  forUpdate: sql`for update`,
  // clock_timestamp() is volatile: a comparison with it cannot use an index.
  nowMs: sql<number>`cast(extract(epoch from statement_timestamp()) * 1000 as bigint)`,
  rows(columns, values) {
    const types = Object.entries(columns).map(([name, type]) => sql`${sql.id(name)} ${sql.raw(String(type))}`)
    const recordset = sql`json_to_recordset(cast(${JSON.stringify(values)} as json)) as "given"(${sql.join(types)})`
    // From the limit the planner knows the number of rows: it assumes 100 for any function.
    return sql`(select * from ${recordset} limit ${values.length})`
  },
  // The driver decodes every value as UTF-8 text, and bytea is hexadecimal, twice as long.
  utf8: (text) => sql`encode(convert_to(${text}, 'UTF8'), 'base64')`,
  toBytes: (utf8) => (Buffer.isBuffer(utf8) ? utf8 : Buffer.from(utf8 ?? '', 'base64')),
  isUniqueViolation: (error) => errorCode(error) === '23505',
  // Data exception, integrity violation, program limit, or raised by a trigger.
  isRefusedRow: (error) => /^(22|23|54|P0)/.test(errorCode(error)),
}
