import { CompiledQuery, sql } from 'kysely'
import type { Db, Handle, Tx } from '../../../src/platform/db/index.ts'
import { recordStatements } from './recorded-statements.ts'

/**
 * Runs `work` in a transaction that rolls back, and returns `<sql>\n<plan>` for every statement. Full scans are disabled on
 * PostgreSQL while explaining, so that a small table has the plan of a large one.
 */
export async function readPlans(db: Db, work: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  let sent: CompiledQuery[] = []
  await db
    .transaction(async (tx) => {
      sent = await recordStatements(tx, work)
      throw new RollBack()
    })
    .catch((error: unknown) => {
      if (!(error instanceof RollBack)) throw error
    })
  const explained: string[] = []
  for (const query of sent) {
    if (!/^\s*(\/\*.*\*\/\s*)?(select|update|delete|with)/i.test(query.sql)) continue
    explained.push(`${query.sql}\n${await readPlan(db, query)}`)
  }
  return explained
}

class RollBack extends Error {}

async function readPlan(db: Db, { sql: text, parameters }: CompiledQuery): Promise<string> {
  const explain = async (handle: Handle, prefix: string) => {
    const { rows } = await handle.executeQuery<Record<string, unknown>>(
      CompiledQuery.raw(prefix + text, [...parameters]),
    )
    return rows.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n')
  }
  if (db.engine === 'sqlite') return explain(db.read, 'explain query plan ')
  return db.transaction(async (tx) => {
    for (const plan of ['seqscan', 'bitmapscan', 'sort'])
      await sql`set local ${sql.raw(`enable_${plan}`)} = off`.execute(tx)
    return explain(tx, 'explain ')
  })
}
