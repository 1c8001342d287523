import { sleep } from '../../lib/abort.ts'
import { backoffMs } from '../../lib/retry.ts'
import { ProviderError } from '../contract/index.ts'
import { RETRY_IN_PLACE_MS } from './failure.ts'

export interface BatchOptions<Item, Result> {
  /** How many go into one request. */
  size: number
  /** One request: what became of each item. An item without an answer counts as `unavailable`. */
  send(items: Item[]): Promise<Map<Item, Result | ProviderError>>
  /** For errors: `fetching messages`. */
  doing: string
  signal?: AbortSignal | undefined
}

/** Requests in a row that brought not one answer. */
const FRUITLESS_LIMIT = 3
const BACKOFF = { baseMs: 500, capMs: RETRY_IN_PLACE_MS }

/**
 * The outcome of every item, asked for in as few requests as `size` allows. Items refused because of a limit or of a failure
 * of the moment go into a later request with others. A limit that lasts, a longer pause asked for, or nothing but failures is
 * thrown; any other error stands in the result, and so does a failure that lasts while other items were answered.
 */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  { size, send, doing, signal }: BatchOptions<Item, Result>,
): Promise<Map<Item, Result | ProviderError>> {
  const outcome = new Map<Item, Result | ProviderError>()
  const left = [...items]
  for (let fruitless = 0; left.length > 0; ) {
    signal?.throwIfAborted()
    const sent = left.splice(0, size)
    const answers = await send(sent)
    const again: ProviderError[] = []
    for (const item of sent) {
      const answer = answers.get(item) ?? new ProviderError('unavailable', `${doing}: an answer is missing`)
      if (isPassing(answer)) {
        left.push(item)
        again.push(answer)
      } else outcome.set(item, answer)
    }
    const worst = again.sort((one, other) => (other.retryAfterMs ?? 0) - (one.retryAfterMs ?? 0))[0]
    fruitless = again.length < sent.length ? 0 : fruitless + 1
    if (worst === undefined) continue
    const pauseMs = worst.retryAfterMs ?? backoffMs(fruitless + 1, BACKOFF)
    if (fruitless >= FRUITLESS_LIMIT && worst.kind === 'unavailable' && outcome.size > 0) {
      for (const item of left.splice(-sent.length)) outcome.set(item, worst)
      fruitless = 0
    } else if (pauseMs > RETRY_IN_PLACE_MS || fruitless >= FRUITLESS_LIMIT) throw worst
    else await sleep(pauseMs, signal)
  }
  return outcome
}

function isPassing(answer: unknown): answer is ProviderError {
  return answer instanceof ProviderError && (answer.kind === 'rate_limited' || answer.kind === 'unavailable')
}
