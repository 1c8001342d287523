import { sleep } from '../../../platform/concurrency/abort.ts'
import type { Account, NewImapAccount, NewOAuthAccount } from '../../../ui/generated/api-objects.ts'
import type { Client, Refusal } from '../client.ts'

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
  api: Pick<Client, 'tryPost'>,
  body: NewImapAccount | NewOAuthAccount,
  signal: AbortSignal,
): Promise<LinkResult> {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted()
    const response = await api.tryPost<Account>('/accounts', body)
    if ('value' in response) return { status: 'imported', accountId: response.value.id }
    const { refusal } = response
    const isBusy = refusal.status === 429 || refusal.status === 503
    if (!isBusy || attempt === ATTEMPTS) return toResult(refusal)
    await sleep(Math.min(refusal.retryAfterMs ?? PAUSE_MS, MAX_PAUSE_MS), signal)
  }
}

function toResult({ code, message, details }: Refusal): LinkResult {
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
