import type { Log } from '../../infra/log/log.ts'
import type { Clock } from '../../lib/clock.ts'
import { retryAfterMs } from '../../lib/retry.ts'
import { webhookHeaders } from '../../lib/sign.ts'
import { cleanText, truncateText } from '../../lib/text.ts'

/** Why an attempt failed. */
export type FailureKind =
  | 'address_refused'
  | 'dns'
  | 'connection'
  | 'tls'
  | 'timeout'
  | 'redirect'
  | 'http_status'
  | 'internal'

/** What is asked of the outbound client: one POST to an address that passes the guard, following no redirect. */
export interface PostRequest {
  url: string
  headers: Record<string, string>
  body: string
  /** For everything, from the name lookup to the last byte of the answer that is read. */
  timeoutMs: number
  maxResponseBytes: number
  signal: AbortSignal
}

export interface PostAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** At most `maxResponseBytes`; longer answers are cut off. */
  body: Buffer
}

/** Rejects with `SendFailure`, or with anything at all once the signal has aborted. */
export type Post = (request: PostRequest) => Promise<PostAnswer>

export class SendFailure extends Error {
  override name = 'SendFailure'
  readonly kind: FailureKind
  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** Everything one attempt needs, opened and ready. */
export interface AttemptInput {
  eventId: string
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
  error: { kind: FailureKind; message: string } | null
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
  deps: { post: Post; clock: Clock; log: Log },
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
    deps.post({ url, headers, body, timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES, signal }),
    signal,
    deps.log,
  )
  const answer = result instanceof SendFailure ? undefined : result
  return {
    startedAt,
    durationMs: Math.round(deps.clock.monotonic() - started),
    responseStatus: answer?.status ?? null,
    responseBody: answer === undefined || answer.body.length === 0 ? null : bodyText(answer.body),
    error: result instanceof SendFailure ? { kind: result.kind, message: result.message } : statusError(result.status),
    retryAfterMs: retryAfterMs(single(answer?.headers['retry-after']), deps.clock.now()),
    signatures: input.secrets.length,
    headerNames: Object.keys(input.headers),
  }
}

async function answerOrFailure(posting: Promise<PostAnswer>, signal: AbortSignal, log: Log) {
  try {
    return await posting
  } catch (error) {
    if (signal.aborted) throw error
    if (error instanceof SendFailure) return error
    // One request that cannot even be made must not hold up the endpoint's other deliveries: it fails like the rest.
    log.error('A webhook request could not be made.', { error, operation: 'webhooks.deliver' })
    return new SendFailure('internal', 'The request could not be made.', { cause: error })
  }
}

/** Names are compared without case, so that a custom `Content-Type` takes the place of ours. */
function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function statusError(status: number): Outcome['error'] {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400
    ? {
        kind: 'redirect',
        message: `The endpoint answered ${status}. Redirects are not followed: use the final address.`,
      }
    : { kind: 'http_status', message: `The endpoint answered ${status}.` }
}

function bodyText(body: Buffer): string {
  return truncateText(cleanText(body.subarray(0, MAX_RESPONSE_BYTES).toString('utf8')), MAX_RESPONSE_BYTES)
}

const single = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value)
