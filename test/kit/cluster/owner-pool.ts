import type { MemoryAccount } from './memory-store.ts'

interface Entry {
  account: MemoryAccount
  /** The account's `moves` when it was added: after another move the entry is stale. */
  moves: number
}

/** The accounts of one owner in the order of their ids. Removes accounts that moved to another owner when it meets them. */
export class OwnerPool {
  #sorted: Entry[] = []
  /** Entries of `#sorted` before this one are stale. */
  #head = 0
  #added: Entry[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  add(account: MemoryAccount): void {
    this.#added.push({ account, moves: account.moves })
    this.#size += 1
  }

  /** Call it for an account that moves to another owner. */
  left(): void {
    this.#size -= 1
  }

  first(limit: number, afterId = ''): MemoryAccount[] {
    this.#merge()
    const found: MemoryAccount[] = []
    let isHead = true
    for (let index = this.#startAfter(afterId); index < this.#sorted.length && found.length < limit; index += 1) {
      const entry = this.#sorted[index]
      if (entry === undefined) break
      if (isStale(entry)) {
        if (isHead && index === this.#head) this.#head += 1
        continue
      }
      isHead = false
      found.push(entry.account)
    }
    return found
  }

  last(limit: number): MemoryAccount[] {
    this.#merge()
    const found: MemoryAccount[] = []
    for (let index = this.#sorted.length - 1; index >= this.#head && found.length < limit; index -= 1) {
      const entry = this.#sorted[index]
      if (entry !== undefined && !isStale(entry)) found.push(entry.account)
    }
    return found
  }

  /** The index of the first entry whose id is greater. */
  #startAfter(afterId: string): number {
    let [low, high] = [this.#head, this.#sorted.length]
    if (afterId === '') return low
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#sorted[middle]?.account.id ?? '') > afterId) high = middle
      else low = middle + 1
    }
    return low
  }

  #merge(): void {
    if (this.#added.length === 0) return
    const kept = this.#sorted.slice(this.#head).filter((entry) => !isStale(entry))
    const added = this.#added.filter((entry) => !isStale(entry))
    this.#added = []
    this.#head = 0
    this.#sorted = [...kept, ...added].sort((left, right) => (left.account.id < right.account.id ? -1 : 1))
  }
}

const isStale = ({ account, moves }: Entry) => account.moves !== moves
