import type { ProviderError } from '../../providers/contract/index.ts'

/**
 * Whether a refused token concerns one mailbox, and not the credentials of its connection. Google refuses an address of another domain
 * as it refuses scopes that are not delegated, so a mailbox that is being tried is at fault when Google names no credential.
 */
export function isRefusalOfMailbox(
  { kind, credential }: ProviderError,
  { isTrial, hasTokenPerMailbox }: { isTrial: boolean; hasTokenPerMailbox: boolean },
): boolean {
  if (kind !== 'auth_expired') return false
  return credential === 'email' || (credential === undefined && isTrial && hasTokenPerMailbox)
}
