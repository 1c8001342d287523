import { retryAfterMs } from '../../../platform/concurrency/retry.ts'
import { webhookHeaders } from '../../../platform/crypto/signature.ts'
import { cleanText, truncateText } from '../../../platform/formats/text.ts'
import type { Log } from '../../../platform/log/index.ts'
import {
  lowerCased,
  type Outbound,
  OutboundError,
  type OutboundFailure,
  type OutboundResponse,
} from '../../../platform/outbound/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'

/** Why an attempt failed: no response, or one that is not 2xx. */
type FailureKind = OutboundFailure | 'redirect' | 'http_status' | 'internal'

/** `message` is written for the owner of the endpoint. */
export interface Failure {
  kind: FailureKind
  message: string
}

/** Everything one attempt needs, with secrets and headers decrypted. */
export interface AttemptInput {
  eventId: string
  endpointId: string
  url: string
  body: string
  secrets: readonly string[]
  headers: Record<string, string>
  timeoutMs: number
}

/** The outcome of one attempt. `error` is null on success. */
export interface Outcome {
  startedAt: number
  durationMs: number
  responseStatus: number | null
  responseBody: string | null
  error: Failure | null
  /** From the receiver's `Retry-After` header. */
  retryAfterMs: number | undefined
  signatures: number
  headerNames: string[]
}

export const USER_AGENT = 'Posthorn-Webhooks/1'

/** How much of a response is stored. */
const MAX_RESPONSE_BYTES = 16 * 1024

/** Signs the request with a fresh timestamp, sends it and returns the outcome. Rejects only when the signal aborts. */
export async function attempt(
  input: AttemptInput,
  deps: { outbound: Outbound; clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<Outcome> {
  const startedAt = deps.clock.now()
  const started = deps.clock.monotonic()
  const timestamp = Math.floor(startedAt / 1000)
  const headers = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    ...lowerCased(input.headers),
    ...webhookHeaders({ id: input.eventId, timestamp, body: input.body, secrets: input.secrets }),
  }
  const { url, body, timeoutMs } = input
  const result = await responseOrFailure(
    // Endpoints may share a host, so each has its own connections: a hanging endpoint must not use up those of others.
    deps.outbound.send({ method: 'POST', url, headers, body, timeoutMs, connectionOwner: input.endpointId, signal }),
    signal,
    deps.log,
  )
  const response = 'status' in result ? result : undefined
  return {
    startedAt,
    durationMs: Math.round(deps.clock.monotonic() - started),
    responseStatus: response?.status ?? null,
    responseBody: response === undefined || response.body.length === 0 ? null : bodyText(response.body),
    error: 'status' in result ? statusError(result.status) : result,
    retryAfterMs: retryAfterMs(single(response?.headers['retry-after']), deps.clock.now()),
    signatures: input.secrets.length,
    headerNames: Object.keys(input.headers),
  }
}

async function responseOrFailure(
  sending: Promise<OutboundResponse>,
  signal: AbortSignal,
  log: Log,
): Promise<OutboundResponse | Failure> {
  try {
    return await sending
  } catch (error) {
    if (signal.aborted) throw error
    if (error instanceof OutboundError) return { kind: error.kind, message: error.message }
    // A request that cannot be built counts as a failed attempt, so the endpoint's other deliveries go on.
    log.error('Cannot send a webhook request because of an internal error.', { error, operation: 'webhooks.deliver' })
    return { kind: 'internal', message: 'The service could not send the request.' }
  }
}

function statusError(status: number): Failure | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400
    ? {
        kind: 'redirect',
        message: `The endpoint returned ${status}. Redirects are not followed: set the final URL.`,
      }
    : { kind: 'http_status', message: `The endpoint returned ${status}.` }
}

function bodyText(body: Buffer): string {
  const text = cleanText(body.subarray(0, MAX_RESPONSE_BYTES).toString('utf8'))
  // Each invalid byte became a three-byte replacement character.
  return Buffer.byteLength(text) <= MAX_RESPONSE_BYTES ? text : truncateText(text, Math.floor(MAX_RESPONSE_BYTES / 3))
}

const single = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value)
