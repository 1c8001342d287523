import type { Tx } from '../../platform/db/index.ts'

/** Forgets the requests that ran when a restored backup was made. */
export async function forgetRunning(tx: Tx): Promise<void> {
  await tx.deleteFrom('idempotencyKeys').where('state', '=', 'running').execute()
}
