import { LRUCache } from 'lru-cache'
import type { Handle } from '../../../platform/db/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { type EventRow, findEvents } from '../../index.ts'
import type { DeliveryRow } from '../tables.ts'

/** Characters of event data; some thousand events. */
const MAX_LENGTH = 4 * 1024 * 1024
/** Deliveries that wait longer are behind many others, or another process claims them. */
const KEPT_MS = 30_000

interface Recent {
  event: EventRow
  /** Deliveries that were not claimed yet. */
  deliveries: number
}

/**
 * The events of deliveries that the fan-out just made, until their first claim: nearly always moments later and in the same process, so
 * they need not be read again.
 */
export class RecentEvents {
  readonly #events: LRUCache<string, Recent>

  constructor(clock: Pick<Clock, 'monotonic'>, maxLength = MAX_LENGTH) {
    this.#events = new LRUCache({
      maxSize: maxLength,
      sizeCalculation: ({ event }) => event.data.length,
      ttl: KEPT_MS,
      ttlResolution: 0,
      perf: { now: () => clock.monotonic() },
    })
  }

  /** Keeps those of the events that these deliveries are about. */
  add(events: readonly EventRow[], made: readonly Pick<DeliveryRow, 'eventId'>[]): void {
    const counts = new Map<string, number>()
    for (const { eventId } of made) counts.set(eventId, (counts.get(eventId) ?? 0) + 1)
    for (const event of events) {
      const deliveries = counts.get(event.id)
      if (deliveries !== undefined) this.#events.set(event.id, { event, deliveries })
    }
  }

  /** The events of claimed deliveries by id, read if necessary. Those that were deleted may be missing. */
  async take(handle: Handle, claimed: readonly Pick<DeliveryRow, 'eventId'>[]): Promise<Map<string, EventRow>> {
    const found = new Map<string, EventRow>()
    const missing = new Set<string>()
    for (const { eventId } of claimed) {
      const recent = this.#events.get(eventId)
      if (recent === undefined) {
        missing.add(eventId)
        continue
      }
      found.set(eventId, recent.event)
      recent.deliveries -= 1
      if (recent.deliveries === 0) this.#events.delete(eventId)
    }
    for (const [id, event] of await findEvents(handle, [...missing])) found.set(id, event)
    return found
  }

  /** Call it from time to time: frees what is not used any more. */
  purge(): void {
    this.#events.purgeStale()
  }
}
