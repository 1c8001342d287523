import { ProviderError } from '../contract/index.ts'
import {
  type FailedRequest,
  list,
  object,
  type QuotaRefusal,
  type RestResponse,
  statusError,
  text,
  time,
  wholeNumber,
} from '../shared/rest/index.ts'

/** The daily quota resets at midnight in California. Retrying every hour also notices a raised quota. */
const DAILY_RETRY_MS = 60 * 60 * 1000

const MAX_WAIT_MS = 24 * 60 * 60 * 1000

const TOO_FAST: ReadonlySet<string> = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'RATE_LIMIT_EXCEEDED'])
const DAILY: ReadonlySet<string> = new Set(['dailyLimitExceeded', 'quotaExceeded', 'dailyLimitExceededUnreg'])
const NO_SCOPE: ReadonlySet<string> = new Set(['insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT'])
const API_DISABLED: ReadonlySet<string> = new Set(['accessNotConfigured', 'SERVICE_DISABLED'])

/**
 * Sentences of Google that say more than its reasons. Of other sentences nothing is read, and none is ever shown: they may quote
 * anything.
 */
const SENTENCES = {
  retryAfter: /^User-rate limit exceeded\.\s+Retry after (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)/,
  projectMinute: /^Quota exceeded for quota metric '[^']{1,100}' and limit '[^']{1,100} per minute'/,
  minute: /^Quota exceeded for quota metric '[^']{1,100}' and limit '[^']{1,100} per minute per user'/,
  concurrent: /^Too many concurrent requests for user/,
  notEnabled: /^Mail service not enabled/,
}

/** One of Google's APIs, for error messages. */
interface GoogleApi {
  name: string
  scope: string
  /** The token is that of a service account. */
  isApplication?: boolean
}

const GMAIL: GoogleApi = { name: 'the Gmail API (gmail.googleapis.com)', scope: 'gmail.modify' }

/**
 * Maps Google's errors. A 429 and most rate limits (which come as 403) become `rate_limited` here; `rest/client.ts` then retries
 * the request, and `rest/rate-limiter.ts` makes the others of the mailbox wait. A 403 alone may also mean a missing scope, a disabled
 * API or a refusal.
 */
export function gmailError(
  response: RestResponse,
  doing: string,
  nowMs: number,
  request?: Pick<FailedRequest, 'isApplication'>,
): ProviderError {
  if (response.status === 409) {
    return new ProviderError('conflict', `${doing}: Gmail made another change at the same time. Try again.`)
  }
  if (response.status === 400 && readReasons(response.body).includes('failedPrecondition')) {
    const why =
      sentence(response.body, SENTENCES.notEnabled) === undefined
        ? 'the state of the mailbox or of the object does not allow it (failedPrecondition)'
        : 'Gmail is not enabled for this Google account'
    return new ProviderError('rejected', `${doing}: ${why}`)
  }
  return googleError(response, doing, nowMs, { ...GMAIL, ...request })
}

/** Maps the errors that every API of Google shares. */
export function googleError(response: RestResponse, doing: string, nowMs: number, api: GoogleApi): ProviderError {
  const reasons = readReasons(response.body)
  const hasReason = (reasonSet: ReadonlySet<string>) => reasons.some((reason) => reasonSet.has(reason))
  const byStatus = statusError(response, doing, nowMs)
  if (response.status !== 403 && response.status !== 429) return byStatus
  const after = statusError({ ...response, status: 429 }, doing, nowMs).retryAfterMs ?? statedPauseMs(response, nowMs)
  if (hasReason(DAILY)) {
    return new ProviderError('rate_limited', `${doing}: the daily limit of the Google project is used up`, {
      retryAfterMs: Math.max(after ?? 0, DAILY_RETRY_MS),
    })
  }
  if (response.status === 429 || hasReason(TOO_FAST)) {
    const retry = after === undefined ? {} : { retryAfterMs: after }
    return new ProviderError('rate_limited', `${doing}: too many requests for this mailbox`, retry)
  }
  if (hasReason(NO_SCOPE)) return noScope(doing, api)
  if (hasReason(API_DISABLED)) {
    return new ProviderError(
      'rejected',
      `${doing}: enable ${findService(response.body) ?? api.name} in the Google project`,
      { denied: true },
    )
  }
  return byStatus
}

function noScope(doing: string, { scope, isApplication = false }: GoogleApi): ProviderError {
  const name = `https://www.googleapis.com/auth/${scope}`
  const why = isApplication
    ? `the token of the service account lacks the scope ${name}. Request it (GOOGLE_SCOPES), and let an administrator of the domain delegate it`
    : `the user did not grant the scope ${name}`
  return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true, isOfApplication: isApplication })
}

/** Which limit a refusal says was exceeded. */
export function quotaRefusal({ body }: RestResponse): QuotaRefusal {
  if (readReasons(body).some((reason) => DAILY.has(reason))) return { window: 'day' }
  for (const { metadata } of readItems(body)) {
    const { quota_limit: limit, quota_limit_value: value } = object(metadata)
    const [, scope] = /PerMinute(PerUser|PerProject)$/.exec(text(limit) ?? '') ?? []
    const unitsPerMinute = scope === undefined ? undefined : wholeNumber(value)
    if (unitsPerMinute === undefined || unitsPerMinute <= 0) continue
    return { window: 'minute', unitsPerMinute, ...(scope === 'PerProject' && { isOfProject: true }) }
  }
  if (sentence(body, SENTENCES.projectMinute) !== undefined) return { window: 'minute', isOfProject: true }
  if (sentence(body, SENTENCES.minute) !== undefined) return { window: 'minute' }
  return sentence(body, SENTENCES.concurrent) === undefined ? {} : { window: 'second' }
}

/** The pause that Google names in a sentence instead of the header. */
function statedPauseMs({ body }: RestResponse, nowMs: number): number | undefined {
  const until = time(sentence(body, SENTENCES.retryAfter)?.[1])
  return until === undefined || until <= nowMs ? undefined : Math.min(until - nowMs, MAX_WAIT_MS)
}

function sentence(body: unknown, form: RegExp): RegExpExecArray | undefined {
  const error = object(object(body).error)
  const sentences = [error, ...list(error.errors).map(object)].flatMap(({ message }) => text(message) ?? [])
  return sentences.map((sentenceText) => form.exec(sentenceText)).find((found) => found !== null) ?? undefined
}

/** Error reasons in Google's old form and its new one. Its sentences are not read: they may quote anything. */
export function readReasons(body: unknown): string[] {
  return readItems(body).flatMap(({ reason }) => text(reason) ?? [])
}

function findService(body: unknown): string | undefined {
  return readItems(body)
    .map(({ metadata }) => text(object(metadata).service))
    .find((name) => name !== undefined && /^[\w.-]{1,100}$/.test(name))
}

function readItems(body: unknown) {
  const error = object(object(body).error)
  return [...list(error.errors), ...list(error.details)].map(object)
}
