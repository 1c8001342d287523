import type { Log } from '../../platform/log/index.ts'
import type { OwnershipStore } from './ownership-store.ts'

/** An instance without a heartbeat for this time is dead. */
export const DEAD_AFTER_MS = 30_000

/** Removes dead instances, and releases what they held. `missing` is what showed that they are dead. Returns their ids. */
export async function removeInstances(
  {
    store,
    log,
    onInstanceDead,
  }: { store: OwnershipStore; log: Log; onInstanceDead(instanceId: string): Promise<void> },
  missing: 'lock' | 'heartbeat',
  remove: (store: OwnershipStore) => Promise<string[]>,
): Promise<string[]> {
  const dead = await remove(store)
  for (const id of dead) {
    log.warn('An instance is dead; taking over its accounts.', {
      operation: 'accounts.ownership',
      metadata: { dead: id, missing },
    })
    try {
      await onInstanceDead(id)
    } catch (error) {
      // The leases of the dead instance expire by themselves.
      log.warn('Cannot release the leases of a dead instance; they expire.', {
        operation: 'accounts.ownership',
        error,
        metadata: { dead: id },
      })
    }
  }
  return dead
}
