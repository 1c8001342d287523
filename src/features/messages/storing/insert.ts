import { sql } from 'kysely'
import type { Dialect, Tx } from '../../../infra/db/index.ts'
import type { MessageRow } from '../store.ts'
import { strippedRow } from './row.ts'

const ROWS_PER_INSERT = 100

/**
 * Inserts rows in batches and returns them as stored. When the database refuses a batch, the batch is halved until one
 * row is left. That row is stored stripped, with `error`, so that one malformed message never blocks an account.
 * A row that is refused even then is missing from the result.
 */
export async function insertMessages(tx: Tx, dialect: Dialect, rows: readonly MessageRow[]): Promise<MessageRow[]> {
  const stored: MessageRow[] = []
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    stored.push(...(await insertBatch(tx, dialect, rows.slice(start, start + ROWS_PER_INSERT))))
  }
  return stored
}

async function insertBatch(tx: Tx, dialect: Dialect, rows: MessageRow[]): Promise<MessageRow[]> {
  const refusal = await tryInsert(tx, dialect, rows)
  if (refusal === undefined) return rows
  const [first] = rows
  if (first !== undefined && rows.length === 1) {
    const stripped = strippedRow(first, `The database refused this message: ${refusal}`)
    return (await tryInsert(tx, dialect, [stripped])) === undefined ? [stripped] : []
  }
  const half = Math.ceil(rows.length / 2)
  return [
    ...(await insertBatch(tx, dialect, rows.slice(0, half))),
    ...(await insertBatch(tx, dialect, rows.slice(half))),
  ]
}

/**
 * Returns why the database refused a row; undefined after success. The savepoint is for PostgreSQL, where a failed
 * statement otherwise aborts the whole transaction.
 */
async function tryInsert(tx: Tx, dialect: Dialect, rows: MessageRow[]): Promise<string | undefined> {
  await sql`savepoint "batch"`.execute(tx)
  try {
    await tx.insertInto('messages').values(rows).execute()
    await sql`release savepoint "batch"`.execute(tx)
    return undefined
  } catch (error) {
    if (!dialect.isRefusedRow(error)) throw error
    await sql`rollback to savepoint "batch"`.execute(tx)
    await sql`release savepoint "batch"`.execute(tx)
    return error instanceof Error ? error.message : 'unknown'
  }
}
