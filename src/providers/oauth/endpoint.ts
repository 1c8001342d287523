import { retryAfterMs } from '../../lib/retry.ts'
import { ProviderError } from '../contract/index.ts'

/** Everything one call says to the provider, from the first connection to the last byte. */
const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 256 * 1024

/**
 * Requests of one call to a sign-in service, all within 10 s together. Follows no redirect, because a token or a client secret
 * would go along. What is answered here is an answer that may be believed: 429 and 5xx throw `ProviderError`.
 */
export function callLimits(who: string, nowMs: () => number) {
  const signal = AbortSignal.timeout(TIMEOUT_MS)

  async function fetchBounded(url: string, init: RequestInit): Promise<Response> {
    try {
      const answer = await fetch(url, { ...init, redirect: 'manual', signal })
      const text = await boundedText(answer)
      refuseTrouble(who, answer, nowMs())
      // Only what the OAuth library shall judge by: a challenge in a header would hide the error code in the body.
      const type = answer.headers.get('content-type') ?? ''
      return new Response(hasNoBody(answer.status) ? null : text, {
        status: answer.status,
        headers: { 'content-type': type },
      })
    } catch (error) {
      throw error instanceof ProviderError ? error : unreachable(who, error)
    }
  }

  return { signal, fetch: fetchBounded }
}

async function boundedText(answer: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too long')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function refuseTrouble(who: string, answer: Response, nowMs: number): void {
  const { status } = answer
  if (status !== 429 && status < 500) return
  const afterMs = retryAfterMs(answer.headers.get('retry-after') ?? undefined, nowMs)
  throw new ProviderError(
    status === 429 ? 'rate_limited' : 'unavailable',
    status === 429 ? `${who} asks to wait (429)` : `${who} has trouble of its own (${status})`,
    afterMs === undefined ? {} : { retryAfterMs: afterMs },
  )
}

/** Statuses that the `Response` constructor refuses a body for. */
const hasNoBody = (status: number) => status === 204 || status === 205 || status === 304

/** The reason is named by its code alone: messages of the network may hold addresses with tokens in them. */
function unreachable(who: string, error: unknown): ProviderError {
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) {
    return new ProviderError('unavailable', `${who} did not answer in time`, { timedOut: true })
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : ''
  return new ProviderError('unavailable', `${who} could not be reached${code}`)
}
