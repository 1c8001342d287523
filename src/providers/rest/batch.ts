import { sleep } from '../../lib/abort.ts'
import { backoffMs } from '../../lib/retry.ts'
import { ProviderError } from '../contract/index.ts'
import { MAX_WAIT_MS } from './errors.ts'

export interface BatchOptions<Item, Result> {
  /** Items of the next request. */
  size: number | (() => number)
  /** Sends one request and returns the result of each item. A missing item counts as `unavailable`. */
  send(items: Item[]): Promise<Map<Item, Result | ProviderError>>
  /** For errors: `fetching messages`. */
  doing: string
  signal?: AbortSignal | undefined
}

/** Requests in a row without a single result. */
const MAX_FRUITLESS = 3
const BACKOFF = { baseMs: 500, capMs: MAX_WAIT_MS }

/** Returns the result of every item; see `batchResults`. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  options: BatchOptions<Item, Result>,
): Promise<Map<Item, Result | ProviderError>> {
  const all = new Map<Item, Result | ProviderError>()
  for await (const results of batchResults(items, options)) {
    for (const [item, result] of results) all.set(item, result)
  }
  return all
}

/**
 * Yields the results of each request before the next one, in as few requests as `size` allows. Items that fail with `rate_limited` or
 * `unavailable` go into a later request with others. Throws when the limit persists, the provider asks for a longer pause, or nothing
 * but failures comes back. Any other error is the item's result, and so is a persistent failure while other items succeed.
 */
export async function* batchResults<Item, Result>(
  items: readonly Item[],
  { size, send, doing, signal }: BatchOptions<Item, Result>,
): AsyncGenerator<Map<Item, Result | ProviderError>> {
  const left = [...items]
  let hasResults = false
  for (let fruitless = 0; left.length > 0; ) {
    signal?.throwIfAborted()
    const sent = left.splice(0, typeof size === 'number' ? size : size())
    const received = await send(sent)
    const results = new Map<Item, Result | ProviderError>()
    const failed: ProviderError[] = []
    for (const item of sent) {
      const result = received.get(item) ?? new ProviderError('unavailable', `${doing}: the response lacks an item`)
      if (isTemporary(result)) {
        left.push(item)
        failed.push(result)
      } else results.set(item, result)
    }
    if (results.size > 0) yield results
    hasResults ||= results.size > 0
    const worst = failed.sort((one, other) => (other.retryAfterMs ?? 0) - (one.retryAfterMs ?? 0))[0]
    fruitless = failed.length < sent.length ? 0 : fruitless + 1
    if (worst === undefined) continue
    const pauseMs = worst.retryAfterMs ?? backoffMs(fruitless + 1, BACKOFF)
    if (fruitless >= MAX_FRUITLESS && worst.kind === 'unavailable' && hasResults) {
      yield new Map(left.splice(-sent.length).map((item) => [item, worst] as const))
      fruitless = 0
    } else if (pauseMs > MAX_WAIT_MS || fruitless >= MAX_FRUITLESS) throw worst
    else await sleep(pauseMs, signal)
  }
}

function isTemporary(result: unknown): result is ProviderError {
  return result instanceof ProviderError && (result.kind === 'rate_limited' || result.kind === 'unavailable')
}
