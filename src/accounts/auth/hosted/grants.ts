import { grantedPermissions, type Permission, type ProviderName } from '../../../providers/contract/index.ts'
import type { Grant } from '../../../ui/hosted/index.ts'

const GRANTS: readonly (readonly [Permission, Grant])[] = [
  ['mail.read', 'read'],
  ['mail.change', 'change'],
  ['mail.send', 'send'],
  ['calendar.read', 'calendarRead'],
  ['calendar.change', 'calendarChange'],
]

/** What the requested scopes permit, in the words of the pages. The password of a mailbox permits everything. */
export function grantsFor(provider: ProviderName, scopes: readonly string[]): Grant[] {
  const permitted = new Set(grantedPermissions(provider, scopes))
  const grants = GRANTS.filter(([permission]) => permitted.has(permission)).map(([, grant]) => grant)
  return grants.includes('calendarChange') ? grants.filter((grant) => grant !== 'calendarRead') : grants
}

/** What the requested scopes permit and those of the connected mailbox did not. Empty when nothing is known about those. */
export function newGrants(
  provider: ProviderName,
  requested: readonly string[],
  granted: readonly string[] = [],
): Grant[] {
  if (granted.length === 0) return []
  const current = grantsFor(provider, granted)
  return grantsFor(provider, requested).filter((grant) => !current.includes(grant))
}
