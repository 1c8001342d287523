import type { AccountRow } from '../identity/store.ts'
import { findUserId } from './tenant-identity.ts'
import type { TokenRequest } from './tokens.ts'

/** What opens the mailbox of an account. Undefined when it has tokens of its own. */
export function connectionTokenRequest({
  connectionId,
  provider,
  providerUser,
  email,
}: Pick<AccountRow, 'connectionId' | 'provider' | 'email'> & { providerUser?: string }): TokenRequest | undefined {
  if (connectionId === null) return undefined
  const userId = providerUser === undefined ? undefined : findUserId(providerUser)
  return { connectionId, provider, purpose: { mailbox: email, ...(userId !== undefined && { userId }) } }
}
