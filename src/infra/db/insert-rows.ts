import { type CompiledQuery, type DialectAdapter, type Insertable, type QueryExecutor, sql } from 'kysely'
import type { Tables, Tx } from './db.ts'

/** Bounds how long a statement of the file store holds the event loop; the engines allow 32,766 parameters and more. */
const MAX_PARAMETERS = 3000

type Texts = Map<string, CompiledQuery>

/** Compiled statements by engine, then by table, columns and number of rows. */
const compiled = new WeakMap<DialectAdapter, Texts>()
const MAX_TEXTS = 500

/**
 * Inserts many rows, all with the same columns in the same order, in few statements. Each statement is compiled once, which
 * for a hundred rows takes as long as running it.
 */
export async function insertRows<Table extends keyof Tables & string>(
  tx: Tx,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const columns = Object.keys(first)
  const size = Math.max(1, Math.floor(MAX_PARAMETERS / columns.length))
  for (let start = 0; start < rows.length; start += size) {
    const some = rows.slice(start, start + size) as Record<string, unknown>[]
    const parameters: unknown[] = []
    for (const row of some) for (const column of columns) parameters.push(row[column])
    await tx.executeQuery({ ...statement(tx.getExecutor(), table, columns, some.length), parameters })
  }
}

function statement(executor: QueryExecutor, table: string, columns: readonly string[], rows: number): CompiledQuery {
  const texts = compiled.get(executor.adapter) ?? new Map<string, CompiledQuery>()
  compiled.set(executor.adapter, texts)
  const key = [table, rows, ...columns].join()
  const known = texts.get(key)
  if (known !== undefined) return known
  if (texts.size >= MAX_TEXTS) texts.clear()
  const row = sql`(${sql.join(columns.map(() => sql`${null}`))})`
  const names = sql.join(columns.map((column) => sql.id(column)))
  const values = sql.join(Array.from({ length: rows }, () => row))
  const query = sql`insert into ${sql.table(table)} (${names}) values ${values}`
  const made = query.compile({ getExecutor: () => executor })
  texts.set(key, made)
  return made
}
