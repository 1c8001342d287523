import { ProviderError } from '../contract/index.ts'
import { list, object, type RestResponse, statusError, text } from '../rest/index.ts'

/** The daily quota resets at midnight in California. Retrying every hour also notices a raised quota. */
const DAILY_RETRY_MS = 60 * 60 * 1000

const TOO_FAST: ReadonlySet<string> = new Set(['rateLimitExceeded', 'userRateLimitExceeded'])
const DAILY: ReadonlySet<string> = new Set(['dailyLimitExceeded', 'quotaExceeded', 'dailyLimitExceededUnreg'])
const NO_SCOPE: ReadonlySet<string> = new Set(['insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT'])
const API_DISABLED: ReadonlySet<string> = new Set(['accessNotConfigured', 'SERVICE_DISABLED'])

/** One of Google's APIs, for error messages. */
interface GoogleApi {
  name: string
  scope: string
}

const GMAIL: GoogleApi = { name: 'the Gmail API (gmail.googleapis.com)', scope: 'gmail.modify' }

/**
 * Maps Google's errors. A 429 and most rate limits (which come as 403) become `rate_limited` here; `rest/client.ts` then pauses the
 * mailbox and retries. A 403 alone may also mean a missing scope, a disabled API or a refusal.
 */
export function gmailError(response: RestResponse, doing: string, nowMs: number): ProviderError {
  if (response.status === 409) return new ProviderError('exists', `${doing}: the name is taken`)
  const isFinal = response.status !== 403 && response.status !== 429
  if (isFinal && reasonsOf(response.body).includes('failedPrecondition')) {
    return new ProviderError('rejected', `${doing}: Gmail is not enabled for this Google account`)
  }
  return googleError(response, doing, nowMs, GMAIL)
}

/** What is the same for every API of Google. */
export function googleError(response: RestResponse, doing: string, nowMs: number, api: GoogleApi): ProviderError {
  const reasons = reasonsOf(response.body)
  const hasReason = (known: ReadonlySet<string>) => reasons.some((reason) => known.has(reason))
  const byStatus = statusError(response, doing, nowMs)
  if (response.status !== 403 && response.status !== 429) return byStatus
  const after = statusError({ ...response, status: 429 }, doing, nowMs).retryAfterMs
  if (hasReason(DAILY)) {
    return new ProviderError('rate_limited', `${doing}: the daily limit of the Google project is used up`, {
      retryAfterMs: Math.max(after ?? 0, DAILY_RETRY_MS),
    })
  }
  if (response.status === 429 || hasReason(TOO_FAST)) {
    const retry = after === undefined ? {} : { retryAfterMs: after }
    return new ProviderError('rate_limited', `${doing}: too many requests for this mailbox`, retry)
  }
  if (hasReason(NO_SCOPE)) {
    const why = `the user did not grant the scope https://www.googleapis.com/auth/${api.scope}`
    return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true })
  }
  if (hasReason(API_DISABLED)) {
    return new ProviderError(
      'rejected',
      `${doing}: enable ${serviceOf(response.body) ?? api.name} in the Google project`,
    )
  }
  return byStatus
}

/** Error reasons in Google's old form and its new one. Its sentences are not read: they may quote anything. */
export function reasonsOf(body: unknown): string[] {
  return itemsOf(body).flatMap(({ reason }) => text(reason) ?? [])
}

function serviceOf(body: unknown): string | undefined {
  return itemsOf(body)
    .map(({ metadata }) => text(object(metadata).service))
    .find((name) => name !== undefined && /^[\w.-]{1,100}$/.test(name))
}

function itemsOf(body: unknown) {
  const error = object(object(body).error)
  return [...list(error.errors), ...list(error.details)].map(object)
}
