import type { Db } from '../../infra/db/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { keyStore } from './store.ts'

const BATCH_ROWS = 500

/** Deletes keys older than 24 hours, in short transactions; answers how many. Stops early when `signal` aborts. */
export async function purgeIdempotencyKeys(deps: { db: Db; clock: Clock }, signal?: AbortSignal): Promise<number> {
  const { db, clock } = deps
  for (let total = 0; ; ) {
    const deleted = await db.transaction((tx) => keyStore(tx, db.dialect).deleteExpired(clock.now(), BATCH_ROWS))
    total += deleted
    if (deleted < BATCH_ROWS || signal?.aborted) return total
  }
}
