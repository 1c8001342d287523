import { AppError } from '../../platform/errors/app-error.ts'
import { missingFor, missingForShared, type Permission } from '../../providers/contract/index.ts'
import type { Account, Accounts } from '../identity/account.ts'
import { refusedAccount } from '../mailbox/refused-account.ts'

/**
 * Throws consent_required, naming the scopes, unless the granted ones allow this at the provider. A hosted session for the account
 * asks its user for them. For a shared mailbox it is the user who opens it. Call it before the first request to the provider. Does
 * nothing for imap.
 */
async function requireScopes(
  accounts: Pick<Accounts, 'get'>,
  account: Pick<Account, 'provider' | 'tokens' | 'sharedWith'>,
  permissions: readonly Permission[],
): Promise<void> {
  if (account.sharedWith === null) return requireOwnScopes(account, permissions)
  const { id, tokens } = await accounts.get(account.sharedWith)
  const missing = missingForShared(tokens.scopes, permissions)
  if (missing.length > 0) throw sharedScopesMissing(id, missing)
}

/** The same, and provider_rejected for an account in auth_error: with refused credentials, a server may lock the mailbox. */
async function requireConnected(
  accounts: Pick<Accounts, 'get'>,
  account: Account,
  permissions: readonly Permission[],
): Promise<void> {
  if (account.status === 'auth_error') throw refusedAccount(account)
  await requireScopes(accounts, account, permissions)
}

function requireOwnScopes(
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

/**
 * Throws consent_required unless the user granted what sending from mailboxes of others takes. Does nothing for an account with tokens of
 * a connection.
 */
async function requireSharedSending(accounts: Pick<Accounts, 'get'>, account: Account): Promise<void> {
  const grantor = account.sharedWith === null ? account : await accounts.get(account.sharedWith)
  if (!grantor.tokens.hasRefreshToken) return
  const missing = missingForShared(grantor.tokens.scopes, ['mail.send'])
  if (missing.length > 0) throw sharedScopesMissing(grantor.id, missing)
}

/** `accountId`: the account of the user who opens the shared mailbox. */
export function sharedScopesMissing(accountId: string, missing: readonly string[]): AppError {
  return new AppError('consent_required', {
    message: `The user of account ${accountId} did not grant ${missing.join(' and ')}. Send the user through a new session with sharedMailboxes (POST /auth/sessions).`,
    details: missing.map((scope) => ({ path: 'account.tokens.scopes', message: scope })),
  })
}

/** Throw consent_required before a request that the provider would refuse. */
export const scopeChecks = {
  require: requireScopes,
  requireConnected,
  requireSharedSending,
}
