import { CompiledQuery, type KyselyPlugin, type RootOperationNode, sql } from 'kysely'
import type { Db, Handle, Tx } from '../../src/infra/db/index.ts'

/**
 * Runs `work` for real and answers the plan of every statement it sent, one text each: `<sql>\n<plan>`. On PostgreSQL full scans
 * are forbidden while explaining, so that a small table shows the plan of a large one.
 */
export async function plansOf(db: Db, work: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  const sent: CompiledQuery[] = []
  await db
    .transaction(async (tx) => {
      const compile = (node: RootOperationNode, queryId: Parameters<KyselyPlugin['transformQuery']>[0]['queryId']) =>
        tx.getExecutor().compileQuery(node, queryId)
      const spy: KyselyPlugin = {
        transformQuery({ node, queryId }) {
          sent.push(compile(node, queryId))
          return node
        },
        transformResult: async ({ result }) => result,
      }
      await work(Object.assign(tx.withPlugin(spy), { afterCommit: () => {} }))
      throw new Undone()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  const explained: string[] = []
  for (const query of sent) {
    if (!/^\s*(select|update|delete|with)/i.test(query.sql)) continue
    explained.push(`${query.sql}\n${await planOf(db, query)}`)
  }
  return explained
}

class Undone extends Error {}

async function planOf(db: Db, { sql: text, parameters }: CompiledQuery): Promise<string> {
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
