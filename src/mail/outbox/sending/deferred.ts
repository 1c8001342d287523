import { isTemporaryReply, type RefusedRecipient, type SendOutcome } from '../../../providers/contract/index.ts'
import { readRefused } from '../api.ts'
import type { OutboxRow } from '../tables.ts'

/** Whether the server may accept the recipient later. */
export function isDeferred({ code, diagnostic }: RefusedRecipient): boolean {
  return code !== null && isTemporaryReply(code, diagnostic)
}

export function readDeferred(row: Pick<OutboxRow, 'refused'>): RefusedRecipient[] {
  return readRefused(row).filter(isDeferred)
}

/** The ids of the messages whose bytes are not needed for deferred recipients. */
export function idsWithoutDeferred(rows: readonly OutboxRow[]): string[] {
  return rows.filter((row) => readDeferred(row).length === 0).map(({ id }) => id)
}

/** The refused recipients after an attempt to send the message to the deferred ones. */
export function refusedAfter(before: readonly RefusedRecipient[], outcome: SendOutcome): RefusedRecipient[] {
  if (outcome.sent) return [...before.filter((recipient) => !isDeferred(recipient)), ...outcome.refused]
  const now = new Map(outcome.refused.map((recipient) => [recipient.email, recipient]))
  const after = before.map((recipient) => now.get(recipient.email) ?? recipient)
  const concernsAll = !outcome.retry && outcome.refused.length === 0
  return concernsAll ? after.map((recipient) => endDeferred(recipient, outcome.error.message)) : after
}

/** The refused recipients when it is unknown whether the deferred ones got the message. */
export function refusedOrUnknown(before: readonly RefusedRecipient[]): RefusedRecipient[] {
  return before.map((recipient) =>
    endDeferred(recipient, 'The connection broke while the message was sent again: it may have arrived.'),
  )
}

/** The message is not sent to this recipient again, for a reason that is not a reply to its address. */
function endDeferred(recipient: RefusedRecipient, diagnostic: string): RefusedRecipient {
  return isDeferred(recipient) ? { ...recipient, code: null, diagnostic } : recipient
}
