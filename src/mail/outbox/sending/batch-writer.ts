import { sql } from 'kysely'
import type { Accounts } from '../../../accounts/index.ts'
import { batches } from '../../../platform/concurrency/batches.ts'
import { type Db, type Dialect, type Handle, LeaseLost, PREPARED, type RowLease } from '../../../platform/db/index.ts'
import { notFound } from '../../../platform/errors/app-error.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { reservedIds } from '../../messages/index.ts'
import { outboxStore } from '../store.ts'
import type { OutboxRow } from '../tables.ts'
import { next } from './after-sending.ts'
import { type Claimed, type Commitment, claimDue, commitClaims, type DueQuery, leaseLost } from './claims.ts'
import { idsWithoutDeferred } from './deferred.ts'

/** A message that the provider has accepted. */
interface Acceptance {
  row: OutboxRow
  /** JSON of `RefusedRecipient[]`. */
  refused: string
  providerMessageId: string | null
  remaining: OutboxRow['remaining']
}

/**
 * Stores rows for the runs of all accounts. Each transaction has the messages of several accounts, because it costs more
 * than its statements. Every method rejects when its transaction fails.
 */
export interface BatchWriter {
  /** Claims the next messages of an account. */
  claim(query: DueQuery, lease: RowLease): Promise<Claimed[]>
  /**
   * Stores that the message may be sent from here on, and returns when. Rejects with `LeaseLost` unless the run still holds it.
   */
  commit(commitment: Commitment): Promise<number>
  /** Stores that a message was sent, even if the run has lost it, and returns its row. Rejects with not_found when its account was deleted. */
  recordSent(acceptance: Acceptance): Promise<OutboxRow>
}

/** Bounds how long a transaction takes. */
const MAX_MESSAGES = 100
const MAX_ACCOUNTS = 10

export function batchWriter({ db, clock, accounts }: { db: Db; clock: Clock; accounts: Accounts }): BatchWriter {
  const { dialect } = db

  const claim = batches<{ query: DueQuery; lease: RowLease }, Claimed[]>(
    (claims) =>
      db.transaction(async (tx) => {
        const claimed: Claimed[][] = []
        for (const { query, lease } of claims) claimed.push(await claimDue(tx, dialect, query, lease))
        return claimed
      }),
    MAX_ACCOUNTS,
  )

  const commit = batches<Commitment, number | LeaseLost>(async (commitments) => {
    const nowMs = clock.now()
    const withIds = commitments.filter(({ providerMessageId }) => providerMessageId !== null)
    const store = (handle: Handle) => commitClaims(handle, dialect, commitments, nowMs)
    const committed =
      withIds.length === 0
        ? await db.statement(store)
        : await db.transaction(async (tx) => {
            const ids = await store(tx)
            for (const { row, providerMessageId } of withIds) {
              if (providerMessageId === null || !ids.has(row.id)) continue
              const { accountId, messageId } = row
              await reservedIds.reserve(tx, { accountId, messageId, as: 'sent' }, [{ providerMessageId }], nowMs)
            }
            return ids
          })
    return commitments.map(({ row }) => (committed.has(row.id) ? nowMs : leaseLost(row)))
  }, MAX_MESSAGES)

  const recordSent = batches<Acceptance, OutboxRow | undefined>(async (accepted) => {
    const nowMs = clock.now()
    const rows = accepted.map((outcome) => sentRow(outcome, nowMs))
    const complete = rows.filter(({ remaining }) => remaining !== 'copy')
    const leases =
      complete.length === 0
        ? await db.statement((handle) => storeSent(handle, dialect, rows))
        : await db.transaction(async (tx) => {
            const stored = await storeSent(tx, dialect, rows)
            await outboxStore(tx, dialect).dropContent(idsWithoutDeferred(complete))
            await accounts.requestSync(tx, [...new Set(complete.map(({ accountId }) => accountId))], 'changes')
            return stored
          })
    return rows.map((row) => {
      const lease = leases.get(row.id)
      return lease === undefined ? undefined : { ...row, lease }
    })
  }, MAX_MESSAGES)

  return {
    claim: (query, lease) => claim({ query, lease }),

    async commit(commitment) {
      const committedAt = await commit(commitment)
      if (committedAt instanceof LeaseLost) throw committedAt
      return committedAt
    },

    async recordSent(acceptance) {
      const row = await recordSent(acceptance)
      if (row === undefined) throw notFound('message in the outbox', acceptance.row.id)
      return row
    },
  }
}

function sentRow({ row, refused, providerMessageId, remaining }: Acceptance, nowMs: number): OutboxRow {
  return {
    ...row,
    status: 'sent',
    error: null,
    refused,
    updatedAt: nowMs,
    sentAt: row.committedAt ?? nowMs,
    providerMessageId: providerMessageId ?? row.providerMessageId,
    ...next(remaining, nowMs),
  }
}

/** Returns, by id, the run that holds each stored row: see `next`. */
async function storeSent(
  handle: Handle,
  dialect: Dialect,
  rows: readonly OutboxRow[],
): Promise<ReadonlyMap<string, string | null>> {
  const values = dialect.rows(
    {
      ownId: 'text',
      ownRefused: 'text',
      ownMessageId: 'text',
      ownRemaining: 'text',
      ownSentAt: 'bigint',
      ownDueAt: 'bigint',
      ownUpdatedAt: 'bigint',
    },
    rows.map((row) => ({
      ownId: row.id,
      ownRefused: row.refused,
      ownMessageId: row.providerMessageId,
      ownRemaining: row.remaining,
      ownSentAt: row.sentAt,
      ownDueAt: row.dueAt,
      ownUpdatedAt: row.updatedAt,
    })),
  )
  const stored = await sql<{ id: string; lease: string | null }>`
    ${PREPARED}update "outbox"
    set "status" = 'sent', "error" = null, "refused" = "ownRefused", "updatedAt" = "ownUpdatedAt",
      "sentAt" = "ownSentAt", "providerMessageId" = "ownMessageId", "remaining" = "ownRemaining", "checks" = 0,
      "dueAt" = "ownDueAt", "lease" = case when "ownRemaining" in ('copy', 'draft') then "lease" end,
      "leasedUntil" = case when "ownRemaining" in ('copy', 'draft') then "leasedUntil" end
    from ${values} as "own"
    where "id" = "ownId"
    returning "id", "lease"`.execute(handle)
  return new Map(stored.rows.map(({ id, lease }) => [id, lease]))
}
