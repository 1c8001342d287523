import type { Db, Tx } from '../../infra/db/index.ts'
import type { Log } from '../../infra/log/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { type Backoff, backoffMs } from '../../lib/retry.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import type { Accounts } from '../accounts/index.ts'
import { updateHeld } from './claims.ts'
import { outboxStore } from './store.ts'
import type { OutboxRow } from './tables.ts'

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

/** The columns of a sent message whose next step is this one. */
export function next(remaining: OutboxRow['remaining'], nowMs: number) {
  return { remaining, checks: 0, ...(remaining === null ? { dueAt: null, ...RELEASED } : { dueAt: nowMs }) }
}

/**
 * What remains for a sent message that the run holds. Each step returns the row after it; with the same step remaining, the step failed
 * and is due later. Throws `ClaimLost`.
 */
export function afterSending({ db, clock, log, accounts, deleteDraft, timing }: AfterSendingDeps) {
  async function record(row: OutboxRow, changes: Partial<OutboxRow>, work?: (tx: Tx) => Promise<void>) {
    return db.transaction(async (tx) => {
      const after = await updateHeld(tx, row, { ...changes, updatedAt: clock.now() })
      await work?.(tx)
      return after
    })
  }

  const later = ({ checks }: OutboxRow) => ({
    ...{ checks: checks + 1, dueAt: clock.now() + backoffMs(checks + 1, timing.retry), ...RELEASED },
  })

  return {
    async saveCopy(row: OutboxRow, save: () => Promise<void>): Promise<OutboxRow> {
      let failure: unknown
      try {
        await save()
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error
        failure = error
      }
      const nowMs = clock.now()
      const isLast = failure === undefined || nowMs >= row.giveUpAt
      if (failure !== undefined) {
        log.warn(
          isLast
            ? 'A message was sent, but its copy could not be saved in Sent.'
            : 'A message was sent, but its copy could not be saved in Sent; the service tries again.',
          { accountId: row.accountId, operation: 'outbox.copy', error: failure, metadata: { outboxId: row.id } },
        )
      }
      if (!isLast) return record(row, later(row))
      return record(row, next(row.draftId === null ? null : 'draft', nowMs), async (tx) => {
        await outboxStore(tx, db.dialect).dropContent(row.id)
        if (failure === undefined) await accounts.requestSync(tx, [row.accountId], 'everything')
      })
    },

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
      if (failure === undefined) return record(row, next(null, nowMs))
      const isLast = nowMs >= (sentAt ?? giveUpAt) + DRAFT_KEPT_MS
      log.warn(
        isLast
          ? 'A draft was sent, but could not be deleted. It stays in the mailbox.'
          : 'A draft was sent, but could not be deleted; the service tries again.',
        { accountId, operation: 'outbox.draft', error: failure, metadata: { outboxId: row.id } },
      )
      return record(row, isLast ? next(null, nowMs) : later(row))
    },
  }
}
