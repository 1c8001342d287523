import { ProviderError } from '../contract/index.ts'
import { type RestResponse, statusFailure } from '../rest/index.ts'

/** A used-up day begins anew at midnight in California; asked every hour, a raised quota is noticed too. */
const DAILY_RETRY_MS = 60 * 60 * 1000

const TOO_FAST: ReadonlySet<string> = new Set(['rateLimitExceeded', 'userRateLimitExceeded'])
const DAILY: ReadonlySet<string> = new Set(['dailyLimitExceeded', 'quotaExceeded', 'dailyLimitExceededUnreg'])
const NO_SCOPE: ReadonlySet<string> = new Set(['insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT'])
const SWITCHED_OFF: ReadonlySet<string> = new Set(['accessNotConfigured', 'SERVICE_DISABLED'])

/** What Google's errors mean beyond their status: 403 alone stands for five different things. */
export function gmailFailure(answer: RestResponse, doing: string, nowMs: number): ProviderError {
  const { reasons, service } = wordsOf(answer.body)
  const says = (known: ReadonlySet<string>) => reasons.some((reason) => known.has(reason))
  const plain = statusFailure(answer, doing, nowMs)
  if (answer.status !== 403 && answer.status !== 429) {
    return reasons.includes('failedPrecondition')
      ? new ProviderError('rejected', `${doing}: Gmail is not switched on for this Google account`)
      : plain
  }
  const after = statusFailure({ ...answer, status: 429 }, doing, nowMs).retryAfterMs
  if (says(DAILY)) {
    return new ProviderError('rate_limited', `${doing}: the daily limit of the Google project is used up`, {
      retryAfterMs: Math.max(after ?? 0, DAILY_RETRY_MS),
    })
  }
  if (answer.status === 429 || says(TOO_FAST)) {
    const later = after === undefined ? {} : { retryAfterMs: after }
    return new ProviderError('rate_limited', `${doing}: too many requests for this mailbox`, later)
  }
  if (says(NO_SCOPE)) {
    const why = 'the user did not grant the scope that reads mail (https://www.googleapis.com/auth/gmail.modify)'
    return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true })
  }
  if (says(SWITCHED_OFF)) {
    const name = service ?? 'the Gmail API (gmail.googleapis.com)'
    return new ProviderError('rejected', `${doing}: ${name} must be switched on in the Google project`)
  }
  return plain
}

/** The names Google gives, in its old form and its new one. Its sentences are not read: they may quote anything. */
function wordsOf(body: unknown): { reasons: string[]; service: string | undefined } {
  const error = member(body, 'error')
  const listed = [member(error, 'errors'), member(error, 'details')].flatMap((list) =>
    Array.isArray(list) ? list : [],
  )
  const service = listed.map((item) => member(member(item, 'metadata'), 'service')).find(isServiceName)
  return {
    reasons: listed.map((item) => member(item, 'reason')).filter((reason) => typeof reason === 'string'),
    service,
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function isServiceName(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.-]{1,100}$/.test(value)
}
