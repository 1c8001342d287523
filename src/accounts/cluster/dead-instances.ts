import type { Db } from '../../platform/db/index.ts'
import type { Log } from '../../platform/log/index.ts'
import { instanceStore } from './instance-store.ts'

/** An instance without a heartbeat for this time is dead. */
export const DEAD_AFTER_MS = 30_000

/** Removes dead instances, and releases what they held. `missing` is what showed that they are dead. Returns their ids. */
export async function removeInstances(
  { db, log, onInstanceDead }: { db: Db; log: Log; onInstanceDead(instanceId: string): Promise<void> },
  missing: 'lock' | 'heartbeat',
  remove: (store: ReturnType<typeof instanceStore>) => Promise<string[]>,
): Promise<string[]> {
  const dead = await db.transaction((tx) => remove(instanceStore(tx, db.dialect)))
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
