import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import Database from 'libsql'
import { withTimeout } from '../../concurrency/abort.ts'
import { TURN_MS } from '../../concurrency/event-loop.ts'
import type { Db, Dialect, Tables } from '../db.ts'
import { runTransaction } from '../transaction.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { Checkpointer, MAX_WAL_BYTES } from './checkpointer.ts'
import { Mutex } from './mutex.ts'
import { SqliteDriver } from './sqlite-driver.ts'

interface SqliteOptions {
  /** Path of the database file in an existing folder. */
  file: string
  /** NORMAL is safe when the process is killed; FULL also on power loss, at the cost of one fsync per commit. */
  synchronous: 'NORMAL' | 'FULL'
  onSlowStatement: (sql: string, ms: number) => void
  /** Called before each write; throws when there must not be one. */
  beforeWrite?: () => void
  /** A file that is worthless until it is complete: faster, with nothing beside it, and lost when the process is killed. */
  isDraft?: boolean
}

/** Opens the file store: WAL, one writer connection, and one reader that rejects writes. For one process only, see `data-lock.ts`. */
export function openSqlite(options: SqliteOptions): Db {
  const checkpointer = new Checkpointer({
    file: options.file,
    pauseWrites: (body) => writer.pause(body),
    checkpointHere: () => sql`pragma wal_checkpoint(passive)`.execute(write),
  })
  const committed = () => {
    if (options.isDraft !== true) checkpointer.committed()
  }
  const safety = options.isDraft
    ? ['journal_mode = memory', 'synchronous = off']
    : ['journal_mode = wal', `synchronous = ${options.synchronous}`]
  const writer = new SqliteDriver({
    database: open(options.file, [
      ...safety,
      'foreign_keys = on',
      'wal_autocheckpoint = 0',
      `journal_size_limit = ${MAX_WAL_BYTES}`,
    ]),
    maxTurnMs: TURN_MS,
    onSlow: options.onSlowStatement,
    onCommit: committed,
    ...(options.beforeWrite !== undefined && { onBegin: options.beforeWrite }),
  })
  const reader = new SqliteDriver({
    database: open(options.file, ['query_only = on']),
    maxTurnMs: READ_TURN_MS,
    isReader: true,
    onSlow: options.onSlowStatement,
  })
  const bulkTurns = new Mutex('other bulk transactions kept the database busy for 60 s', 60_000)
  const write = kysely(writer)
  const read = kysely(reader)
  return {
    engine: 'sqlite',
    file: options.file,
    read,
    dialect: sqliteDialect,
    async transaction(body, { bulk = false } = {}) {
      if (!bulk) return runTransaction(write, body)
      await bulkTurns.acquire().catch((error: unknown) => {
        throw new DatabaseUnavailable('busy', error)
      })
      try {
        return await runTransaction(write, body)
      } finally {
        bulkTurns.release()
      }
    },
    async statement(body) {
      options.beforeWrite?.()
      const result = await body(write)
      committed()
      return result
    },
    async ping() {
      await withTimeout(sql`select 1`.execute(read), PING_MS, () => new Error('the database did not respond in 2 s'))
    },
    // Kysely does not close a driver that was never used.
    async close() {
      await checkpointer.close()
      await Promise.all([writer.destroy(), reader.destroy()])
    },
  }
}

const PING_MS = 2000
/** Longer than transactions, so that the reads of a request need not wait for one turn each behind a loop of transactions. */
const READ_TURN_MS = 8

function open(file: string, pragmas: string[]): Database.Database {
  const database = new Database(file)
  // Without `cache_size`: SQLite's 2 MB of pages are enough, because the operating system caches the file, too. A larger
  // cache grows page by page among the buffers of sockets, and its pages keep the C heap from shrinking.
  const all = ['busy_timeout = 5000', ...pragmas]
  database.exec(all.map((pragma) => `pragma ${pragma};`).join(''))
  return database
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
  utf8: (text) => sql`cast(${text} as blob)`,
  toBytes: (utf8) => (Buffer.isBuffer(utf8) ? utf8 : Buffer.from(utf8 ?? '')),
  isUniqueViolation: (error) => error instanceof Error && /UNIQUE constraint failed/i.test(error.message),
  isRefusedRow: (error) =>
    error instanceof TypeError ||
    (error instanceof Error &&
      'code' in error &&
      /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)/.test(String(error.code))),
}
