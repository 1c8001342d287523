import { ProviderError } from '../contract/index.ts'
import { list, object, type RestResponse, statusError, text } from '../rest/index.ts'

/** The daily quota resets at midnight in California. Retrying every hour also notices a raised quota. */
const DAILY_RETRY_MS = 60 * 60 * 1000

const TOO_FAST: ReadonlySet<string> = new Set(['rateLimitExceeded', 'userRateLimitExceeded'])
const DAILY: ReadonlySet<string> = new Set(['dailyLimitExceeded', 'quotaExceeded', 'dailyLimitExceededUnreg'])
const NO_SCOPE: ReadonlySet<string> = new Set(['insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT'])
const API_DISABLED: ReadonlySet<string> = new Set(['accessNotConfigured', 'SERVICE_DISABLED'])

/**
 * Maps Google's errors. A 429 and most rate limits (which come as 403) become `rate_limited` here; `rest/client.ts` then pauses the
 * mailbox and retries. A 403 alone may also mean a missing scope, a disabled API or a refusal.
 */
export function gmailError(response: RestResponse, doing: string, nowMs: number): ProviderError {
  const { reasons, service } = detailsOf(response.body)
  const hasReason = (known: ReadonlySet<string>) => reasons.some((reason) => known.has(reason))
  const byStatus = statusError(response, doing, nowMs)
  if (response.status === 409) return new ProviderError('exists', `${doing}: the name is taken`)
  if (response.status !== 403 && response.status !== 429) {
    return reasons.includes('failedPrecondition')
      ? new ProviderError('rejected', `${doing}: Gmail is not enabled for this Google account`)
      : byStatus
  }
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
    const why = 'the user did not grant the scope https://www.googleapis.com/auth/gmail.modify'
    return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true })
  }
  if (hasReason(API_DISABLED)) {
    const name = service ?? 'the Gmail API (gmail.googleapis.com)'
    return new ProviderError('rejected', `${doing}: enable ${name} in the Google project`)
  }
  return byStatus
}

/** Error reasons in Google's old form and its new one. Its sentences are not read: they may quote anything. */
function detailsOf(body: unknown): { reasons: string[]; service: string | undefined } {
  const error = object(object(body).error)
  const items = [...list(error.errors), ...list(error.details)].map(object)
  return {
    reasons: items.map(({ reason }) => text(reason)).filter((reason) => reason !== undefined),
    service: items.map(({ metadata }) => text(object(metadata).service)).find(isServiceName),
  }
}

function isServiceName(value: string | undefined): boolean {
  return value !== undefined && /^[\w.-]{1,100}$/.test(value)
}
