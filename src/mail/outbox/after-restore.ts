import type { Restored } from '../../feature.ts'
import type { Tx } from '../../platform/db/index.ts'
import { cleanJson } from '../../platform/formats/text.ts'
import { type OutboxError, readRefused } from './api.ts'
import { refusedOrUnknown } from './sending/deferred.ts'

const UNCERTAIN: OutboxError = {
  reason: 'uncertain',
  message: 'The message comes from a backup. It may have been sent after the backup, and Sent is searched for it.',
}

/**
 * Frees the messages of a restored backup. Unless `isMoved`, those that the service may have sent after the backup are uncertain: they
 * are searched in Sent and never sent by themselves. A message scheduled for later than now cannot have been sent. Recipients that were
 * refused for now may have got their message, too.
 */
export async function releaseOutbox(tx: Tx, { nowMs, isMoved }: Restored): Promise<void> {
  await tx.updateTable('outbox').set({ leasedUntil: null }).where('leasedUntil', 'is not', null).execute()
  if (isMoved) return
  await tx.updateTable('outbox').set({ remaining: 'resending' }).where('remaining', '=', 'recipients').execute()
  const unfinished = await tx
    .selectFrom('outbox')
    .select(['id', 'refused'])
    .where('remaining', 'in', ['copy', 'draft'])
    .where('refused', '<>', '[]')
    .execute()
  for (const row of unfinished) {
    const refused = cleanJson(refusedOrUnknown(readRefused(row)))
    await tx.updateTable('outbox').set({ refused }).where('id', '=', row.id).execute()
  }
  await tx
    .updateTable('outbox')
    .set((eb) => ({
      status: 'uncertain',
      checks: 0,
      dueAt: nowMs,
      lease: null,
      updatedAt: nowMs,
      error: cleanJson(UNCERTAIN),
      committedAt: eb.fn.coalesce('committedAt', 'createdAt'),
    }))
    .where('dueAt', 'is not', null)
    .where((eb) =>
      eb.or([
        eb('status', 'in', ['queued', 'sending', 'uncertain']),
        eb.and([eb('status', '=', 'scheduled'), eb('sendAt', '<=', nowMs)]),
      ]),
    )
    .execute()
}
