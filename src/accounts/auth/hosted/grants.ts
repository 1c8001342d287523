import { grantedPermissions, type OAuthProvider, type Permission } from '../../../providers/contract/index.ts'
import type { Grant } from '../../../ui/hosted/index.ts'

const GRANTS: readonly (readonly [Permission, Grant])[] = [
  ['mail.read', 'read'],
  ['mail.change', 'change'],
  ['mail.send', 'send'],
  ['calendar.read', 'calendarRead'],
  ['calendar.change', 'calendarChange'],
  ['contacts.read', 'contactsRead'],
  ['contacts.change', 'contactsChange'],
]

/** Who may change something sees it. */
const IMPLIED: Partial<Record<Grant, Grant>> = { calendarChange: 'calendarRead', contactsChange: 'contactsRead' }

/** Lists the grants of the requested scopes, as the pages name them. */
export function grantsFor(provider: OAuthProvider, scopes: readonly string[]): Grant[] {
  const permitted = new Set(grantedPermissions(provider, scopes))
  const grants = GRANTS.filter(([permission]) => permitted.has(permission)).map(([, grant]) => grant)
  const implied = new Set(grants.flatMap((grant) => IMPLIED[grant] ?? []))
  return grants.filter((grant) => !implied.has(grant))
}

/** Lists what the service does in a mailbox at a mail server, whose password permits everything. */
export function mailServerGrants({ calendars, contacts }: { calendars: boolean; contacts: boolean }): Grant[] {
  const grants: Grant[] = ['read', 'change', 'send']
  if (calendars) grants.push('calendarChange')
  if (contacts) grants.push('contactsChange')
  return grants
}

/** Lists the grants that the connected mailbox does not have yet. Empty when its scopes are unknown. */
export function newGrants(
  provider: OAuthProvider,
  requested: readonly string[],
  granted: readonly string[] = [],
): Grant[] {
  if (granted.length === 0) return []
  const current = grantsFor(provider, granted)
  return grantsFor(provider, requested).filter((grant) => !current.includes(grant))
}
