/** The database: one interface for SQLite and PostgreSQL. Features add their tables to `Tables` by declaration merging. */
import type { Db } from './db.ts'
import type { PostgresOptions } from './postgres/postgres.ts'
import type { PostgresReplacementOptions } from './postgres/replacement.ts'
import type { PostgresSession, PostgresSessionOptions } from './postgres/session.ts'
import type { Replacement } from './replacement.ts'
import type { Snapshot } from './snapshot.ts'

export { compiledOnce } from './compiled.ts'
export { countMatching, MAX_COUNT } from './count.ts'
export type { Db, Dialect, Handle, Tables, Tx, Utf8 } from './db.ts'
export { insertManyRows, insertRows } from './insert-rows.ts'
export {
  type ClaimedRow,
  databaseTime,
  isLeased,
  isUnleased,
  keepRenewing,
  type LeasedTable,
  LeaseLost,
  leasedRows,
  leaseEnd,
  type RowLease,
  releaseLeasesOfDead,
} from './leased-rows.ts'
export {
  isUnreleased,
  type Migration,
  type MigrationStatus,
  migrateUp,
  migrationStatus,
  requireMigrated,
  unknownMigrations,
} from './migrate.ts'
export { padded } from './padded.ts'
export type { PostgresConnection, PostgresSession } from './postgres/session.ts'
export { PREPARED } from './prepared.ts'
export { emptiedTable, type LoadedTable, type Replacement } from './replacement.ts'
export { findState, lockState, setState, stateOr } from './service-state.ts'
export { type Snapshot, type SnapshotTable, sqliteSnapshot } from './snapshot.ts'
export { type DataLock, lockDataFolder } from './sqlite/data-lock.ts'
export { checkDatabaseFile, damagedRemedy } from './sqlite/database-file.ts'
export { fileReplacement } from './sqlite/file-replacement.ts'
export { openSqlite } from './sqlite/sqlite.ts'
export { DatabaseUnavailable } from './unavailable.ts'
export { updateEach } from './update-each.ts'

/** Opens a connection pool. Loads the driver, which the file store does not need. */
export async function openPostgres(options: PostgresOptions): Promise<Db> {
  const postgres = await import('./postgres/postgres.ts')
  return postgres.openPostgres(options)
}

/** Connects outside the pool. Rejects when that fails, unless it is `optional`: then it goes on trying in the background. */
export async function openPostgresSession(
  options: PostgresSessionOptions & { optional?: boolean },
): Promise<PostgresSession> {
  const module = await import('./postgres/session.ts')
  const session = new module.PostgresSession(options)
  try {
    await session.open()
  } catch (error) {
    if (options.optional !== true) throw error
    options.onRetryFailed(error, 0)
    session.reconnect()
  }
  return session
}

/** One state of PostgreSQL, read in one transaction. */
export async function postgresSnapshot(url: string): Promise<Snapshot> {
  const postgres = await import('./postgres/snapshot.ts')
  return postgres.postgresSnapshot(url)
}

/** Empty tables in a schema of their own, which then take the place of the current ones. */
export async function postgresReplacement(options: PostgresReplacementOptions): Promise<Replacement> {
  const postgres = await import('./postgres/replacement.ts')
  return postgres.postgresReplacement(options)
}
