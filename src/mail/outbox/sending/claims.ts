import { sql } from 'kysely'
import {
  type ClaimedRow,
  type Dialect,
  type Handle,
  isLeased,
  type LeasedTable,
  LeaseLost,
  leasedRows,
  PREPARED,
  type RowLease,
  type Tx,
} from '../../../platform/db/index.ts'
import { smallContents } from '../store.ts'
import type { OutboxRow } from '../tables.ts'

/** Messages are claimed by the runs of their account. */
export const OUTBOX: LeasedTable<'outbox'> = {
  name: 'outbox',
  key: 'accountId',
  dueAt: 'dueAt',
  // A message may have been interrupted before the run that releases it claimed it.
  keepsToken: true,
}

export interface Claimed extends ClaimedRow<OutboxRow> {
  /** The bytes of a small message, so that sending it reads nothing. */
  content?: Buffer | undefined
}

export interface DueQuery {
  accountId: string
  nowMs: number
  limit: number
}

/** Claims messages of the account that are due and free, those first that have been due for longest. */
export async function claimDue(
  tx: Tx,
  dialect: Dialect,
  { accountId, nowMs, limit }: DueQuery,
  lease: RowLease,
): Promise<Claimed[]> {
  const claimed = await leasedRows(tx, dialect, OUTBOX).claim({ key: accountId, nowMs, limit }, lease)
  const unsent = claimed.filter(({ row }) => row.committedAt === null)
  const contents = await smallContents(
    tx,
    unsent.map(({ row }) => row),
  )
  return claimed.map(({ row, wasInterrupted }) => ({ row, wasInterrupted, content: contents.get(row.id) }))
}

/** Stores what a run found out. Throws `LeaseLost` when it no longer holds the message: that was resolved, or is being sent, meanwhile. */
export async function updateHeld(tx: Tx, row: OutboxRow, changes: Partial<OutboxRow>): Promise<OutboxRow> {
  const held = tx.updateTable('outbox').set(changes).where('id', '=', row.id).where('lease', '=', row.lease)
  const updated = await held.returningAll().executeTakeFirst()
  if (updated === undefined) throw leaseLost(row)
  return updated
}

/** As `updateHeld`, for rows of one run. Returns those that it still held, as they are afterwards. */
export async function updateAllHeld(
  tx: Tx,
  rows: readonly OutboxRow[],
  changes: Partial<OutboxRow>,
): Promise<OutboxRow[]> {
  const [first] = rows
  if (first === undefined) return []
  return tx
    .updateTable('outbox')
    .set(changes)
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .where('lease', '=', first.lease)
    .returningAll()
    .execute()
}

/** Stores the id of the draft that will be sent. Throws `LeaseLost` unless this run still holds the message. */
export async function recordDraft(tx: Tx, dialect: Dialect, row: OutboxRow, providerMessageId: string): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('outbox')
    .set({ providerMessageId })
    .where('id', '=', row.id)
    .where('lease', '=', row.lease)
    .where(isLeased(dialect))
    .where('committedAt', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw leaseLost(row)
}

/** A message that may be sent from here on. `providerMessageId`: where the copy in Sent will have this id. */
export interface Commitment {
  row: OutboxRow
  providerMessageId: string | null
}

/**
 * Stores that the messages may be sent from here on, and returns the ids of those that their runs still hold. A run that was suspended
 * for longer than its lease must not send what another one may be sending. Forgets whom an earlier attempt could not reach: this one
 * may reach them, and nobody may send to them again.
 */
export async function commitClaims(
  handle: Handle,
  dialect: Dialect,
  commitments: readonly Commitment[],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const values = dialect.rows(
    { ownId: 'text', ownLease: 'text', ownMessageId: 'text' },
    commitments.map(({ row, providerMessageId }) => ({
      ownId: row.id,
      ownLease: row.lease,
      ownMessageId: providerMessageId,
    })),
  )
  const { rows } = await sql<{ id: string }>`
    ${PREPARED}update "outbox"
    set "status" = 'sending', "attempts" = "attempts" + 1, "committedAt" = ${nowMs}, "updatedAt" = ${nowMs},
      "refused" = '[]', "providerMessageId" = "ownMessageId"
    from ${values} as "own"
    where "id" = "ownId" and "lease" = "ownLease" and ${isLeased(dialect)} and "committedAt" is null
    returning "id"`.execute(handle)
  return new Set(rows.map(({ id }) => id))
}

/** Stores that a sent message may be sent again from here on, to its deferred recipients. Throws as `recordDraft`. */
export async function commitResending(tx: Tx, dialect: Dialect, row: OutboxRow, nowMs: number): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('outbox')
    .set((eb) => ({ remaining: 'resending' as const, attempts: eb('attempts', '+', 1), updatedAt: nowMs }))
    .where('id', '=', row.id)
    .where('lease', '=', row.lease)
    .where(isLeased(dialect))
    .where('remaining', '=', 'recipients')
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw leaseLost(row)
}

export function leaseLost({ id }: OutboxRow): LeaseLost {
  return new LeaseLost(`the message ${id} is no longer held by this run`)
}

/** Delays the account's waiting messages that are due before this time. The failure was not about one message. */
export async function delayWaiting(tx: Tx, accountId: string, untilMs: number): Promise<void> {
  await tx
    .updateTable('outbox')
    .set({ dueAt: untilMs })
    .where('accountId', '=', accountId)
    .where('dueAt', '<', untilMs)
    .where('status', 'in', ['queued', 'scheduled'])
    .where('committedAt', 'is', null)
    .execute()
}
