import { type RawBuilder, sql } from 'kysely'
import type { Tx } from './db.ts'

type Value = string | number | null
type ColumnType = 'text' | 'bigint'

/**
 * Updates many rows, each with its own values, in few statements. `columns` lists the columns with their types; the first
 * is the key.
 */
export async function updateEach<Column extends string>(
  tx: Tx,
  table: string,
  columns: readonly (readonly [Column, ColumnType])[],
  rows: readonly Readonly<Record<Column, Value>>[],
): Promise<void> {
  const [key, ...rest] = columns.map(([column]) => column)
  if (key === undefined) return
  const set = sql.join(rest.map((column) => sql`${sql.id(column)} = ${sql.id('v', column)}`))
  const names = sql.join(columns.map(([column]) => sql.id(column)))
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const values = rows.slice(start, start + ROWS_PER_STATEMENT).map((row) => tuple(columns, row))
    await sql`with "v" (${names}) as (values ${sql.join(values)})
      update ${sql.table(table)} set ${set} from "v" where ${sql.id(table, key)} = ${sql.id('v', key)}`.execute(tx)
  }
}

const ROWS_PER_STATEMENT = 200

/** PostgreSQL treats an untyped parameter as text, so every value has a cast. */
function tuple<Column extends string>(
  columns: readonly (readonly [Column, ColumnType])[],
  row: Readonly<Record<Column, Value>>,
): RawBuilder<unknown> {
  return sql`(${sql.join(columns.map(([column, type]) => sql`cast(${row[column]} as ${sql.raw(type)})`))})`
}
