import { type Outbound, type OutboundAnswer, OutboundError, type OutboundFailure } from '../../../infra/http/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { retryAfterMs } from '../../../lib/retry.ts'
import { webhookHeaders } from '../../../lib/signature.ts'
import { cleanText, truncateText } from '../../../lib/text.ts'

/** Why an attempt failed: no answer came, or one that is not 2xx. */
export type FailureKind = OutboundFailure | 'redirect' | 'http_status' | 'internal'

/** `message` is for the owner of the endpoint. */
export interface Failure {
  kind: FailureKind
  message: string
}

/** Everything one attempt needs, opened and ready. */
export interface AttemptInput {
  eventId: string
  endpointId: string
  url: string
  body: string
  secrets: readonly string[]
  headers: Record<string, string>
  timeoutMs: number
}

/** What came of one attempt. `error` null is success. */
export interface Outcome {
  startedAt: number
  durationMs: number
  responseStatus: number | null
  responseBody: string | null
  error: Failure | null
  /** As the receiver asked by `Retry-After`. */
  retryAfterMs: number | undefined
  signatures: number
  headerNames: string[]
}

export const USER_AGENT = 'Posthorn-Webhooks/1'

/** What is stored of an answer. */
const MAX_RESPONSE_BYTES = 16 * 1024

/** Signs with a fresh timestamp, sends, and tells what came of it. Rejects only when the signal aborted. */
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
  const result = await answerOrFailure(
    // Endpoints may share a host: one that hangs must not take the connections of the others.
    deps.outbound.send({ method: 'POST', url, headers, body, timeoutMs, connectionsOf: input.endpointId, signal }),
    signal,
    deps.log,
  )
  const answer = 'status' in result ? result : undefined
  return {
    startedAt,
    durationMs: Math.round(deps.clock.monotonic() - started),
    responseStatus: answer?.status ?? null,
    responseBody: answer === undefined || answer.body.length === 0 ? null : bodyText(answer.body),
    error: 'status' in result ? statusError(result.status) : result,
    retryAfterMs: retryAfterMs(single(answer?.headers['retry-after']), deps.clock.now()),
    signatures: input.secrets.length,
    headerNames: Object.keys(input.headers),
  }
}

async function answerOrFailure(
  sending: Promise<OutboundAnswer>,
  signal: AbortSignal,
  log: Log,
): Promise<OutboundAnswer | Failure> {
  try {
    return await sending
  } catch (error) {
    if (signal.aborted) throw error
    if (error instanceof OutboundError) return { kind: error.kind, message: error.message }
    // One request that cannot even be made must not hold up the endpoint's other deliveries: it fails like the rest.
    log.error('A webhook request could not be made.', { error, operation: 'webhooks.deliver' })
    return { kind: 'internal', message: 'The request could not be made.' }
  }
}

/** Names are compared without case, so that a custom `Content-Type` takes the place of ours. */
function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function statusError(status: number): Failure | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400
    ? {
        kind: 'redirect',
        message: `The endpoint answered ${status}. Redirects are not followed: use the final address.`,
      }
    : { kind: 'http_status', message: `The endpoint answered ${status}.` }
}

function bodyText(body: Buffer): string {
  const text = cleanText(body.subarray(0, MAX_RESPONSE_BYTES).toString('utf8'))
  // Bytes that are not UTF-8 became three bytes each.
  return Buffer.byteLength(text) <= MAX_RESPONSE_BYTES ? text : truncateText(text, Math.floor(MAX_RESPONSE_BYTES / 3))
}

const single = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value)
