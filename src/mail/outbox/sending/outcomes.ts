import type { EventOf } from '../../../events/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import { cleanJson } from '../../../platform/formats/text.ts'
import { isoTime } from '../../../platform/time/time.ts'
import type { ProviderName, SendOutcome } from '../../../providers/contract/index.ts'
import { reservedIds } from '../../messages/index.ts'
import { type OutboxError, readEnvelope } from '../api.ts'
import type { outboxEvents } from '../events.ts'
import type { OutboxRow } from '../tables.ts'
import type { AccountSender } from './account-sender.ts'
import { remainingAfterCopy } from './after-sending.ts'
import type { AttemptDeps } from './attempts.ts'
import { updateHeld } from './claims.ts'

const MAX_RECIPIENTS = 100

/** Stores that a message was sent, and what remains to be done for it. Returns the row as it is afterwards. */
export async function recordSent(
  { writer }: Pick<AttemptDeps, 'writer'>,
  accountSender: AccountSender,
  row: OutboxRow,
  { providerMessageId, refused }: Pick<SendOutcome & { sent: true }, 'providerMessageId' | 'refused'>,
): Promise<OutboxRow> {
  const needsCopy = (await accountSender.open()).copies !== undefined
  const accepted = { ...row, refused: cleanJson(refused) }
  const remaining = needsCopy ? 'copy' : remainingAfterCopy(accepted)
  return writer.recordSent({ row, refused: accepted.refused, providerMessageId, remaining })
}

/** Stores that the service does nothing more to send a message, with its event. `changes` has the status: failed or uncertain. */
export async function recordFailed(
  { db, events, accounts }: Pick<AttemptDeps, 'db' | 'events' | 'accounts'>,
  row: OutboxRow,
  changes: Partial<OutboxRow>,
  problem: OutboxError,
): Promise<void> {
  const { provider } = await accounts.get(row.accountId)
  await db.transaction(async (tx: Tx) => {
    await accounts.hold(tx, row.accountId)
    const failed = await updateHeld(tx, row, { ...changes, error: cleanJson(problem), dueAt: null })
    if (problem.reason !== 'uncertain') await reservedIds.release(tx, row.messageId)
    await events.record(tx, [sendFailedEvent(failed, provider, problem)])
  })
}

/** A later failure of the same message has more attempts, so its version is greater. */
function sendFailedEvent(
  row: OutboxRow,
  provider: ProviderName,
  { reason, message }: OutboxError,
): EventOf<typeof outboxEvents> {
  return {
    type: 'message.send_failed',
    accountId: row.accountId,
    provider,
    objectId: row.messageId,
    version: row.attempts,
    data: {
      outboxId: row.id,
      messageId: row.messageId,
      subject: row.subject,
      to: readEnvelope(row)
        .to.slice(0, MAX_RECIPIENTS)
        .map(({ email }) => email),
      reason,
      message,
      attempts: row.attempts,
      failedAt: isoTime(row.updatedAt),
    },
  }
}
