import type { ApiError, Posthorn } from '@posthorn/sdk'
import { sleep } from '../../../platform/concurrency/abort.ts'
import { isForeign } from '../failures.ts'
import type { NewAccount } from './foreign-account.ts'

export type LinkResult =
  | { status: 'imported'; accountId: string }
  | { status: 'needs_consent' | 'failed'; reason: string }

/** The user has to enter a password again. */
const PASSWORD_REFUSED = new Set(['imap_auth_failed', 'smtp_auth_failed', 'caldav_auth_failed'])
const ATTEMPTS = 5
const PAUSE_MS = 1000
const MAX_PAUSE_MS = 30_000

/**
 * Connects one account. The service verifies its credentials first, so that nothing is stored that does not work. Waits and tries again
 * when the service is busy. Throws when the service cannot be reached or the key is refused.
 */
export async function linkAccount(
  { accounts }: Pick<Posthorn, 'accounts'>,
  body: NewAccount,
  signal: AbortSignal,
): Promise<LinkResult> {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted()
    // Without attempts of the SDK: those here wait longer, and end with the command.
    const result = await accounts.create(body, { maxRetries: 0 }).catch(toRefusal)
    if ('id' in result) return { status: 'imported', accountId: result.id }
    const isBusy = result.status === 429 || result.status === 503
    if (!isBusy || attempt === ATTEMPTS) return toResult(result)
    await sleep(Math.min(result.retryAfterMs ?? PAUSE_MS, MAX_PAUSE_MS), signal)
  }
}

/** The error of an account that is refused. Throws any other, which would end every import. */
async function toRefusal(error: unknown): Promise<ApiError> {
  const { ApiError } = await import('@posthorn/sdk')
  const isAboutAccount =
    error instanceof ApiError && error.status !== 401 && error.code !== 'forbidden' && !isForeign(error)
  if (!isAboutAccount) throw error
  return error
}

function toResult({ code, message, details }: ApiError): LinkResult {
  const [detail] = details
  if (detail?.path === 'body.refreshToken') {
    return { status: 'needs_consent', reason: `the refresh token ${detail.message}` }
  }
  if (PASSWORD_REFUSED.has(code)) return { status: 'needs_consent', reason: message }
  if (detail?.path === 'body.email' && 'validation_failed' === code) {
    return { status: 'failed', reason: `email ${detail.message} (see --other-addresses)` }
  }
  const where = detail === undefined ? message : `${detail.path.replace(/^body\./, '')} ${detail.message}`
  return { status: 'failed', reason: where }
}
