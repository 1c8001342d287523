import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sql } from 'kysely'
import type { Config } from '../config/index.ts'
import {
  DatabaseUnavailable,
  type Db,
  lockDataFolder,
  migrateUp,
  openPostgres,
  openSqlite,
  requireMigrated,
} from '../infra/db/index.ts'
import type { Log } from '../infra/log/index.ts'
import { migrations } from '../migrations/index.ts'

export interface Store {
  db: Db
  /** Closes the database, then frees the data folder. Twice safely. */
  close(): Promise<void>
}

/**
 * PostgreSQL with DATABASE_URL, else the file store with its folder locked against a second process (waits up to 40 s,
 * or until `aborted`).
 */
export async function openStore(config: Config, log: Log, aborted?: AbortSignal): Promise<Store> {
  if (config.databaseUrl !== undefined) {
    const db = openPostgres({
      url: config.databaseUrl,
      maxConnections: config.databaseMaxConnections,
      onError: (error) => log.warn('A database connection was lost.', { operation: 'db.connection', error }),
    })
    await checkConnection(db)
    return { db, close: () => db.close() }
  }
  const folder = resolve(config.dataDir)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock = await lockDataFolder(folder, {
    onWait: () => log.warn(`The data folder ${folder} is in use by another process; waiting for it.`),
    aborted,
  })
  const db = openFileStore(config, log)
  return {
    db,
    async close() {
      await db.close()
      lock.release()
    },
  }
}

/** Reports a wrong address or password now, with the name of the setting, instead of at the first query. */
async function checkConnection(db: Db): Promise<void> {
  try {
    await sql`select 1`.execute(db.read)
  } catch (error) {
    await db.close()
    if (!(error instanceof DatabaseUnavailable)) throw error
    throw new Error(`Cannot use the database of DATABASE_URL: ${error.reason}`, { cause: error })
  }
}

export function fileStorePath(config: Config): string {
  return join(resolve(config.dataDir), 'posthorn.db')
}

/** Without the lock: for reading beside a running service. */
export function openFileStore(config: Config, log: Log): Db {
  return openSqlite({
    file: fileStorePath(config),
    synchronous: config.synchronous,
    onSlowStatement: (text, ms) =>
      log.info('A statement was slow.', {
        operation: 'db.slow',
        durationMs: ms,
        metadata: { sql: text.slice(0, 500) },
      }),
  })
}

/** Brings the schema up to date, or, with AUTO_APPLY_MIGRATIONS off, throws when it is not. */
export async function migrateAtStart(db: Db, config: Config, log: Log): Promise<void> {
  if (!config.autoApplyMigrations) return requireMigrated(db, migrations)
  await migrateUp(db, migrations, (name) => log.info(`Migrated the database: ${name}.`, { operation: 'db.migrate' }))
}
