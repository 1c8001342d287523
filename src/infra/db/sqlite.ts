import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import Database from 'libsql'
import { withTimeout } from '../../lib/abort.ts'
import { EventLoopShare } from '../../lib/event-loop.ts'
import type { Db, Dialect, Tables } from './db.ts'
import { SqliteDriver } from './sqlite-driver.ts'
import { runTransaction } from './transaction.ts'

export interface SqliteOptions {
  /** Path of the database file; its folder exists. */
  file: string
  /** NORMAL survives a killed process; FULL also survives power loss, at the price of one fsync per commit. */
  synchronous: 'NORMAL' | 'FULL'
  onSlowStatement: (sql: string, ms: number) => void
}

/** The file store: WAL, one writer connection, one reader that refuses writes. One process only (see `data-lock.ts`). */
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
      await withTimeout(sql`select 1`.execute(read), PING_MS, () => new Error('the database did not answer in 2 s'))
    },
    // Not through Kysely: it does not close what was never used.
    close: () => Promise.all([writer.destroy(), reader.destroy()]).then(() => undefined),
  }
}

const PING_MS = 2000
/** Statements keep other callbacks waiting for at most this long, and for one transaction more. */
const MAX_TURN_MS = 4
/**
 * 32 MB. A checkpoint writes each changed page once however often it changed, and waits for the disk: under load a commit takes
 * 0.42 ms on average instead of 0.45 at SQLite's own 1,000 pages.
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
