import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import Database from 'libsql'
import { withTimeout } from '../../lib/abort.ts'
import { EventLoopShare } from '../../lib/event-loop.ts'
import type { Db, Dialect, Tables } from './db.ts'
import { SqliteDriver } from './sqlite-driver.ts'
import { runTransaction } from './transaction.ts'

export interface SqliteOptions {
  /** Path of the database file in an existing folder. */
  file: string
  /** NORMAL is safe when the process is killed; FULL also on power loss, at the cost of one fsync per commit. */
  synchronous: 'NORMAL' | 'FULL'
  onSlowStatement: (sql: string, ms: number) => void
}

/** Opens the file store: WAL, one writer connection, and one reader that rejects writes. For one process only, see `data-lock.ts`. */
export function openSqlite(options: SqliteOptions): Db {
  const eventLoop = new EventLoopShare(MAX_TURN_MS)
  const writer = driver(options, eventLoop, [
    'journal_mode = wal',
    `synchronous = ${options.synchronous}`,
    'foreign_keys = on',
    `wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
  ])
  const reader = driver(options, eventLoop, ['query_only = on'])
  const write = kysely(writer)
  const read = kysely(reader)
  return {
    engine: 'sqlite',
    read,
    dialect: sqliteDialect,
    transaction: (body) => runTransaction(write, body),
    async ping() {
      await withTimeout(sql`select 1`.execute(read), PING_MS, () => new Error('the database did not respond in 2 s'))
    },
    // Kysely does not close a driver that was never used.
    close: () => Promise.all([writer.destroy(), reader.destroy()]).then(() => undefined),
  }
}

const PING_MS = 2000
/** Statements hold the event loop for at most this long, plus one transaction. */
const MAX_TURN_MS = 4
/**
 * 32 MB. A checkpoint writes each changed page once and waits for the disk, so fewer checkpoints are cheaper. Under load a
 * commit takes 0.42 ms on average, against 0.45 ms with SQLite's default of 1,000 pages.
 */
const CHECKPOINT_PAGES = 8000

function driver(options: SqliteOptions, eventLoop: EventLoopShare, pragmas: string[]): SqliteDriver {
  const database = new Database(options.file)
  database.exec(
    ['busy_timeout = 5000', 'cache_size = -32000', ...pragmas].map((pragma) => `pragma ${pragma};`).join(''),
  )
  return new SqliteDriver(database, eventLoop, options.onSlowStatement)
}

function kysely(connection: SqliteDriver): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => connection,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
}

const sqliteDialect: Dialect = {
  skipLocked: sql``,
  forUpdate: sql``,
  nowMs: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  rows(columns, values) {
    const fields = Object.keys(columns).map((name) => sql`value ->> ${sql.lit(`$.${name}`)} as ${sql.id(name)}`)
    return sql`(select ${sql.join(fields)} from json_each(${JSON.stringify(values)}))`
  },
  isUniqueViolation: (error) => error instanceof Error && /UNIQUE constraint failed/i.test(error.message),
  isRefusedRow: (error) =>
    error instanceof TypeError ||
    (error instanceof Error &&
      'code' in error &&
      /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/.test(String(error.code))),
}
