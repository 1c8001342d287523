import type { EventRow } from '../../../events/index.ts'
import type { Handle, Tx } from '../../../infra/db/index.ts'
import type { DeliveryRow } from './delivery.ts'

/** Which of these events are suppressed, and for which other one; in the transaction that writes their deliveries. */
export type FindDuplicates = (tx: Tx, events: readonly EventRow[]) => Promise<ReadonlyMap<string, string>>

/** What tells repeats. Asked once per event that somebody hears of, in the order of `position`. */
export interface DuplicateFinder {
  find: FindDuplicates
  /**
   * Where the answer stands elsewhere: asked before the transaction, which then takes these events at most; answers the
   * `find` of that one transaction. The same events may be asked about again.
   */
  ask?(events: readonly EventRow[]): Promise<FindDuplicates>
}

/**
 * Marks the deliveries of events that repeat others. An event that nobody hears of is not asked about, and one that was
 * never to be delivered suppresses nothing: whoever keeps the claims may have kept one whose deliveries were lost.
 */
export async function markDuplicates(
  tx: Tx,
  events: readonly EventRow[],
  made: DeliveryRow[],
  find: FindDuplicates,
): Promise<DeliveryRow[]> {
  const heard = new Set(made.map((delivery) => delivery.eventId))
  const duplicates = await find(
    tx,
    events.filter((event) => heard.has(event.id)),
  )
  if (duplicates.size === 0) return made
  const inThisBatch = (eventId: string) => heard.has(eventId) && !duplicates.has(eventId)
  const earlier = [...new Set(duplicates.values())].filter((eventId) => !inThisBatch(eventId))
  const known = await delivered(tx, earlier)
  const isRepeat = (eventId: string) => {
    const first = duplicates.get(eventId)
    return first !== undefined && (inThisBatch(first) || known.has(first))
  }
  return made.map((delivery) =>
    isRepeat(delivery.eventId) ? { ...delivery, status: 'deduplicated', nextAttemptAt: null } : delivery,
  )
}

/** Those of the events that have deliveries which were not suppressed themselves. */
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
