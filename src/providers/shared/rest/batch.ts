import { sleep } from '../../../platform/concurrency/abort.ts'
import { type Backoff, backoffMs } from '../../../platform/concurrency/retry.ts'
import { ProviderError } from '../../contract/index.ts'
import { MAX_WAIT_MS } from './errors.ts'
import { mayBeOfMessage } from './message-failures.ts'

export interface BatchOptions<Item, Result> {
  /** Items of the next request. */
  size: number | (() => number)
  /** Sends one request and returns the result of each item. A missing item counts as `unavailable`. */
  send(items: Item[]): Promise<Map<Item, Result | ProviderError>>
  /** For errors: `fetching messages`. */
  doing: string
  /** The items only read. When a request fails as a whole, its items are sent one by one, because one of them may make it fail. */
  isolates?: boolean
  /** Before items are sent again, where the provider names no pause. */
  retry: Backoff
  signal?: AbortSignal | undefined
}

/** Requests in a row without a single result. */
const MAX_FRUITLESS = 3
/** Items in a row that fail by themselves: then the fault is not that of an item. */
const MAX_ALONE = 5

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
  options: BatchOptions<Item, Result>,
): AsyncGenerator<Map<Item, Result | ProviderError>> {
  const { size, doing, isolates = false, retry, signal } = options
  const left = [...items]
  const progress: Progress = { hasResults: false, failedInRow: 0 }
  let fruitless = 0

  /** Sends each item alone. Items that the rate limit refused are sent again with the rest. */
  async function sendEach(sent: readonly Item[], failure: ProviderError): Promise<Alone<Item, Result>> {
    const alone = await sendAlone(sent, options, progress, failure)
    left.push(...alone.limited)
    fruitless = alone.limit === undefined || alone.results.size > 0 ? 0 : fruitless + 1
    return alone
  }

  async function pause(failure: ProviderError): Promise<void> {
    const pauseMs = failure.retryAfterMs ?? backoffMs(fruitless + 1, retry)
    if (pauseMs > MAX_WAIT_MS || fruitless >= MAX_FRUITLESS) throw failure
    await sleep(pauseMs, signal)
  }

  while (left.length > 0) {
    signal?.throwIfAborted()
    const sent = left.splice(0, typeof size === 'number' ? size : size())
    const received = await sendTogether(sent, options)
    if (received instanceof ProviderError) {
      const { results, limit } = await sendEach(sent, received)
      yield results
      if (limit !== undefined) await pause(limit)
      continue
    }
    const results = new Map<Item, Result | ProviderError>()
    const failed: ProviderError[] = []
    for (const item of sent) {
      const result = received.get(item) ?? lacking(doing)
      if (isTemporary(result)) {
        left.push(item)
        failed.push(result)
      } else results.set(item, result)
    }
    if (results.size > 0) {
      progress.hasResults = true
      progress.failedInRow = 0
      yield results
    }
    const worst = failed.sort((one, other) => (other.retryAfterMs ?? 0) - (one.retryAfterMs ?? 0))[0]
    fruitless = failed.length < sent.length ? 0 : fruitless + 1
    if (worst === undefined) continue
    const isOfItems = worst.kind === 'unavailable' && (progress.hasResults || isolates)
    if (fruitless < MAX_FRUITLESS || !isOfItems) {
      await pause(worst)
      continue
    }
    const alone = await sendEach(left.splice(-sent.length), worst)
    yield alone.results
    if (alone.limit !== undefined) await pause(alone.limit)
  }
}

/** Returns the failure of a request that may be that of one of its items. */
async function sendTogether<Item, Result>(
  items: Item[],
  { send, isolates = false }: BatchOptions<Item, Result>,
): Promise<Map<Item, Result | ProviderError> | ProviderError> {
  try {
    return await send(items)
  } catch (error) {
    if (isolates && items.length > 1 && mayBeOfItem(error)) return error
    throw error
  }
}

interface Progress {
  /** Whether any item has a result that is no temporary failure. */
  hasResults: boolean
  /** Items that failed by themselves since the last one that did not. */
  failedInRow: number
}

interface Alone<Item, Result> {
  results: Map<Item, Result | ProviderError>
  /** The rate limit that ended the requests. */
  limit?: ProviderError
  /** Items still to be sent because of it. */
  limited: readonly Item[]
}

/**
 * Sends items one by one that failed together, up to a rate limit. Where they may not be sent so, or there is one, the failure is that of
 * each. Throws it when too many in a row fail, or nothing but failures comes back.
 */
async function sendAlone<Item, Result>(
  items: readonly Item[],
  { send, doing, isolates, signal }: BatchOptions<Item, Result>,
  progress: Progress,
  failure: ProviderError,
): Promise<Alone<Item, Result>> {
  const results = new Map<Item, Result | ProviderError>()
  const isFailureOfEach = !isolates || items.length === 1
  if (isFailureOfEach && !progress.hasResults) throw failure
  if (isFailureOfEach) return { results: new Map(items.map((item) => [item, failure])), limited: [] }
  for (const [index, item] of items.entries()) {
    signal?.throwIfAborted()
    if (progress.failedInRow >= MAX_ALONE) throw failure
    const result = await send([item]).then(
      (received) => received.get(item) ?? lacking(doing),
      (error: unknown) => {
        if (mayBeOfItem(error)) return error
        throw error
      },
    )
    if (result instanceof ProviderError && result.kind === 'rate_limited') {
      // Without any result, the failures before it may be those of the provider.
      if (!progress.hasResults) return { results: new Map(), limit: result, limited: items }
      return { results, limit: result, limited: items.slice(index) }
    }
    results.set(item, result)
    progress.failedInRow = isTemporary(result) ? progress.failedInRow + 1 : 0
    progress.hasResults ||= !isTemporary(result)
  }
  if (!progress.hasResults) throw failure
  return { results, limited: [] }
}

function mayBeOfItem(error: unknown): error is ProviderError {
  if (!(error instanceof ProviderError) || error.timedOut) return false
  return mayBeOfMessage(error) && error.retryAfterMs === undefined
}

function lacking(doing: string): ProviderError {
  return new ProviderError('unavailable', `${doing}: the response lacks an item`)
}

function isTemporary(result: unknown): result is ProviderError {
  return result instanceof ProviderError && (result.kind === 'rate_limited' || result.kind === 'unavailable')
}
