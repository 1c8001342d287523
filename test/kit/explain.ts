import { type RootOperationNode, sql } from 'kysely'
import type { Db, Handle } from '../../src/infra/db/index.ts'

/**
 * Hands out a handle that explains `sql` statements instead of running them, and answers the plans: one line per step.
 * On PostgreSQL full scans are forbidden, so that a small table shows the plan of a large one.
 */
export async function explain(db: Db, run: (handle: Handle) => Promise<unknown>): Promise<string> {
  const lines: string[] = []
  const explained = (handle: Handle) =>
    handle.withPlugin({
      transformQuery: ({ node }) => prefixed(node, db.engine === 'sqlite' ? 'explain query plan ' : 'explain '),
      async transformResult({ result }) {
        for (const row of result.rows) lines.push(String(row.detail ?? row['QUERY PLAN']))
        return { rows: [] }
      },
    })
  if (db.engine === 'sqlite') await run(explained(db.read))
  else
    await db.transaction(async (tx) => {
      await sql`set local enable_seqscan = off`.execute(tx)
      await run(explained(tx))
    })
  return lines.join('\n')
}

function prefixed(node: RootOperationNode, prefix: string): RootOperationNode {
  if (node.kind !== 'RawNode') throw new Error('only sql`…` statements; a builder has .explain() itself')
  const [first = '', ...rest] = node.sqlFragments
  return { ...node, sqlFragments: [prefix + first.trimStart(), ...rest] }
}
