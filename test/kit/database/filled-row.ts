import { sql } from 'kysely'
import type { Db } from '../../../src/platform/db/index.ts'

export interface Column {
  name: string
  isText: boolean
  isRequired: boolean
}

/** The names of all tables of the service, without those of the database itself. */
export async function tableNames(db: Db): Promise<string[]> {
  const query =
    db.engine === 'postgres'
      ? sql<{ name: string }>`select table_name::text as "name" from information_schema.tables
          where table_schema = current_schema() and table_type = 'BASE TABLE'`
      : sql<{ name: string }>`select "name" from sqlite_master where type = 'table' and "name" not like 'sqlite_%'`
  const { rows } = await query.execute(db.read)
  return rows.map(({ name }) => name).sort()
}

export async function readColumns(db: Db, table: string): Promise<Column[]> {
  const query =
    db.engine === 'postgres'
      ? sql<{ name: string; type: string; isRequired: boolean }>`select column_name::text as "name",
          data_type::text as "type", is_nullable = 'NO' as "isRequired" from information_schema.columns
          where table_schema = current_schema() and table_name = ${table}`
      : sql<{ name: string; type: string; isRequired: number }>`select "name", lower("type") as "type",
          ("notnull" = 1 or "pk" > 0) as "isRequired" from pragma_table_info(${table})`
  const { rows } = await query.execute(db.read)
  return rows.map(({ name, type, isRequired }) => ({ name, isText: type === 'text', isRequired: Boolean(isRequired) }))
}

/** Inserts a row with `text` in every column of texts, 1 in every number that the schema requires, and these values. */
export async function insertFilledRow(
  db: Db,
  table: string,
  text: string,
  values: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const columns = await readColumns(db, table)
  const filled = columns.filter(({ name, isText, isRequired }) => isText || isRequired || name in values)
  const names = filled.map(({ name }) => sql.id(name))
  const row = filled.map(({ name, isText }) => values[name] ?? (isText ? text : 1))
  await db.transaction((tx) =>
    sql`insert into ${sql.table(table)} (${sql.join(names)}) values (${sql.join(row)})`.execute(tx),
  )
}
