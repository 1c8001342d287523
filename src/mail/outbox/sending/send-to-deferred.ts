import { backoffMs } from '../../../platform/concurrency/retry.ts'
import { LeaseLost } from '../../../platform/db/index.ts'
import { cleanJson } from '../../../platform/formats/text.ts'
import { ProviderError, type RefusedRecipient, type SendOutcome } from '../../../providers/contract/index.ts'
import { readRefused } from '../api.ts'
import { outboxStore } from '../store.ts'
import type { OutboxRow } from '../tables.ts'
import type { AccountSender } from './account-sender.ts'
import { next, RELEASED } from './after-sending.ts'
import { type AttemptDeps, queuedMessage } from './attempts.ts'
import { commitResending, updateHeld } from './claims.ts'
import { isDeferred, readDeferred, refusedAfter, refusedOrUnknown } from './deferred.ts'

/** From when the message was sent to the others. */
const TRIED_MS = 24 * 60 * 60_000

/**
 * Sends a message to its deferred recipients alone. As with the message itself, the row is committed before the first byte, and nobody
 * sends a committed one again: the outbox then reports that its recipients may have got the message. Returns false when the account has
 * to wait. Throws `LeaseLost` once the run no longer holds the row.
 */
export async function sendToDeferred(
  deps: AttemptDeps,
  accountSender: AccountSender,
  row: OutboxRow,
  signal: AbortSignal,
): Promise<boolean> {
  const before = readRefused(row)
  const outcome = row.remaining === 'resending' ? 'unknown' : await attempt(deps, accountSender, row, signal)
  if (outcome === 'unknown') {
    await end(deps, row, refusedOrUnknown(before))
    return true
  }
  const refused = refusedAfter(before, outcome)
  const deferred = refused.filter(isDeferred).length
  deps.log.info(outcome.sent ? SENT_AGAIN : REFUSED_AGAIN, {
    accountId: row.accountId,
    operation: 'outbox.send',
    ...(!outcome.sent && { error: outcome.error }),
    metadata: { outboxId: row.id, recipients: before.filter(isDeferred).length, deferred },
  })
  const isLast = deferred === 0 || deps.clock.now() >= (row.sentAt ?? row.createdAt) + TRIED_MS
  if (isLast) await end(deps, row, refused)
  else await repeat(deps, row, refused, outcome)
  // Anything but refused recipients would happen to the next message too.
  return outcome.sent || outcome.refused.length > 0 || !outcome.retry
}

const SENT_AGAIN = 'Sent a message to recipients that the server had refused for now.'
const REFUSED_AGAIN = 'The server refused the recipients of a sent message again.'

async function attempt(
  { db, clock }: AttemptDeps,
  accountSender: AccountSender,
  row: OutboxRow,
  signal: AbortSignal,
): Promise<SendOutcome | 'unknown'> {
  const message = await queuedMessage(db, row, { wasInterrupted: false })
  const recipients = readDeferred(row).map(({ email }) => email)
  const sender = await accountSender.open()
  const steps = {
    async onDraft() {},
    onCommit: () => db.transaction((tx) => commitResending(tx, db.dialect, row, clock.now())),
  }
  try {
    return await sender.send({ ...message, recipients }, steps, signal)
  } catch (error) {
    if (error instanceof LeaseLost || !(error instanceof ProviderError)) throw error
    return 'unknown'
  }
}

async function repeat(
  { db, clock, timing }: AttemptDeps,
  row: OutboxRow,
  refused: RefusedRecipient[],
  outcome: SendOutcome,
): Promise<void> {
  const nowMs = clock.now()
  const checks = outcome.sent ? 0 : row.checks + 1
  // A server that took some of them takes the next ones at once.
  const pauseMs = outcome.sent ? 0 : Math.max(outcome.error.retryAfterMs ?? 0, backoffMs(checks, timing.retry))
  await db.transaction((tx) =>
    updateHeld(tx, row, {
      refused: cleanJson(refused),
      remaining: 'recipients',
      checks,
      dueAt: nowMs + pauseMs,
      updatedAt: nowMs,
      ...RELEASED,
    }),
  )
}

async function end({ db, clock }: AttemptDeps, row: OutboxRow, refused: RefusedRecipient[]): Promise<void> {
  const nowMs = clock.now()
  await db.transaction(async (tx) => {
    await updateHeld(tx, row, { refused: cleanJson(refused), updatedAt: nowMs, ...next(null, nowMs) })
    await outboxStore(tx, db.dialect).dropContent([row.id])
  })
}
