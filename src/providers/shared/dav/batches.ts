import { ProviderError } from '../../contract/index.ts'

/** Size of the first batch. */
const FIRST_BATCH = 200
/** Each batch costs the server as much as some hundred objects, but not all servers answer for thousands of them. */
const MAX_BATCH = 1000
/** A response that is smaller and sooner complete lets the next batches be twice as large. */
const SMALL_BYTES = 512 * 1024
const SOON_MS = 1000
/** One that leaves out some objects of each response would never end. */
const MAX_REPEATED = 100
const MIN_REPEATED = 20

/** Divides paths into batches of the size that suits the server. */
export class Batches {
  readonly #paths: readonly string[]
  readonly #halves: (readonly string[])[] = []
  #at = 0
  #size = FIRST_BATCH
  #repeated = 0
  #mayGrow = true

  constructor(paths: readonly string[]) {
    this.#paths = paths
  }

  next(): readonly string[] | undefined {
    const half = this.#halves.pop()
    if (half !== undefined) return half
    if (this.#at >= this.#paths.length) return undefined
    const batch = this.#paths.slice(this.#at, this.#at + this.#size)
    this.#at += batch.length
    return batch
  }

  /** The response to this batch was too large. */
  halve(batch: readonly string[]): void {
    const half = Math.ceil(batch.length / 2)
    this.#halves.push(batch.slice(half), batch.slice(0, half))
    this.#size = Math.min(this.#size, half)
  }

  /** The response to a batch left these objects out. Some servers limit how many they send at once. */
  repeat(paths: readonly string[], batch: readonly string[]): void {
    if (paths.length === 0) return
    this.#mayGrow = false
    this.#size = Math.min(this.#size, Math.max(MIN_REPEATED, batch.length - paths.length))
    this.#repeated += 1
    if (this.#repeated > MAX_REPEATED) {
      throw new ProviderError('unavailable', 'reading objects: the server leaves out some of them again and again')
    }
    for (let at = 0; at < paths.length; at += this.#size) this.#halves.push(paths.slice(at, at + this.#size))
  }

  /** The response to this batch is complete. */
  record(batch: readonly string[], sizeBytes: number, tookMs: number): void {
    if (!this.#mayGrow || batch.length < this.#size || sizeBytes > SMALL_BYTES || tookMs > SOON_MS) return
    this.#size = Math.min(MAX_BATCH, this.#size * 2)
  }
}
