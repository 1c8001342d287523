import type { Handle, Tx } from '../../../platform/db/index.ts'
import type { EventRow } from '../../index.ts'
import type { DeliveryRow } from '../tables.ts'

/** Returns the duplicates among these events, each with the id of the first event. Runs in the transaction that writes their deliveries. */
export type FindDuplicates = (tx: Tx, events: readonly EventRow[]) => Promise<ReadonlyMap<string, string>>

/** Finds duplicate events. Called once per event with a subscriber, in the order of `position`. */
export interface DuplicateFinder {
  find: FindDuplicates
  /**
   * For claims stored outside the database: called before the transaction, which then handles at most these events. Returns
   * the `find` of that transaction. May be called again for the same events.
   */
  ask?(events: readonly EventRow[]): Promise<FindDuplicates>
}

/**
 * Marks the deliveries of duplicate events as deduplicated. Ignores events without subscribers. An event without deliveries
 * suppresses nothing: a claim may outlive the deliveries it was made for, for example when a database is restored.
 */
export async function markDuplicates(
  tx: Tx,
  events: readonly EventRow[],
  made: DeliveryRow[],
  find: FindDuplicates,
): Promise<DeliveryRow[]> {
  const subscribed = new Set(made.map((delivery) => delivery.eventId))
  const duplicates = await find(
    tx,
    events.filter((event) => subscribed.has(event.id)),
  )
  if (duplicates.size === 0) return made
  const inThisBatch = (eventId: string) => subscribed.has(eventId) && !duplicates.has(eventId)
  const earlier = [...new Set(duplicates.values())].filter((eventId) => !inThisBatch(eventId))
  const deliveredIds = await delivered(tx, earlier)
  const isDuplicate = (eventId: string) => {
    const first = duplicates.get(eventId)
    return first !== undefined && (inThisBatch(first) || deliveredIds.has(first))
  }
  return made.map((delivery) =>
    isDuplicate(delivery.eventId) ? { ...delivery, status: 'deduplicated', nextAttemptAt: null } : delivery,
  )
}

/** The events that have deliveries which were not deduplicated themselves. */
async function delivered(handle: Handle, eventIds: readonly string[]): Promise<Set<string>> {
  if (eventIds.length === 0) return new Set()
  const rows = await handle
    .selectFrom('webhookDeliveries')
    .select('eventId')
    .distinct()
    .where('eventId', 'in', eventIds)
    .where('status', '<>', 'deduplicated')
    .execute()
  return new Set(rows.map((row) => row.eventId))
}
