import { nextTurn } from '../../../src/platform/concurrency/event-loop.ts'
import type { Timers } from '../../../src/platform/time/timers.ts'

interface Event {
  atMs: number
  /** Events of one time run in the order in which they were added. */
  number: number
  run: () => void
  isCancelled: boolean
}

/**
 * Time that passes only while `passUntil` runs, as fast as the machine can. Between two events all promises that are able
 * to continue do so, so code that awaits nothing but simulated timers behaves as it does in real time.
 */
export class SimulatedTime implements Timers {
  #nowMs = 0
  #count = 0
  /** A binary heap, the next event first. */
  readonly #events: Event[] = []

  get nowMs(): number {
    return this.#nowMs
  }

  start(run: () => void, delayMs: number): () => void {
    const event = { atMs: this.#nowMs + Math.max(0, delayMs), number: this.#count, run, isCancelled: false }
    this.#count += 1
    this.#push(event)
    return () => {
      event.isCancelled = true
    }
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.start(resolve, ms))
  }

  async passUntil(endMs: number): Promise<void> {
    await nextTurn()
    for (let next = this.#events[0]; next !== undefined && next.atMs <= endMs; next = this.#events[0]) {
      this.#pop()
      if (next.isCancelled) continue
      this.#nowMs = next.atMs
      next.run()
      await nextTurn()
    }
    this.#nowMs = endMs
  }

  pass(ms: number): Promise<void> {
    return this.passUntil(this.#nowMs + ms)
  }

  #push(event: Event): void {
    const events = this.#events
    let index = events.length
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = events[parentIndex]
      if (parent === undefined || !isBefore(event, parent)) break
      events[index] = parent
      index = parentIndex
    }
    events[index] = event
  }

  #pop(): void {
    const events = this.#events
    const last = events.pop()
    if (last === undefined || events.length === 0) return
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const [leftChild, rightChild] = [events[left], events[left + 1]]
      if (leftChild === undefined) break
      const isRight = rightChild !== undefined && isBefore(rightChild, leftChild)
      const child = isRight ? rightChild : leftChild
      if (!isBefore(child, last)) break
      events[index] = child
      index = isRight ? left + 1 : left
    }
    events[index] = last
  }
}

function isBefore(left: Event, right: Event): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.number < right.number)
}
