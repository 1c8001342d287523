import { accountQueries } from '../../../accounts/index.ts'
import type { Handle, Tx } from '../../../platform/db/index.ts'
import type { EventRow } from '../../index.ts'
import { deleteDeliveries } from './store.ts'

/** The only event of a deleted account that remains and is delivered. */
const LAST_EVENT = 'account.deleted'

/**
 * Returns the events that may be sent: those of deleted accounts may not, except `account.deleted`. The fan-out and every claim
 * check it, so the deletion of an account changes no row per event or delivery. A request in flight may still arrive.
 */
export async function sendable<Event extends Pick<EventRow, 'accountId' | 'type'>>(
  handle: Handle,
  events: readonly Event[],
): Promise<Event[]> {
  const accountIds = events.flatMap(({ accountId, type }) =>
    accountId === null || type === LAST_EVENT ? [] : [accountId],
  )
  const erased = await accountQueries(handle).beingErased([...new Set(accountIds)])
  return events.filter(({ accountId, type }) => type === LAST_EVENT || !erased.has(accountId ?? ''))
}

/** Deletes up to `limit` deliveries of a deleted account with their attempts. Returns how many. */
export async function eraseDeliveries(tx: Tx, accountId: string, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('webhookDeliveries')
    .select('id')
    .where('accountId', '=', accountId)
    .where('eventType', '<>', LAST_EVENT)
    .limit(limit)
    .execute()
  await deleteDeliveries(
    tx,
    rows.map((row) => row.id),
  )
  return rows.length
}

/** Deletes up to `limit` deliveries created before `beforeMs`, in any state. Returns how many. */
export async function purgeDeliveries(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  // Ids are ordered by creation time, so the oldest need no index on the time.
  const oldest = await tx
    .selectFrom('webhookDeliveries')
    .select(['id', 'createdAt'])
    .orderBy('id')
    .limit(limit)
    .execute()
  const ids = oldest.filter((row) => row.createdAt < beforeMs).map((row) => row.id)
  await deleteDeliveries(tx, ids)
  return ids.length
}
