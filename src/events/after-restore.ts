import type { Restored } from '../feature.ts'
import type { Tx } from '../platform/db/index.ts'

/** More events than a service records between a backup and its restore. */
const GAP = 1_000_000_000

/**
 * Continues the numbers of a restored backup far above those that readers may have seen since: a reader that goes on after its last
 * `position`, or drops a `sequence` that it knows, misses no event.
 */
export async function skipEventNumbers(tx: Tx, { isMoved }: Restored): Promise<void> {
  if (isMoved) return
  await tx
    .updateTable('eventPosition')
    .set((eb) => ({ position: eb('position', '+', GAP) }))
    .execute()
  await tx
    .updateTable('eventSequences')
    .set((eb) => ({ sequence: eb('sequence', '+', GAP) }))
    .execute()
}
