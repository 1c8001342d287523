import type { Db } from '../../../infra/db/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { type Backoff, backoffMs } from '../../../lib/retry.ts'
import { ProviderError } from '../../../providers/contract/index.ts'
import type { Accounts } from '../../accounts/index.ts'
import { outboxStore, smallContents } from '../store.ts'
import type { OutboxRow } from '../tables.ts'
import { updateAllHeld, updateHeld } from './claims.ts'
import { deferredOf, idsWithoutDeferred } from './deferred.ts'

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

/** Small messages. */
const READ_AT_ONCE = 10
/** An account may be paused, or wait for a new password, for some days. */
const DRAFT_KEPT_MS = 7 * 24 * 60 * 60_000
export const RELEASED = { lease: null, leasedUntil: null } as const

/** The columns of a sent message whose next step is this one. The run keeps only a message that it copies, or whose draft it deletes. */
export function next(remaining: OutboxRow['remaining'], nowMs: number) {
  const isHeld = remaining === 'copy' || remaining === 'draft'
  return { remaining, checks: 0, dueAt: remaining === null ? null : nowMs, ...(isHeld ? {} : RELEASED) }
}

/** What remains for a sent message once its copy is in Sent. */
export function remainingAfterCopy(row: Pick<OutboxRow, 'draftId' | 'refused'>): OutboxRow['remaining'] {
  return row.draftId === null ? remainingAfterDraft(row) : 'draft'
}

function remainingAfterDraft(row: Pick<OutboxRow, 'refused'>): OutboxRow['remaining'] {
  return deferredOf(row).length === 0 ? null : 'recipients'
}

/**
 * What remains for sent messages of one account that the run holds. What fails is due again later; a row that the run lost meanwhile
 * is left to whom it belongs.
 */
export function afterSending({ db, clock, log, accounts, deleteDraft, timing }: AfterSendingDeps) {
  async function record(row: OutboxRow, changes: Partial<OutboxRow>): Promise<OutboxRow> {
    return db.transaction((tx) => updateHeld(tx, row, { ...changes, updatedAt: clock.now() }))
  }

  const later = ({ checks }: OutboxRow) => ({
    ...{ checks: checks + 1, dueAt: clock.now() + backoffMs(checks + 1, timing.retry), ...RELEASED },
  })

  return {
    /**
     * Saves copies in Sent until one fails. `done`: the messages that have a copy, or will never have one, as they are afterwards. One
     * transaction stores all of it: after a crash, the search of the next attempt finds the copies that exist.
     */
    async saveCopies(
      rows: readonly OutboxRow[],
      save: (row: OutboxRow, content: Buffer | undefined) => Promise<void>,
    ): Promise<{ done: OutboxRow[]; isComplete: boolean }> {
      let saved = 0
      let failure: unknown
      let contents: ReadonlyMap<string, Buffer> = new Map()
      for (const [index, row] of rows.entries()) {
        if (index % READ_AT_ONCE === 0) contents = await smallContents(db.read, rows.slice(index, index + READ_AT_ONCE))
        try {
          await save(row, contents.get(row.id))
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error
          failure = error
          break
        }
        saved += 1
      }
      const nowMs = clock.now()
      const isOver = (row: OutboxRow, index: number) => index < saved || nowMs >= row.giveUpAt
      const failed = rows[saved]
      if (failed !== undefined) {
        log.warn(
          isOver(failed, saved)
            ? 'A message was sent, but its copy could not be saved in Sent.'
            : 'A message was sent, but its copy could not be saved in Sent; the service tries again.',
          { accountId: failed.accountId, operation: 'outbox.copy', error: failure, metadata: { outboxId: failed.id } },
        )
      }
      const over = rows.filter(isOver)
      const done = await db.transaction(async (tx) => {
        const after: OutboxRow[] = []
        for (const remaining of [null, 'draft', 'recipients'] as const) {
          const group = over.filter((row) => remainingAfterCopy(row) === remaining)
          after.push(...(await updateAllHeld(tx, group, next(remaining, nowMs))))
        }
        for (const row of rows) if (!over.includes(row)) await updateAllHeld(tx, [row], later(row))
        await outboxStore(tx, db.dialect).dropContent(idsWithoutDeferred(after))
        const [first] = rows
        if (saved > 0 && first !== undefined) await accounts.requestSync(tx, [first.accountId], 'everything')
        return after
      })
      return { done, isComplete: failed === undefined }
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
      if (failure === undefined) return record(row, next(remainingAfterDraft(row), nowMs))
      const isLast = nowMs >= (sentAt ?? giveUpAt) + DRAFT_KEPT_MS
      log.warn(
        isLast
          ? 'A draft was sent, but could not be deleted. It stays in the mailbox.'
          : 'A draft was sent, but could not be deleted; the service tries again.',
        { accountId, operation: 'outbox.draft', error: failure, metadata: { outboxId: row.id } },
      )
      return record(row, isLast ? next(remainingAfterDraft(row), nowMs) : later(row))
    },
  }
}
