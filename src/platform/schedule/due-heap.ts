/** An item of the heap, which maintains `heapIndex`. */
export interface Due {
  dueAt: number
  /** Position in the heap, -1 outside. */
  heapIndex: number
}

/** A binary heap by due time from which any item can be removed. */
export class DueHeap<Item extends Due> {
  readonly #items: Item[] = []

  get size(): number {
    return this.#items.length
  }

  /** The item that is due first. */
  first(): Item | undefined {
    return this.#items[0]
  }

  /** `dueAt` must not change while the item is in the heap. */
  add(item: Item): void {
    this.#items.push(item)
    this.#up(item, this.#items.length - 1)
  }

  /** Ignores an item that is not in the heap. */
  remove(item: Item): void {
    const index = item.heapIndex
    if (index < 0) return
    item.heapIndex = -1
    const last = this.#items.pop()
    if (last === undefined || last === item) return
    this.#up(last, index)
    this.#down(last, last.heapIndex)
  }

  #up(item: Item, from: number): void {
    let index = from
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = this.#items[parentIndex]
      if (parent === undefined || parent.dueAt <= item.dueAt) break
      this.#put(parent, index)
      index = parentIndex
    }
    this.#put(item, index)
  }

  #down(item: Item, from: number): void {
    let index = from
    for (;;) {
      const [left, right] = [this.#items[2 * index + 1], this.#items[2 * index + 2]]
      const child = right !== undefined && left !== undefined && right.dueAt < left.dueAt ? right : left
      if (child === undefined || child.dueAt >= item.dueAt) break
      const childIndex = child.heapIndex
      this.#put(child, index)
      index = childIndex
    }
    this.#put(item, index)
  }

  #put(item: Item, index: number): void {
    this.#items[index] = item
    item.heapIndex = index
  }
}
