import { sql } from 'kysely'
import type { Db } from './db.ts'

/** An empty database beside the current one that is filled and then takes its place. */
export interface Replacement {
  readonly db: Db
  /**
   * Replaces the current database in one step: a process that is killed leaves the one or the other. Nothing may use the current
   * database. Ends the replacement.
   */
  swap(): Promise<void>
  /** Deletes it, unless it was swapped. Twice safely. */
  close(): Promise<void>
}

export interface LoadedTable {
  table: string
  /** Inserts rows, given as JSON arrays of the columns. */
  insert(rows: readonly string[]): Promise<void>
}

/** Empties the table for rows of these columns. Undefined if it does not exist; throws if it lacks a column. */
export async function emptiedTable(
  db: Db,
  table: string,
  columns: readonly string[],
): Promise<LoadedTable | undefined> {
  const types = await readTypes(db, table)
  if (types.size === 0) return undefined
  const missing = columns.find((column) => !types.has(column))
  if (missing !== undefined) throw new Error(`The table ${table} has no column ${missing}.`)
  const isPostgres = db.engine === 'postgres'
  const values = columns.map((column, index) => {
    const value = sql`"value" ->> ${sql.lit(index)}`
    return isPostgres ? sql`cast(${value} as ${sql.raw(types.get(column) ?? 'text')})` : value
  })
  const names = sql.join(columns.map((column) => sql.id(column)))
  await db.statement((handle) => sql`delete from ${sql.id(table)}`.execute(handle))
  return {
    table,
    async insert(rows) {
      const json = `[${rows.join(',')}]`
      const elements = isPostgres ? sql`json_array_elements(cast(${json} as json))` : sql`json_each(${json})`
      const insert = sql`insert into ${sql.id(table)} (${names}) select ${sql.join(values)} from ${elements}`
      await db.transaction((tx) => insert.execute(tx))
    },
  }
}

/** The SQL type of each column. */
async function readTypes(db: Db, table: string): Promise<Map<string, string>> {
  const query =
    db.engine === 'postgres'
      ? sql<{
          name: string
          type: string
        }>`select a.attname::text as "name", format_type(a.atttypid, a.atttypmod) as "type"
          from pg_attribute a where a.attrelid = to_regclass(quote_ident(${table})) and a.attnum > 0 and not a.attisdropped`
      : sql<{ name: string; type: string }>`select "name", "type" from pragma_table_info(${table})`
  return new Map((await query.execute(db.read)).rows.map(({ name, type }) => [name, type]))
}
