import { type EventRow, findEvents } from '../../../events/index.ts'
import type { Handle } from '../../../infra/db/index.ts'
import type { DeliveryRow } from '../tables.ts'

/** Characters of event data; some thousand events. */
const MAX_LENGTH = 4 * 1024 * 1024

/**
 * The events of deliveries that the fan-out just made, until their first claim: nearly always moments later and in the same process, so
 * they need not be read again. Bounded; the oldest are forgotten first.
 */
export class RecentEvents {
  readonly #maxLength: number
  readonly #events = new Map<string, { event: EventRow; claims: number }>()
  #length = 0

  constructor(maxLength = MAX_LENGTH) {
    this.#maxLength = maxLength
  }

  /** Keeps those of the events that these deliveries are about. */
  add(events: readonly EventRow[], deliveries: readonly Pick<DeliveryRow, 'eventId'>[]): void {
    const claims = new Map<string, number>()
    for (const { eventId } of deliveries) claims.set(eventId, (claims.get(eventId) ?? 0) + 1)
    for (const event of events) {
      const count = claims.get(event.id)
      if (count === undefined) continue
      this.#events.set(event.id, { event, claims: count })
      this.#length += event.data.length
    }
    for (const id of this.#events.keys()) {
      if (this.#length <= this.#maxLength) return
      this.#forget(id)
    }
  }

  /** The events of claimed deliveries by id, read if necessary. Those that were deleted may be missing. */
  async take(handle: Handle, deliveries: readonly Pick<DeliveryRow, 'eventId'>[]): Promise<Map<string, EventRow>> {
    const found = new Map<string, EventRow>()
    const missing = new Set<string>()
    for (const { eventId } of deliveries) {
      const recent = this.#events.get(eventId)
      if (recent === undefined) {
        missing.add(eventId)
        continue
      }
      found.set(eventId, recent.event)
      recent.claims -= 1
      if (recent.claims === 0) this.#forget(eventId)
    }
    for (const [id, event] of await findEvents(handle, [...missing])) found.set(id, event)
    return found
  }

  #forget(id: string): void {
    this.#length -= this.#events.get(id)?.event.data.length ?? 0
    this.#events.delete(id)
  }
}
