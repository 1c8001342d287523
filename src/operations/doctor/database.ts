import { sql } from 'kysely'
import { type Db, type Migration, migrationStatus, unknownMigrations } from '../../platform/db/index.ts'
import { describeError } from '../../platform/errors/describe-error.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import { type Check, type Finding, failed, ok, Skip, warning } from './check.ts'

interface DatabaseChecksDeps {
  /** Opens the database once, for reading. Undefined for a file store that no start has created yet. */
  open(): Promise<Db | undefined>
  isPostgres: boolean
  migrations: readonly Migration[]
  /** Whether a start applies pending migrations. */
  appliesMigrations: boolean
  /** How many connections one instance may open. */
  maxConnections: number
}

/** Reachable, version, migrations; on PostgreSQL also the privileges of the user and free connections. */
export function databaseChecks(deps: DatabaseChecksDeps): Check[] {
  const { isPostgres } = deps
  return [
    { name: 'database', run: () => reachable(deps) },
    { name: 'migrations', run: async () => migrated(await openedBy(deps), deps) },
    ...(isPostgres
      ? [
          { name: 'database privileges', run: async () => privileges(await openedBy(deps)) },
          { name: 'database connections', run: async () => connections(await openedBy(deps), deps) },
        ]
      : []),
  ]
}

/** The database for a check that needs one. Another check reports why there is none. */
export async function openedBy({ open }: Pick<DatabaseChecksDeps, 'open'>): Promise<Db> {
  const db = await open().catch((error: unknown) => {
    rethrowProgrammingError(error)
    throw new Skip('The database cannot be reached.')
  })
  if (db === undefined) throw new Skip('The first start creates the database.')
  return db
}

async function reachable({ open, isPostgres }: DatabaseChecksDeps): Promise<Finding> {
  try {
    const db = await open()
    if (db === undefined) return ok('The first start creates the file store.')
    if (!isPostgres) {
      const { rows } = await sql<{ version: string }>`select sqlite_version() as "version"`.execute(db.read)
      return ok(`The file store can be read (SQLite ${rows[0]?.version}).`)
    }
    const { rows } = await sql<{ version: string }>`select current_setting('server_version') as "version"`.execute(
      db.read,
    )
    return ok(`PostgreSQL ${rows[0]?.version} responds.`)
  } catch (error) {
    rethrowProgrammingError(error)
    return isPostgres
      ? failed(
          `Cannot connect to PostgreSQL: ${describeError(error)}`,
          'Check DATABASE_URL, and that PostgreSQL runs and accepts connections from this machine.',
        )
      : failed(
          `Cannot read the file store: ${describeError(error)}`,
          'Check DATA_DIR and the permissions of its files.',
        )
  }
}

async function migrated(db: Db, { migrations, appliesMigrations }: DatabaseChecksDeps): Promise<Finding> {
  const { applied, pending, unknown } = await migrationStatus(db, migrations)
  if (unknown.length > 0) {
    const { problem, remedy } = unknownMigrations(unknown)
    return failed(problem, remedy)
  }
  if (pending.length === 0) return ok(`All ${applied.length} migrations are applied.`)
  const message = `Pending migrations: ${pending.length}.`
  return appliesMigrations
    ? warning(message, 'The next start applies them. To do it now, stop the service and run: posthorn migrate up')
    : failed(message, 'Run: posthorn migrate up')
}

/** Tables that every version has and that the service both reads and writes. */
const TABLES = ['accounts', 'events', 'webhookDeliveries', 'migrations']

async function privileges(db: Db): Promise<Finding> {
  const schema = await sql<{ name: string | null; user: string; mayCreate: boolean | null }>`
    select current_schema() as "name", current_user as "user",
      has_schema_privilege(current_schema(), 'CREATE') as "mayCreate"`.execute(db.read)
  const { name = null, user = '', mayCreate = null } = schema.rows[0] ?? {}
  if (name === null) {
    return failed('No schema of the search path exists.', 'Create the schema, or correct the search_path of the user.')
  }
  const grant = `In PostgreSQL, run: grant all on schema "${name}" to "${user}"`
  if (mayCreate !== true) return failed(`The user ${user} must not create tables in the schema ${name}.`, grant)
  const tables = await sql<{ name: string; mayWrite: boolean; isOwned: boolean }>`
    select c.relname as "name", pg_has_role(c.relowner, 'USAGE') as "isOwned",
      has_table_privilege(c.oid, 'SELECT') and has_table_privilege(c.oid, 'INSERT')
        and has_table_privilege(c.oid, 'UPDATE') and has_table_privilege(c.oid, 'DELETE') as "mayWrite"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${name} and c.relkind in ('r', 'p') and c.relname in (${sql.join(TABLES)})
    order by c.relname`.execute(db.read)
  const joinNames = (rows: readonly { name: string }[]) => rows.map((row) => row.name).join(', ')
  const refused = tables.rows.filter(({ mayWrite }) => !mayWrite)
  if (refused.length > 0) {
    return failed(
      `The user ${user} must not write the tables ${joinNames(refused)}.`,
      `In PostgreSQL, run: grant all on all tables in schema "${name}" to "${user}"`,
    )
  }
  const foreign = tables.rows.filter(({ isOwned }) => !isOwned)
  if (foreign.length > 0) {
    return warning(
      `The tables ${joinNames(foreign)} belong to another user, so migrations of a newer version will fail.`,
      `Make ${user} their owner, or migrate as their owner: posthorn migrate up`,
    )
  }
  return ok(`The user ${user} may create and write tables in the schema ${name}.`)
}

async function connections(db: Db, { maxConnections }: DatabaseChecksDeps): Promise<Finding> {
  // pg_stat_activity shows other users' connections to superusers only.
  const { rows } = await sql<{ most: number; reserved: number; used: number }>`
    select current_setting('max_connections')::int as "most",
      current_setting('superuser_reserved_connections')::int as "reserved",
      (select coalesce(sum(numbackends), 0)::int from pg_stat_database) as "used"`.execute(db.read)
  const { most = 0, reserved = 0, used = 0 } = rows[0] ?? {}
  const left = Math.max(most - reserved - used, 0)
  const message = `${left} of ${most} connections are free; an instance opens at most ${maxConnections}.`
  if (left >= maxConnections) return ok(message)
  return warning(message, 'Raise max_connections in PostgreSQL, or lower DATABASE_MAX_CONNECTIONS.')
}
