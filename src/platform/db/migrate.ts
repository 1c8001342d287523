import { type Kysely, sql } from 'kysely'
import { OperatorError } from '../errors/operator-error.ts'
import type { Db, Handle, Tx } from './db.ts'

/** A migration. `up` runs in a transaction on both engines. There is no `down`: restore a backup instead. */
export interface Migration {
  /**
   * Such as `0001-platform`. Migrations run in the order of their names. A name such as `0010-expand-drafts` promises that the version
   * before works with it: it only adds what that version need not know.
   */
  name: string
  up(db: Kysely<unknown>, engine: Db['engine']): Promise<void>
}

export interface MigrationStatus {
  applied: string[]
  pending: string[]
  /** Of a newer version, and not only additions, so that this version must not use the database: see `unknownMigrations`. */
  unknown: string[]
}

/** In every database from before the first release. None of them can be upgraded. */
const UNRELEASED = '0001-main-job'

/** Names of migrations beside which the version before works. */
const EXPANSION = /^\d{4}-expand-/

/** An arbitrary number: all advisory locks of a database share one namespace. */
const CREATE_LOCK = 7_074_831

interface MigrationTable {
  name: string
  appliedAt: number
}

declare module './db.ts' {
  interface Tables {
    migrations: MigrationTable
  }
}

export async function migrationStatus(db: Db, all: readonly Migration[]): Promise<MigrationStatus> {
  const applied = (await hasTable(db)) ? await appliedNames(db.read) : []
  return toStatus(applied, all)
}

/**
 * Applies the pending migrations: to an empty database all in one transaction, so that a process killed meanwhile leaves it
 * empty, else each in its own. Calls `onApplied` after every commit, with the names; `isNew` when the database was empty.
 * Replicas may do so at the same time: each step locks the table, then checks again what is pending. Throws without changes
 * when a migration is unknown.
 */
export async function migrateUp(
  db: Db,
  all: readonly Migration[],
  onApplied: (names: readonly string[], isNew: boolean) => void,
): Promise<void> {
  const created = await db.transaction((tx) => createSchema(tx, db, all))
  if (created.length > 0) return onApplied(created, true)
  for (const migration of all) {
    const ran = await db.transaction(async (tx) => {
      await lockTable(tx, db.engine)
      const { pending } = toStatus(await appliedNames(tx), all)
      if (!pending.includes(migration.name)) return false
      await apply(tx, db, migration)
      return true
    })
    if (ran) onApplied([migration.name], false)
  }
}

/** Returns the names of the migrations that it applied: all to an empty database, else none. */
async function createSchema(tx: Tx, db: Db, all: readonly Migration[]): Promise<string[]> {
  await createTable(tx, db.engine)
  const applied = await appliedNames(tx)
  rejectUnknown(toStatus(applied, all).unknown)
  if (applied.length > 0) return []
  for (const migration of all) await apply(tx, db, migration)
  return all.map(({ name }) => name)
}

async function apply(tx: Tx, db: Db, { name, up }: Migration): Promise<void> {
  await up(tx as unknown as Kysely<unknown>, db.engine)
  await tx.insertInto('migrations').values({ name, appliedAt: db.dialect.nowMs }).execute()
}

/** Throws unless the migrations of this version are applied, and besides them only additions of a newer one. */
export async function requireMigrated(db: Db, all: readonly Migration[]): Promise<void> {
  const { pending, unknown } = await migrationStatus(db, all)
  rejectUnknown(unknown)
  if (pending.length > 0) {
    throw new OperatorError(
      `The database has pending migrations (${pending.join(', ')}) and AUTO_APPLY_MIGRATIONS is off. Run: posthorn migrate up`,
    )
  }
}

/** True for a database or backup from before the first release. */
export function isUnreleased(applied: readonly string[]): boolean {
  return applied.includes(UNRELEASED)
}

/** Explains why a database with these migrations, unknown to this version, cannot be used, and what to do. */
export function unknownMigrations(unknown: readonly string[]): { problem: string; remedy: string } {
  if (isUnreleased(unknown)) {
    return {
      problem: 'The database is from before the first release of Posthorn and cannot be upgraded.',
      remedy: 'Start with an empty one: another DATA_DIR, or another database in DATABASE_URL.',
    }
  }
  return {
    problem: `The database was migrated by a newer Posthorn (${unknown.join(', ')}).`,
    remedy: 'Start that version, or restore a backup.',
  }
}

function rejectUnknown(unknown: readonly string[]): void {
  if (unknown.length === 0) return
  const { problem, remedy } = unknownMigrations(unknown)
  throw new OperatorError(`${problem} ${remedy}`)
}

function toStatus(applied: string[], all: readonly Migration[]): MigrationStatus {
  const names = all.map((migration) => migration.name)
  return {
    applied: names.filter((name) => applied.includes(name)),
    pending: names.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !names.includes(name) && !EXPANSION.test(name)),
  }
}

/** Searches only where unqualified names resolve: another schema may have a table of this name. */
async function hasTable(db: Db): Promise<boolean> {
  const found =
    db.engine === 'postgres'
      ? sql`select 1 from pg_class where oid = to_regclass('migrations')`
      : sql`select 1 from sqlite_master where type = 'table' and name = 'migrations'`
  return (await found.execute(db.read)).rows.length > 0
}

async function createTable(tx: Tx, engine: Db['engine']): Promise<void> {
  if (engine === 'postgres') {
    await waitLong(tx)
    // Even with "if not exists", two replicas that create it at the same time collide in PostgreSQL's catalogue.
    await sql`select pg_advisory_xact_lock(${CREATE_LOCK})`.execute(tx)
  }
  await tx.schema
    .createTable('migrations')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('appliedAt', 'bigint', (column) => column.notNull())
    .execute()
}

async function lockTable(tx: Tx, engine: Db['engine']): Promise<void> {
  if (engine !== 'postgres') return
  await waitLong(tx)
  await sql`lock table "migrations" in access exclusive mode`.execute(tx)
}

/** Migrating a large table, or waiting for a replica that does, takes longer than the usual limit. */
async function waitLong(tx: Tx): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(tx)
}

async function appliedNames(handle: Handle): Promise<string[]> {
  const rows = await handle.selectFrom('migrations').select('name').orderBy('name').execute()
  return rows.map((row) => row.name)
}
