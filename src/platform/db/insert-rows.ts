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

/** A statement of a hundred kilobytes. */
const MAX_ARRAY_ROWS = 2000
/** Fewer rows with equal values are not worth a text of their own. */
const MIN_ROWS_OF_TEXT = 64

/** Some rows as columns. */
interface Columns {
  /** The values that are equal in all rows. */
  common: [name: string, value: unknown][]
  /** At least one. */
  own: [name: string, values: unknown[]][]
}

/**
 * As `insertRows`, for thousands of rows that contain only integers and texts: most of the time goes into passing values to the engine. A
 * value that all rows of a statement have in common is passed once. PostgreSQL gets an array for each other column.
 */
export async function insertManyRows<Table extends keyof Tables & string>(
  tx: Tx,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> {
  if (tx.getExecutor().adapter instanceof SqliteAdapter) return insertManyIntoFile(tx, table, rows)
  for (let start = 0; start < rows.length; start += MAX_ARRAY_ROWS) {
    const { common, own } = splitColumns(rows.slice(start, start + MAX_ARRAY_ROWS))
    const names = [...common, ...own].map(([name]) => sql.id(name))
    const values = [...common.map(([, value]) => sql`${value}`), ...own.map(([name]) => sql.id(name))]
    await sql`insert into ${sql.table(table)} (${sql.join(names)}) select ${sql.join(values)}
      from unnest(${sql.join(own.map(([, each]) => toSqlArray(each)))})
        as "rows" (${sql.join(own.map(([name]) => sql.id(name)))})`.execute(tx)
  }
}

async function insertManyIntoFile<Table extends keyof Tables & string>(
  tx: Tx,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> {
  const most = Math.max(1, Math.floor(MAX_PARAMETERS / Object.keys(rows[0] ?? {}).length))
  for (let start = 0; start < rows.length; ) {
    const size = roundedDown(Math.min(most, rows.length - start))
    if (size < MIN_ROWS_OF_TEXT) return void (await insertRows(tx, table, rows.slice(start)))
    const columns = splitColumns(rows.slice(start, start + size))
    start += size
    const parameters = columns.common.map(([, value]) => value)
    for (let row = 0; row < size; row += 1) for (const [, values] of columns.own) parameters.push(values[row])
    await tx.executeQuery(CompiledQuery.raw(numberedInsert(table, columns, size), parameters))
  }
}

function splitColumns(rows: readonly object[]): Columns {
  const columns: Columns = { common: [], own: [] }
  for (const name of Object.keys(rows[0] ?? {})) {
    const values = (rows as readonly Record<string, unknown>[]).map((row) => row[name])
    if (values.every((value) => value === values[0])) columns.common.push([name, values[0]])
    else columns.own.push([name, values])
  }
  const [name, value] = (columns.own.length === 0 ? columns.common.pop() : undefined) ?? []
  if (name !== undefined) columns.own.push([name, rows.map(() => value)])
  return columns
}

/** The parameters are those of `common`, then those of each row. */
function numberedInsert(table: string, { common, own }: Columns, rows: number): string {
  const names = [...common, ...own].map(([name]) => `"${name}"`).join()
  const shared = common.map((_, index) => `?${index + 1}`)
  const values: string[] = []
  for (let row = 0; row < rows; row += 1) {
    const first = common.length + row * own.length + 1
    values.push(`(${[...shared, ...own.map((_, index) => `?${first + index}`)].join()})`)
  }
  return `insert into "${table}" (${names}) values ${values.join()}`
}

/** A literal of PostgreSQL: the driver binds no lists. */
function toSqlArray(values: readonly unknown[]) {
  const isNumeric = values.every((value) => value === null || typeof value === 'number')
  return sql`cast(${isNumeric ? numbersLiteral(values) : textsLiteral(values)} as ${sql.raw(isNumeric ? 'bigint[]' : 'text[]')})`
}

function numbersLiteral(values: readonly unknown[]): string {
  return `{${values.map(String).join()}}`
}

/** Joining plain texts at once takes a tenth of the time that quoting each takes. */
function textsLiteral(values: readonly unknown[]): string {
  const joined = values.join('","')
  const isPlain = !values.includes(null) && !joined.includes('\\') && joined.split('"').length === 2 * values.length - 1
  if (isPlain) return `{"${joined}"}`
  return `{${values.map((value) => (value === null ? 'null' : quoted(String(value)))).join()}}`
}

/** JSON escapes these, too, by sequences that PostgreSQL does not know. */
const OTHER_ESCAPES = /[\p{Cc}\p{Cs}]/u

/** Of a text without other escapes, a quarter of the time: JSON quotes as an array does. */
function quoted(text: string): string {
  if (!OTHER_ESCAPES.test(text)) return JSON.stringify(text)
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
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
  const cached = texts.get(key)
  if (cached !== undefined) return cached
  if (texts.size >= MAX_TEXTS) texts.clear()
  const row = sql`(${sql.join(columns.map(() => sql`${null}`))})`
  const names = sql.join(columns.map((column) => sql.id(column)))
  const values = sql.join(Array.from({ length: rows }, () => row))
  const query = sql`insert into ${sql.table(table)} (${names}) values ${values} ${sql.raw(tail)}`
  const made = query.compile({ getExecutor: () => executor })
  texts.set(key, made)
  return made
}
