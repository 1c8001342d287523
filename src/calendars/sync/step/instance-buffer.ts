import type { InstanceRow } from '../../store.ts'

const MAX_ROWS = 30_000
/** Fewer would write the pages of the index over the events more often: it has another order. More would delay other writers. */
const ROWS_PER_TRANSACTION = 5000

/**
 * Instances of a first sync, to insert in the order of their start: those of fifty series are spread over the whole index, so that
 * inserting them with their events writes each page of it a hundred times. Until they are inserted, the cursor stays where it was.
 */
export class InstanceBuffer {
  readonly #byEvent = new Map<string, readonly InstanceRow[]>()
  #rows = 0

  /** Events whose instances it holds. */
  get events(): number {
    return this.#byEvent.size
  }

  get isFull(): boolean {
    return this.#rows >= MAX_ROWS
  }

  /** Replaces the instances of the event. */
  set(eventId: string, instances: readonly InstanceRow[]): void {
    this.delete(eventId)
    this.#byEvent.set(eventId, instances)
    this.#rows += instances.length
  }

  delete(eventId: string): void {
    this.#rows -= this.#byEvent.get(eventId)?.length ?? 0
    this.#byEvent.delete(eventId)
  }

  /** Empties the buffer. Returns its rows in their order, in parts for one transaction each. */
  takeParts(): InstanceRow[][] {
    const rows = [...this.#byEvent.values()].flat().sort((a, b) => a.startMs - b.startMs)
    this.#byEvent.clear()
    this.#rows = 0
    const parts: InstanceRow[][] = []
    for (let start = 0; start < rows.length; start += ROWS_PER_TRANSACTION) {
      parts.push(rows.slice(start, start + ROWS_PER_TRANSACTION))
    }
    return parts
  }
}
