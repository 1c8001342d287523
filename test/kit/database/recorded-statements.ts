import type { CompiledQuery, DatabaseConnection, RootOperationNode } from 'kysely'
import type { Handle, Tx } from '../../../src/platform/db/index.ts'

/** Runs `work` with the transaction and returns the statements that it sent. Nothing else uses the connection meanwhile. */
export async function recordStatements(tx: Tx, work: (tx: Tx) => Promise<unknown>): Promise<CompiledQuery[]> {
  const sent: CompiledQuery[] = []
  const connection = await findConnection(tx)
  const { executeQuery } = connection
  connection.executeQuery = (query) => {
    sent.push(query)
    return executeQuery.call(connection, query) as never
  }
  try {
    await work(tx)
  } finally {
    connection.executeQuery = executeQuery
  }
  return sent
}

/** A transaction has one connection, which both drivers go on using. */
function findConnection(tx: Tx): Promise<DatabaseConnection> {
  return tx.getExecutor().provideConnection(async (connection) => connection)
}

/** A handle that adds the statements it sends to `sent`, as their syntax trees. */
export function recordReads(handle: Handle, sent: RootOperationNode[]): Handle {
  return handle.withPlugin({
    transformQuery({ node }) {
      sent.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  })
}
