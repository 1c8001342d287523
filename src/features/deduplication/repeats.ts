import type { EventRow } from '../../events/index.ts'
import type { Tx } from '../../infra/db/index.ts'
import { deduplicationKey, readsData } from './key.ts'
import { type Claim, type DeduplicationConfig, deduplicationStore } from './store.ts'

/**
 * Which of these events say again what an earlier one said; the others claim their keys. In the transaction that writes the
 * deliveries, in the order of `position`, one such transaction at a time (the fan-out's lock): claim and deliveries are
 * there together or not at all, and an event that comes again holds its own claim.
 *
 * The time that counts is the events' own, so the answer is the same however late the fan-out comes to them.
 */
export async function repeatedEvents(tx: Tx, events: readonly EventRow[]): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const store = deduplicationStore(tx)
  const config = await store.config()
  if (!config.enabled) return new Set()
  const keyed = events
    .filter((event) => isTellable(event, config))
    .map((event) => ({ event, key: keyOf(event, config) }))
  const known = await store.find([...new Set(keyed.map(({ key }) => key))])
  const claimed = new Map<string, Claim>()
  const repeats = new Set<string>()
  for (const { event, key } of keyed) {
    const holder = claimed.get(key) ?? known.get(key)
    if (holder === undefined || holder.eventId === event.id || holder.expiresAt <= event.createdAt) {
      claimed.set(key, { key, eventId: event.id, expiresAt: event.createdAt + config.ttlSeconds * 1000 })
    } else repeats.add(event.id)
  }
  await store.put([...claimed.values()])
  return repeats
}

/** Without a version two changes of one object look the same, and each of them is news. */
function isTellable(event: EventRow, { keyFields }: DeduplicationConfig): boolean {
  return event.version !== null || !keyFields.includes('version')
}

function keyOf(event: EventRow, { keyFields }: DeduplicationConfig): string {
  return deduplicationKey('events', keyFields, {
    accountId: event.accountId,
    eventType: event.type,
    provider: event.provider,
    objectId: event.objectId,
    version: event.version,
    data: readsData(keyFields) ? JSON.parse(event.data) : undefined,
  })
}
