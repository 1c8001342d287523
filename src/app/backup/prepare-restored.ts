import { skipEventNumbers } from '../../events/index.ts'
import { releaseAccounts } from '../../features/accounts/index.ts'
import { forgetRunning } from '../../features/idempotency/index.ts'
import { releaseOutbox } from '../../features/outbox/index.ts'
import { releaseTasks } from '../../features/scheduler/index.ts'
import { forgetIndex } from '../../features/search/index.ts'
import { releaseDeliveries } from '../../features/webhooks/index.ts'
import type { Tx } from '../../infra/db/index.ts'

export interface Restored {
  nowMs: number
  /** The service has not run since the backup. */
  isMoved: boolean
}

/**
 * Brings the rows of a backup into the state after a crash at the time of the backup: nothing waits for an instance that is gone.
 * What the service may have sent since is not sent again by itself.
 */
export async function prepareRestored(tx: Tx, restored: Restored): Promise<void> {
  await releaseAccounts(tx)
  await releaseDeliveries(tx)
  await releaseOutbox(tx, restored)
  await releaseTasks(tx, restored)
  await forgetRunning(tx)
  await forgetIndex(tx)
  if (!restored.isMoved) await skipEventNumbers(tx)
}
