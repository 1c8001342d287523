import { retryAfterMs } from '../../../platform/concurrency/retry.ts'
import { errorCode } from '../../../platform/errors/describe-error.ts'
import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import { exceededJsonLimit } from '../../../platform/formats/json-limits.ts'
import { ProviderError } from '../../contract/index.ts'
import { unusableResponse } from './errors.ts'

/** For all requests of one call, from the first connection to the last byte. */
const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 256 * 1024
const JSON_LIMITS = { depth: 50, values: 5000 }

/**
 * A `fetch` for the requests of one call to a sign-in service, with one time limit for all of them. It follows no redirect, because
 * the token or the client secret would go along. It throws `ProviderError` for redirects, 429, 5xx and network errors.
 */
export function limitedFetch(service: string, nowMs: () => number) {
  const signal = AbortSignal.timeout(TIMEOUT_MS)

  async function fetchLimited(url: string, init: RequestInit): Promise<Response> {
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal })
      const failure = findFailure(service, response, nowMs())
      if (failure !== undefined) {
        // Frees the connection. What is reported is the failure, whether or not this succeeds.
        void response.body?.cancel().catch(() => {})
        throw failure
      }
      const text = await readText(service, response)
      if (exceededJsonLimit(text, JSON_LIMITS) !== undefined) throw unusableResponse(service)
      // Other headers are dropped: for a WWW-Authenticate challenge oauth4webapi would ignore the error code in the body.
      const type = response.headers.get('content-type') ?? ''
      return new Response(hasNoBody(response.status) ? null : text, {
        status: response.status,
        headers: { 'content-type': type },
      })
    } catch (error) {
      throw error instanceof ProviderError ? error : networkError(service, error)
    }
  }

  return { signal, fetch: fetchLimited }
}

async function readText(service: string, response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_RESPONSE_BYTES) throw unusableResponse(service, `longer than ${MAX_RESPONSE_BYTES / 1024} KiB`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** What the status alone says: an outage, a limit, or a redirect. */
function findFailure(service: string, { status, headers }: Response, nowMs: number): ProviderError | undefined {
  if (status >= 300 && status < 400 && headers.has('location')) {
    return new ProviderError('unavailable', `${service} redirects (${status}), which is not followed: check its URLs`)
  }
  if (status !== 429 && status < 500) return undefined
  const afterMs = retryAfterMs(headers.get('retry-after') ?? undefined, nowMs)
  return new ProviderError(
    status === 429 ? 'rate_limited' : 'unavailable',
    status === 429 ? `${service} received too many requests (429)` : `${service} failed (${status})`,
    afterMs === undefined ? {} : { retryAfterMs: afterMs },
  )
}

/** Statuses for which the `Response` constructor refuses a body. */
const hasNoBody = (status: number) => status === 204 || status === 205 || status === 304

/**
 * Names the reason by its code only: messages of network errors may contain addresses with tokens in them. Throws programming errors.
 */
export function networkError(service: string, error: unknown): ProviderError {
  rethrowProgrammingError(error)
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) {
    return new ProviderError('unavailable', `${service} timed out`, { timedOut: true })
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = errorCode(cause)
  return new ProviderError('unavailable', `${service} could not be reached${code === '' ? '' : ` (${code})`}`)
}
