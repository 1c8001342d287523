import type { Handle, Tx } from './db.ts'

/** Runs a Kysely transaction with `afterCommit`, for both engines. */
export async function runTransaction<T>(handle: Handle, body: (tx: Tx) => Promise<T>): Promise<T> {
  const hooks: (() => void)[] = []
  const result = await handle.transaction().execute((transaction) => {
    const tx: Tx = Object.assign(transaction, { afterCommit: (run: () => void) => void hooks.push(run) })
    return body(tx)
  })
  for (const run of hooks) {
    try {
      run()
    } catch (error) {
      // The transaction is committed: throwing now would make the caller repeat it. A warning makes the bug visible.
      process.emitWarning(error instanceof Error ? error : String(error))
    }
  }
  return result
}
