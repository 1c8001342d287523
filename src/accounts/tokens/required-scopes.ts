import { AppError } from '../../platform/errors/app-error.ts'
import { missingFor, type Permission } from '../../providers/contract/index.ts'
import type { Account } from '../identity/account.ts'

/**
 * Throws consent_required, naming the scopes, unless the granted ones allow this at the provider. A hosted session for the account
 * asks its user for them. Call it before the first request to the provider. Does nothing for imap.
 */
export function requireScopes(
  { provider, tokens }: Pick<Account, 'provider' | 'tokens'>,
  permissions: readonly Permission[],
): void {
  if (!tokens.hasRefreshToken) return
  const missing = missingFor(provider, tokens.scopes, permissions)
  if (missing.length === 0) return
  throw new AppError('consent_required', {
    message: `The user did not grant this account ${missing.join(' and ')}. Send the user through a new session (POST /auth/sessions).`,
    details: missing.map((scope) => ({ path: 'account.tokens.scopes', message: scope })),
  })
}
