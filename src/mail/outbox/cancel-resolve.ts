import type { Accounts } from '../../accounts/index.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Queue } from '../../platform/queue/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { reservedIds } from '../messages/index.ts'
import { DAY_MS } from './prepare.ts'
import { outboxStore, SEND_QUEUE } from './store.ts'
import type { OutboxRow } from './tables.ts'

export interface ResolveDeps {
  db: Db
  clock: Clock
  queue: Queue
  accounts: Accounts
}

/** Cancels a message that has not been sent. Throws not_found, and conflict once sending has begun. */
export async function cancelMessage(deps: ResolveDeps, tx: Tx, id: string): Promise<void> {
  const row = await outboxStore(tx, deps.db.dialect).lock(id)
  if (row.status === 'cancelled') return
  if (row.status === 'uncertain') throw conflict('Its outcome is unknown. Use POST /outbox/{id}/resolve.')
  if (row.committedAt !== null && row.status !== 'failed') throw conflict('The message was sent, or is being sent.')
  await discardMessage(deps, tx, row)
}

/** Ends a message that failed or whose outcome is unknown, or sends it again. Throws not_found, conflict. */
export async function resolveMessage(
  deps: ResolveDeps,
  tx: Tx,
  id: string,
  as: 'sent' | 'retry' | 'discard',
): Promise<OutboxRow> {
  const { accounts, clock, db, queue } = deps
  const store = outboxStore(tx, db.dialect)
  const row = await store.lock(id)
  const isUncertain = row.status === 'uncertain'
  if (!isUncertain && (row.status !== 'failed' || as === 'sent')) {
    throw conflict(`A message that is ${row.status} cannot be resolved as ${as}.`)
  }
  const nowMs = clock.now()
  if (as === 'discard') return discardMessage(deps, tx, row)
  const { accountId, messageId, rfcMessageId, sentToken } = row
  await accounts.hold(tx, accountId)
  if (as === 'retry') await requireOnlyOne(deps, tx, row)
  await reservedIds.reserve(tx, { accountId, messageId, as: 'sent' }, [{ rfcMessageId }, { sentToken }], nowMs)
  await queue.addIn(tx, SEND_QUEUE, [accountId])
  const changes: Partial<OutboxRow> =
    as === 'sent'
      ? { status: 'sent', sentAt: row.committedAt ?? nowMs, remaining: 'copy' }
      : { status: 'queued', committedAt: null }
  return store.update(id, {
    ...changes,
    error: null,
    checks: 0,
    dueAt: nowMs,
    giveUpAt: nowMs + DAY_MS,
    lease: null,
    leasedUntil: null,
    updatedAt: nowMs,
  })
}

/** The worker removes the draft of an attempt from the provider, and ends its reservation. */
async function discardMessage({ db, clock, queue }: ResolveDeps, tx: Tx, row: OutboxRow): Promise<OutboxRow> {
  const store = outboxStore(tx, db.dialect)
  const nowMs = clock.now()
  const hasDraft = row.providerMessageId !== null
  if (hasDraft) await queue.addIn(tx, SEND_QUEUE, [row.accountId])
  else await reservedIds.release(tx, row.messageId)
  await store.dropContent([row.id])
  return store.update(row.id, {
    status: 'cancelled',
    checks: 0,
    dueAt: hasDraft ? nowMs : null,
    lease: null,
    leasedUntil: null,
    updatedAt: nowMs,
  })
}

/**
 * A draft is sent once: throws conflict when another of its messages may have been sent, or is on its way. Call it after
 * `accounts.hold`.
 */
export async function requireOnlyOne(
  { db }: Pick<ResolveDeps, 'db'>,
  tx: Tx,
  { id, draftId }: Pick<OutboxRow, 'id' | 'draftId'>,
): Promise<void> {
  const other = draftId === null ? undefined : await outboxStore(tx, db.dialect).findOpenOfDraft(draftId, id)
  if (other !== undefined) throw conflict(`The draft is being sent already: see GET /outbox/${other}.`)
}

function conflict(message: string): AppError {
  return new AppError('conflict', { message })
}
