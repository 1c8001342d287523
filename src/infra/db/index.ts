/** The database: one interface for SQLite and PostgreSQL. Features add their tables to `Tables` by declaration merging. */
export { type DataLock, lockDataFolder } from './data-lock.ts'
export { DatabaseUnavailable, type Db, type Dialect, type Handle, type Tables, type Tx } from './db.ts'
export { insertRows } from './insert-rows.ts'
export { type Migration, type MigrationStatus, migrateUp, migrationStatus, requireMigrated } from './migrate.ts'
export { openPostgres } from './postgres.ts'
export { openSqlite } from './sqlite.ts'
export { findState, lockState, setState, stateOr } from './state.ts'
export { updateEach } from './update-each.ts'
