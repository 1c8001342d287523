import {
  CompiledQuery,
  type DialectAdapter,
  type Insertable,
  type QueryExecutor,
  type Selectable,
  SqliteAdapter,
  sql,
} from 'kysely'
import type { Tables, Tx } from './db.ts'

/** Bounds how long a statement of the file store holds the event loop; the engines allow 32,766 parameters and more. */
const MAX_PARAMETERS = 3000

type Texts = Map<string, CompiledQuery>

/** Compiled statements by engine, then by table, columns and number of rows. */
const compiled = new WeakMap<DialectAdapter, Texts>()
const MAX_TEXTS = 500

/**
 * Inserts many rows, all with the same columns in the same order, in few statements. Each statement is compiled once, which
 * for a hundred rows takes as long as running it. The file store takes few different numbers of rows, because preparing a statement for
 * yet another one costs more than running two known ones. `tail` is SQL after the values: a conflict clause, or `returning`, whose
 * columns are in the result.
 */
export async function insertRows<Table extends keyof Tables & string>(
  tx: Tx,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
  tail = '',
): Promise<Partial<Selectable<Tables[Table]>>[]> {
  const returned: Partial<Selectable<Tables[Table]>>[] = []
  const [first] = rows
  if (first === undefined) return returned
  const columns = Object.keys(first)
  const most = Math.max(1, Math.floor(MAX_PARAMETERS / columns.length))
  const isRoundTrip = !(tx.getExecutor().adapter instanceof SqliteAdapter)
  for (let start = 0; start < rows.length; ) {
    const left = Math.min(most, rows.length - start)
    const size = isRoundTrip ? left : roundedDown(left)
    const some = rows.slice(start, start + size) as Record<string, unknown>[]
    start += size
    const parameters: unknown[] = []
    for (const row of some) for (const column of columns) parameters.push(row[column])
    const query = statement(tx.getExecutor(), { table, columns, rows: some.length, tail })
    const result = await tx.executeQuery<Partial<Selectable<Tables[Table]>>>({ ...query, parameters })
    returned.push(...result.rows)
  }
  return returned
}

/** Keeps the first three binary digits: 1 to 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, … */
function roundedDown(rows: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(rows)) - 2)
  return rows - (rows % step)
}

/** A statement of a few hundred kilobytes. */
const MAX_JSON_ROWS = 2000
/** Fewer rows with equal values are not worth a text of their own. */
const MIN_ROWS_OF_TEXT = 64

/**
 * As `insertRows`, for thousands of rows that contain only numbers and ids: most of the time goes into passing values to the engine.
 * PostgreSQL gets one JSON text. SQLite gets a value that all rows of a statement have in common once.
 */
export async function insertManyRows<Table extends keyof Tables & string>(
  tx: Tx,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  if (tx.getExecutor().adapter instanceof SqliteAdapter) return insertManyIntoFile(tx, table, rows)
  const names = sql.join(Object.keys(first).map((column) => sql.id(column)))
  for (let start = 0; start < rows.length; start += MAX_JSON_ROWS) {
    const json = JSON.stringify(rows.slice(start, start + MAX_JSON_ROWS))
    await sql`insert into ${sql.table(table)} (${names}) select ${names}
      from json_populate_recordset(null::${sql.table(table)}, cast(${json} as json))`.execute(tx)
  }
}

async function insertManyIntoFile<Table extends keyof Tables & string>(
  tx: Tx,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const most = Math.max(1, Math.floor(MAX_PARAMETERS / columns.length))
  for (let start = 0; start < rows.length; ) {
    const size = roundedDown(Math.min(most, rows.length - start))
    if (size < MIN_ROWS_OF_TEXT) return void (await insertRows(tx, table, rows.slice(start)))
    const some = rows.slice(start, start + size) as Record<string, unknown>[]
    start += size
    const [first] = some
    const common = columns.filter((column) => some.every((row) => row[column] === first?.[column]))
    const own = columns.filter((column) => !common.includes(column))
    const parameters: unknown[] = common.map((column) => first?.[column])
    for (const row of some) for (const column of own) parameters.push(row[column])
    await tx.executeQuery(CompiledQuery.raw(textWithCommon(table, common, own, size), parameters))
  }
}

/** Numbered parameters: those of `common` first, then those of each row. */
function textWithCommon(table: string, common: readonly string[], own: readonly string[], rows: number): string {
  const names = [...common, ...own].map((column) => `"${column}"`).join()
  const values: string[] = []
  for (let row = 0; row < rows; row += 1) {
    const numbers = [
      ...common.map((_, index) => index + 1),
      ...own.map((_, index) => common.length + row * own.length + index + 1),
    ]
    values.push(`(${numbers.map((number) => `?${number}`).join()})`)
  }
  return `insert into "${table}" (${names}) values ${values.join()}`
}

interface Shape {
  table: string
  columns: readonly string[]
  rows: number
  tail: string
}

function statement(executor: QueryExecutor, { table, columns, rows, tail }: Shape): CompiledQuery {
  const texts = compiled.get(executor.adapter) ?? new Map<string, CompiledQuery>()
  compiled.set(executor.adapter, texts)
  const key = [table, rows, tail, ...columns].join()
  const known = texts.get(key)
  if (known !== undefined) return known
  if (texts.size >= MAX_TEXTS) texts.clear()
  const row = sql`(${sql.join(columns.map(() => sql`${null}`))})`
  const names = sql.join(columns.map((column) => sql.id(column)))
  const values = sql.join(Array.from({ length: rows }, () => row))
  const query = sql`insert into ${sql.table(table)} (${names}) values ${values} ${sql.raw(tail)}`
  const made = query.compile({ getExecutor: () => executor })
  texts.set(key, made)
  return made
}
