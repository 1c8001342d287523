import { type CompiledQuery, sql } from 'kysely'
import type { Db, Tx } from '../../../src/platform/db/index.ts'
import { recordStatements } from './recorded-statements.ts'

/**
 * Runs statements in a transaction and returns their plans, one line per step. Full scans are disabled on PostgreSQL, so
 * that a small table has the plan of a large one.
 */
export function explain(db: Db, run: (handle: Tx) => Promise<unknown>): Promise<string> {
  return db.transaction(async (tx) => {
    if (db.engine === 'postgres') await sql`set local enable_seqscan = off`.execute(tx)
    const statements = await recordStatements(tx, run)
    const lines: string[] = []
    for (const statement of statements) lines.push(...(await readPlan(db, tx, statement)))
    return lines.join('\n')
  })
}

async function readPlan(db: Db, tx: Tx, { sql: text, ...statement }: CompiledQuery): Promise<string[]> {
  if (db.engine === 'postgres') {
    const { rows } = await tx.executeQuery<{ 'QUERY PLAN': string }>({
      ...statement,
      sql: `explain ${text.trimStart()}`,
    })
    return rows.map((row) => row['QUERY PLAN'])
  }
  // libsql returns a plan only for statements that return rows.
  const returning = /^\s*(update|delete)\b(?!.*\breturning\b)/is.test(text) ? `${text} returning 1` : text
  const explained = { ...statement, sql: `explain query plan ${returning.trimStart()}` }
  const { rows } = await db.read.executeQuery<{ detail: string }>(explained)
  return rows.map((row) => row.detail)
}
