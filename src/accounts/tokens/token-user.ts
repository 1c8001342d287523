import type { LoginProvider, TokenSet } from '../../providers/contract/index.ts'
import { ProviderError } from '../../providers/contract/index.ts'

/**
 * Checks that refreshed tokens belong to the account's user. With another user's, sync would delete the account's messages and
 * store a stranger's. Throws `auth_expired` when they belong to another user, and `unavailable` when the user cannot be read.
 */
export async function checkTokenUser(login: LoginProvider, tokens: TokenSet, providerUser: string): Promise<void> {
  // A mail server accepts a token for the mailboxes of its user only.
  if (login.identify === undefined) return
  const identify = login.identify.bind(login)
  const userId = tokens.userId ?? (await identifyUser(identify, tokens.accessToken))
  if (userId === providerUser) return
  throw new ProviderError(
    'auth_expired',
    'the provider issued tokens of another user for this account. Connect the account again',
  )
}

async function identifyUser(identify: Required<LoginProvider>['identify'], accessToken: string): Promise<string> {
  try {
    return (await identify(accessToken)).id
  } catch (error) {
    // A provider that refuses the token it has just issued is out of order: the user need not consent again.
    const isRefused = error instanceof ProviderError && error.kind === 'auth_expired'
    throw isRefused ? new ProviderError('unavailable', error.message, { cause: error }) : error
  }
}
