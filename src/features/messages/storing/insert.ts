import { sql } from 'kysely'
import type { Dialect, Tx } from '../../../infra/db/index.ts'
import type { MessageRow } from '../store.ts'
import { refusedRow } from './row.ts'

const ROWS_PER_INSERT = 100

/**
 * Stores new rows by statements of many rows. When the database refuses one, the batch is halved until the culprit stands
 * alone; that is stored with what recognises it and `error`, so that one odd mail never holds up an account. Answers the rows as they
 * stand; one that was refused even so is left out.
 */
export async function insertMessages(tx: Tx, dialect: Dialect, rows: readonly MessageRow[]): Promise<MessageRow[]> {
  const stored: MessageRow[] = []
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    stored.push(...(await insertBatch(tx, dialect, rows.slice(start, start + ROWS_PER_INSERT))))
  }
  return stored
}

async function insertBatch(tx: Tx, dialect: Dialect, rows: MessageRow[]): Promise<MessageRow[]> {
  const refusal = await refusalOf(tx, dialect, rows)
  if (refusal === undefined) return rows
  const [first] = rows
  if (first !== undefined && rows.length === 1) {
    const rest = refusedRow(first, `The database refused this message: ${refusal}`)
    const again = await refusalOf(tx, dialect, [rest])
    return again === undefined ? [rest] : []
  }
  const half = Math.ceil(rows.length / 2)
  return [
    ...(await insertBatch(tx, dialect, rows.slice(0, half))),
    ...(await insertBatch(tx, dialect, rows.slice(half))),
  ]
}

/** A failed statement spoils a PostgreSQL transaction up to its last savepoint, so each batch has one. */
async function refusalOf(tx: Tx, dialect: Dialect, rows: MessageRow[]): Promise<string | undefined> {
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
