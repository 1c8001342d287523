import type { Accounts } from '../../../accounts/index.ts'
import { type Backoff, backoffMs } from '../../../platform/concurrency/retry.ts'
import type { Db } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { OutboxRow } from '../tables.ts'
import { updateHeld } from './claims.ts'
import { readDeferred } from './deferred.ts'

export interface AfterSendingDeps {
  db: Db
  clock: Clock
  log: Log
  accounts: Accounts
  /**
   * Deletes a draft whose message was sent, unless its content has another hash. May be repeated. Throws `AppError` when it has to
   * be repeated.
   */
  deleteDraft(accountId: string, draft: { id: string; hash: string }): Promise<void>
  timing: { retry: Backoff }
}

/** An account may be paused, or wait for a new password, for some days. */
const DRAFT_KEPT_MS = 7 * 24 * 60 * 60_000
export const RELEASED = { lease: null, leasedUntil: null } as const

/** The columns of a sent message whose next step is this one. The run keeps only a message that it copies, or whose draft it deletes. */
export function next(remaining: OutboxRow['remaining'], nowMs: number) {
  const isHeld = remaining === 'copy' || remaining === 'draft'
  return { remaining, checks: 0, dueAt: remaining === null ? null : nowMs, ...(isHeld ? {} : RELEASED) }
}

/** The columns of a row whose step failed: it is due again after a pause that grows. */
export function later({ checks }: OutboxRow, nowMs: number, retry: Backoff) {
  return { checks: checks + 1, dueAt: nowMs + backoffMs(checks + 1, retry), ...RELEASED }
}

/** Returns the remaining work for a sent message once its copy is in Sent. */
export function remainingAfterCopy(row: Pick<OutboxRow, 'draftId' | 'refused'>): OutboxRow['remaining'] {
  return row.draftId === null ? remainingAfterDraft(row) : 'draft'
}

function remainingAfterDraft(row: Pick<OutboxRow, 'refused'>): OutboxRow['remaining'] {
  return readDeferred(row).length === 0 ? null : 'recipients'
}

/** Does the remaining work for sent messages once their copies are in Sent. */
export function afterSending({ db, clock, log, deleteDraft, timing }: AfterSendingDeps) {
  async function record(row: OutboxRow, changes: Partial<OutboxRow>): Promise<OutboxRow> {
    return db.transaction((tx) => updateHeld(tx, row, { ...changes, updatedAt: clock.now() }))
  }

  return {
    async deleteDraft(row: OutboxRow): Promise<OutboxRow> {
      const { accountId, draftId, draftHash, sentAt, giveUpAt } = row
      let failure: AppError | undefined
      try {
        if (draftId !== null && draftHash !== null) await deleteDraft(accountId, { id: draftId, hash: draftHash })
      } catch (error) {
        // Only the account can be missing.
        if (!(error instanceof AppError) || error.code === 'not_found') throw error
        failure = error
      }
      const nowMs = clock.now()
      if (failure === undefined) return record(row, next(remainingAfterDraft(row), nowMs))
      const isLast = nowMs >= (sentAt ?? giveUpAt) + DRAFT_KEPT_MS
      log.warn(
        isLast
          ? 'A draft was sent, but could not be deleted. It stays in the mailbox.'
          : 'A draft was sent, but could not be deleted; the service tries again.',
        { accountId, operation: 'outbox.draft', error: failure, metadata: { outboxId: row.id } },
      )
      return record(row, isLast ? next(remainingAfterDraft(row), nowMs) : later(row, nowMs, timing.retry))
    },
  }
}
