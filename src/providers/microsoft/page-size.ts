import { ProviderError } from '../contract/index.ts'

const MIN_MESSAGES = 5
/** Pages of one size in a row after which a larger one is tried. */
const PAGES_BEFORE_GROWTH = 10
/** A provider that asks for a longer pause does not mean the page. */
const MAX_PAUSE_MS = 5000

/**
 * How many messages of a folder to request per page. Of some mailboxes, Exchange cannot serve pages of more than ten or twenty messages: it
 * responds 503 or 504 to larger ones for as long as they are requested. A page that fails so is requested again with half as many.
 */
export class PageSize {
  #largest = Number.POSITIVE_INFINITY
  #pages = 0

  /** At most `wanted`. */
  limit(wanted: number): number {
    return Math.min(wanted, this.#largest)
  }

  /** Calls `read` with at most `wanted`, and again with less while the page is too large. */
  async read<Result>(wanted: number, read: (messages: number) => Promise<Result>): Promise<Result> {
    for (;;) {
      const messages = this.limit(wanted)
      try {
        const result = await read(messages)
        if (messages === this.#largest) this.#served()
        return result
      } catch (error) {
        if (!isTooLarge(error) || !this.shrink(messages)) throw error
      }
    }
  }

  /** A page of this size could not be served. Returns false when there is no smaller one. */
  shrink(messages: number): boolean {
    this.#largest = Math.max(MIN_MESSAGES, Math.floor(messages / 2))
    this.#pages = 0
    return messages > MIN_MESSAGES
  }

  #served(): void {
    this.#pages += 1
    if (this.#pages < PAGES_BEFORE_GROWTH) return
    this.#largest *= 2
    this.#pages = 0
  }
}

/** A link to the next page, for at most so many messages. */
export function withTop(path: string, messages: number): string {
  return path.replace(/([?&](?:\$|%24)top=)(\d+)/i, (_, name, top) => name + Math.min(Number(top), messages))
}

/** Whether a smaller page may succeed. */
export function isTooLarge(error: unknown): error is ProviderError {
  return (
    error instanceof ProviderError &&
    error.kind === 'unavailable' &&
    error.busy &&
    (error.retryAfterMs ?? 0) <= MAX_PAUSE_MS
  )
}
