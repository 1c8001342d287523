/** The database: one interface, two engines. Rooms add their tables to `Tables` by declaration merging. */
export { type DataLock, lockDataFolder } from './data-lock.ts'
export type { Db, Dialect, Handle, Tables, Tx } from './db.ts'
export { type Migration, type MigrationStatus, migrateUp, migrationStatus, requireMigrated } from './migrate.ts'
export { openPostgres } from './postgres.ts'
export { openSqlite } from './sqlite.ts'
export { findState, lockState, setState, stateOr } from './state.ts'
export { DatabaseUnavailable } from './unavailable.ts'
export { updateEach } from './values.ts'
