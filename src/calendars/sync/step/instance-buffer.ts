import type { EventRow, InstanceRow } from '../../store.ts'

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
  /** The provider ids of its events and of their series. */
  #providerIds = new Set<string>()
  #inserting: { providerIds: ReadonlySet<string>; done: Promise<void> } | undefined

  /** Events whose instances it holds. */
  get events(): number {
    return this.#byEvent.size
  }

  get isFull(): boolean {
    return this.#rows >= MAX_ROWS
  }

  /** Replaces the instances of the event. */
  set(
    { id, providerId, masterProviderId }: Pick<EventRow, 'id' | 'providerId' | 'masterProviderId'>,
    instances: readonly InstanceRow[],
  ): void {
    this.delete(id)
    this.#byEvent.set(id, instances)
    this.#rows += instances.length
    this.#providerIds.add(providerId)
    if (masterProviderId !== null) this.#providerIds.add(masterProviderId)
  }

  delete(eventId: string): void {
    this.#rows -= this.#byEvent.get(eventId)?.length ?? 0
    this.#byEvent.delete(eventId)
  }

  /** Empties the buffer. `insert` gets the rows in their order, in parts for one transaction each. */
  async flush(insert: (rows: readonly InstanceRow[]) => Promise<void>): Promise<void> {
    const rows = [...this.#byEvent.values()].flat().sort((a, b) => a.startMs - b.startMs)
    this.#byEvent.clear()
    this.#rows = 0
    this.#providerIds = new Set()
    for (let start = 0; start < rows.length; start += ROWS_PER_TRANSACTION) {
      await insert(rows.slice(start, start + ROWS_PER_TRANSACTION))
    }
  }
  /**
   * Runs `flush`, which empties the buffer, after the one before. Returns before it ends, so that further events are stored meanwhile;
   * `inserted` throws its error.
   */
  async flushBehind(flush: () => Promise<void>): Promise<void> {
    await this.inserted()
    const providerIds = this.#providerIds
    const done = flush()
    done.catch(() => {})
    this.#inserting = { providerIds, done }
  }

  /** Waits until nothing is being inserted. */
  async inserted(): Promise<void> {
    const done = this.#inserting?.done
    this.#inserting = undefined
    await done
  }

  /** Whether instances of this event or of its series are being inserted: it must not change before they are. */
  isInserting(providerId: string): boolean {
    return this.#inserting?.providerIds.has(providerId) ?? false
  }
}
