import type { Tx } from '../../platform/db/index.ts'
import { STATE } from './indexer.ts'

/** Makes the service build the index of a restored backup, which does not contain one. */
export async function forgetIndex(tx: Tx): Promise<void> {
  await tx.deleteFrom('serviceState').where('name', '=', STATE).execute()
}
