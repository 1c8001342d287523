/**
 * A queue without duplicates from which any item can be removed, in constant time. A plain set is none: each read of its first item
 * passes all those that were removed before it.
 */
export class Fifo<Item> {
  readonly #items = new Set<Item>()
  /** Stays behind the items taken so far. */
  #rest = this.#items.values()

  get size(): number {
    return this.#items.size
  }

  /** Keeps the place of an item that waits already. */
  add(item: Item): void {
    this.#items.add(item)
  }

  /** Ignores an item that is not in the queue. */
  delete(item: Item): void {
    this.#items.delete(item)
  }

  /** Takes the first item. */
  shift(): Item | undefined {
    let next = this.#rest.next()
    if (next.done === true) {
      // An iterator that reached the end does not see what is added later.
      this.#rest = this.#items.values()
      next = this.#rest.next()
    }
    if (next.done === true) return undefined
    this.#items.delete(next.value)
    return next.value
  }
}
