import type { Handle, Tx } from './db.ts'

/** Runs one Kysely transaction with `afterCommit` on it; shared by both engines. */
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
      // It is committed: failing now would make the caller repeat it. Hooks are hints, and a throw is a bug to be seen.
      process.emitWarning(error instanceof Error ? error : String(error))
    }
  }
  return result
}
