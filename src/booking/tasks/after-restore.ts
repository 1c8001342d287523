import type { Restored } from '../../feature.ts'
import type { Tx } from '../../platform/db/index.ts'

/**
 * Frees the tasks of a restored backup. Unless `isMoved`, messages and reminders that were due have failed: they may have been
 * sent after the backup, and an operator can retry them. Calendars and callbacks have keys, so that they run again.
 */
export async function releaseTasks(tx: Tx, { nowMs, isMoved }: Restored): Promise<void> {
  await tx
    .updateTable('bookingTasks')
    .set({ status: 'waiting', lease: null, leasedUntil: null })
    .where('lease', 'is not', null)
    .where('dueAt', 'is not', null)
    .execute()
  if (isMoved) return
  await tx
    .updateTable('bookingTasks')
    .set({
      status: 'failed',
      dueAt: null,
      updatedAt: nowMs,
      lastError: 'The job comes from a backup. It may have run after the backup. Retry it if the guest got nothing.',
    })
    .where('type', 'in', ['message', 'reminder'])
    .where('dueAt', '<=', nowMs)
    .execute()
}
