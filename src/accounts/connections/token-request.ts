import type { AccountRow } from '../identity/store.ts'
import type { TokenRequest } from './tokens.ts'

/** What opens the mailbox of an account. Undefined when it has tokens of its own. */
export function connectionTokenRequest({
  connectionId,
  provider,
  email,
}: Pick<AccountRow, 'connectionId' | 'provider' | 'email'>): TokenRequest | undefined {
  return connectionId === null ? undefined : { connectionId, provider, purpose: { mailbox: email } }
}
