import { releaseAccounts } from '../../accounts/index.ts'
import { releaseTasks } from '../../booking/index.ts'
import { skipEventNumbers } from '../../events/index.ts'
import { releaseDeliveries } from '../../events/webhooks/index.ts'
import { releaseOutbox } from '../../mail/outbox/index.ts'
import { forgetIndex } from '../../mail/search/index.ts'
import { forgetRunning } from '../../operations/idempotency/index.ts'
import type { Tx } from '../../platform/db/index.ts'

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
