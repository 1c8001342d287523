import { accessSync, constants, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sql } from 'kysely'
import type { Config } from '../config/index.ts'
import { migrations } from '../migrations/index.ts'
import {
  checkDatabaseFile,
  DatabaseUnavailable,
  type DataLock,
  type Db,
  damagedRemedy,
  lockDataFolder,
  migrateUp,
  openPostgres,
  openSqlite,
  requireMigrated,
} from '../platform/db/index.ts'
import { errorCode } from '../platform/errors/describe-error.ts'
import { OperatorError } from '../platform/errors/operator-error.ts'
import type { Log } from '../platform/log/index.ts'

export interface Store {
  db: Db
  /** Closes the database, then unlocks the data folder. Twice safely. */
  close(): Promise<void>
}

/**
 * Opens PostgreSQL with DATABASE_URL, else the file store. Locks the data folder of the file store against other processes;
 * waits for the lock up to 40 s, or until `aborted`.
 */
export async function openStore(config: Config, log: Log, aborted?: AbortSignal): Promise<Store> {
  if (config.databaseUrl !== undefined) {
    const db = await openPostgres({
      url: config.databaseUrl,
      maxConnections: config.databaseMaxConnections,
      onError: (error) =>
        log.warn('Lost a database connection. The pool opens a new one.', { operation: 'db.connection', error }),
    })
    await checkConnection(db)
    return { db, close: () => db.close() }
  }
  const folder = resolve(config.dataDir)
  prepareFolder(folder)
  const file = fileStorePath(config)
  const lock = await lockDataFolder(folder, {
    database: file,
    onWait: () => log.warn(`Another process uses the data folder ${folder}. Waiting for it to stop.`),
    onRelock: () =>
      log.error('The lock file of the data folder was deleted or replaced. It is locked again; do not touch it.', {
        operation: 'db.lock',
        metadata: { folder },
      }),
    aborted,
  })
  const db = openLocked(config, log, lock)
  return {
    db,
    async close() {
      await db.close()
      lock.release()
    },
  }
}

/** Creates the folder where it is missing. Throws for the operator when this user must not write in it. */
function prepareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new OperatorError(
      `Cannot write in the data folder ${folder} (${code}).\nCheck DATA_DIR, and that this user may write there.`,
      { cause: error },
    )
  }
}

/** Opens the file store of a locked folder. Throws for the operator when its file cannot be used. */
function openLocked(config: Config, log: Log, lock: DataLock): Db {
  let db: Db | undefined
  try {
    checkDatabaseFile(fileStorePath(config))
    db = openFileStore(config, log, () => lock.verify())
    lock.confirm()
    return db
  } catch (error) {
    void db?.close()
    lock.release()
    throw startError(config, error)
  }
}

/** Names the file and what to do, when a start failed because SQLite cannot read it. */
export function startError(config: Config, error: unknown): unknown {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error
  const code = errorCode(cause)
  if (!/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return error
  const file = fileStorePath(config)
  return new OperatorError(`${file} is damaged (${code}).\n${damagedRemedy(file)}`, { cause: error })
}

/** Reports a wrong address or password at the start, with the name of the setting. */
async function checkConnection(db: Db): Promise<void> {
  try {
    await sql`select 1`.execute(db.read)
  } catch (error) {
    await db.close()
    if (!(error instanceof DatabaseUnavailable)) throw error
    throw new OperatorError(
      `Cannot connect to the database: ${error.reason}\nCheck DATABASE_URL, and that PostgreSQL accepts connections.`,
      { cause: error },
    )
  }
}

export function fileStorePath(config: Config): string {
  return join(resolve(config.dataDir), 'posthorn.db')
}

/** Opens the file store without the lock. Only for reading beside a running service. */
export function openFileStore(config: Config, log: Log, beforeWrite?: () => void): Db {
  return openSqlite({
    ...(beforeWrite !== undefined && { beforeWrite }),
    file: fileStorePath(config),
    synchronous: config.synchronous,
    onSlowStatement: (text, ms) =>
      log.info('A statement blocked the event loop for over 20 ms.', {
        operation: 'db.slow',
        durationMs: ms,
        metadata: { sql: text.slice(0, 500) },
      }),
  })
}

/** Applies pending migrations, or throws if there are any and AUTO_APPLY_MIGRATIONS is off. */
export async function migrateAtStart(db: Db, config: Config, log: Log): Promise<void> {
  if (!config.autoApplyMigrations) return requireMigrated(db, migrations)
  await migrateUp(db, migrations, (names, isNew) => {
    const text = isNew ? 'Created the database.' : `Migrated the database: ${names.join(', ')}.`
    log.info(text, { operation: 'db.migrate', metadata: { migrations: names } })
  })
}
