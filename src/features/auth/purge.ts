import type { Db } from '../../infra/db/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { authSessionStore } from './store.ts'

const BATCH = 500

/** Deletes sessions that expired more than `keptMs` ago, in small transactions; answers how many. Stops between two when the signal aborts. */
export async function purgeAuthSessions(
  deps: { db: Db; clock: Clock },
  keptMs: number,
  signal: AbortSignal,
): Promise<number> {
  const beforeMs = deps.clock.now() - keptMs
  let purged = 0
  while (!signal.aborted) {
    const count = await deps.db.transaction((tx) => authSessionStore(tx).purge(beforeMs, BATCH))
    purged += count
    if (count < BATCH) break
  }
  return purged
}
