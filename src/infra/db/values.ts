import { type RawBuilder, sql } from 'kysely'
import type { Tx } from './db.ts'

type Value = string | number | null
type ColumnType = 'text' | 'bigint'

/**
 * Changes many rows, each to its own values, by one statement: `columns` names every column and its type, the first is
 * the key. Rows may be at most `ROWS_PER_STATEMENT`; more are sent in several statements.
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

/** PostgreSQL takes a bare parameter for text, so every value says its type. */
function tuple<Column extends string>(
  columns: readonly (readonly [Column, ColumnType])[],
  row: Readonly<Record<Column, Value>>,
): RawBuilder<unknown> {
  return sql`(${sql.join(columns.map(([column, type]) => sql`cast(${row[column]} as ${sql.raw(type)})`))})`
}
