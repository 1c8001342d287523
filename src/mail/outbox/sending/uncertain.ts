import { cleanJson } from '../../../platform/formats/text.ts'
import { ProviderError, type ProviderName } from '../../../providers/contract/index.ts'
import type { OutboxError } from '../api.ts'
import type { OutboxRow } from '../tables.ts'
import type { AccountSender } from './account-sender.ts'
import { RELEASED } from './after-sending.ts'
import type { AttemptDeps } from './attempts.ts'
import { updateHeld } from './claims.ts'
import { recordFailed, recordSent } from './outcomes.ts'

/** Stores that the connection broke after the commit, so that nobody knows whether the message was sent. It is never sent again by itself. */
export async function recordUncertain(
  { db, clock, log, timing }: Pick<AttemptDeps, 'db' | 'clock' | 'log' | 'timing'>,
  row: OutboxRow,
  { provider, error }: { provider: ProviderName | undefined; error: ProviderError },
): Promise<void> {
  log.warn('The outcome of sending a message is unknown; the service looks for it in Sent.', {
    accountId: row.accountId,
    provider,
    operation: 'outbox.send',
    error,
    metadata: { outboxId: row.id },
  })
  const nowMs = clock.now()
  const problem: OutboxError = { reason: 'uncertain', message: error.message }
  await db.transaction((tx) =>
    updateHeld(tx, row, {
      status: 'uncertain',
      error: cleanJson(problem),
      checks: 0,
      updatedAt: nowMs,
      ...RELEASED,
      dueAt: nowMs + (timing.searchPausesMs[0] ?? 0),
    }),
  )
}

/**
 * Searches Sent for a message that was committed and has no outcome, after a crash too: a run then claims a row with `committedAt`. Returns
 * the row once it is certain that it was sent. Otherwise the search is repeated after the next of `searchPausesMs`; after the last one
 * the message stays uncertain, with an event.
 */
export async function searchUncertain(
  deps: AttemptDeps,
  accountSender: AccountSender,
  row: OutboxRow,
  signal: AbortSignal,
): Promise<OutboxRow | undefined> {
  const { db, clock, timing } = deps
  const ref = {
    rfcMessageId: row.rfcMessageId,
    sentToken: row.sentToken,
    providerMessageId: row.providerMessageId,
    committedAt: row.committedAt ?? row.createdAt,
  }
  const sender = await accountSender.open()
  if (await sender.wasSent(ref, signal).catch(onlyProviderErrors)) {
    return recordSent(deps, accountSender, row, { providerMessageId: row.providerMessageId, refused: [] })
  }
  const nowMs = clock.now()
  const checks = row.checks + 1
  const pauseMs = timing.searchPausesMs[checks]
  const message = 'The connection broke during the transfer, and Sent does not contain the message.'
  const changes = { status: 'uncertain', checks, updatedAt: nowMs, ...RELEASED } as const
  if (pauseMs === undefined) {
    await recordFailed(deps, row, changes, { reason: 'uncertain', message })
    return undefined
  }
  const error = cleanJson({ reason: 'uncertain', message } satisfies OutboxError)
  await db.transaction((tx) => updateHeld(tx, row, { ...changes, error, dueAt: nowMs + pauseMs }))
  return undefined
}

/** A provider that cannot be asked now is asked again at the next check. */
export function onlyProviderErrors(error: unknown): false {
  if (error instanceof ProviderError) return false
  throw error
}
