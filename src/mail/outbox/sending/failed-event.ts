import type { EventOf } from '../../../events/index.ts'
import { isoTime } from '../../../platform/time/time.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { type OutboxError, readEnvelope } from '../api.ts'
import type { outboxEvents } from '../events.ts'
import type { OutboxRow } from '../tables.ts'

const MAX_RECIPIENTS = 100

/** A later failure of the same message has more attempts, so its version is greater. */
export function sendFailedEvent(
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
