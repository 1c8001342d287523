import type { ProviderName } from './provider.ts'

const PERMISSIONS = [
  ...(['mail.read', 'mail.change', 'mail.delete', 'mail.send'] as const),
  ...(['calendar.read', 'calendar.change'] as const),
  ...(['contacts.read', 'contacts.change'] as const),
] as const

/** An action of a feature at the provider. Reading includes listing and searching; deleting is for good. */
export type Permission = (typeof PERMISSIONS)[number]

/** The providers whose accounts have scopes. */
export type OAuthProvider = Exclude<ProviderName, 'imap'>

const GOOGLE = 'https://www.googleapis.com/auth/'
const ALL_GMAIL = 'https://mail.google.com/'

/** The scopes of which one is enough. The first is part of the default consent, if any is, and named when all are missing. */
const SCOPES: Readonly<Record<OAuthProvider, Readonly<Record<Permission, readonly string[]>>>> = {
  gmail: {
    'mail.read': [`${GOOGLE}gmail.modify`, `${GOOGLE}gmail.readonly`],
    'mail.change': [`${GOOGLE}gmail.modify`],
    'mail.delete': [ALL_GMAIL],
    'mail.send': [`${GOOGLE}gmail.modify`, `${GOOGLE}gmail.send`, `${GOOGLE}gmail.compose`],
    'calendar.read': [`${GOOGLE}calendar.readonly`],
    'calendar.change': [`${GOOGLE}calendar.events`],
    'contacts.read': [`${GOOGLE}contacts`, `${GOOGLE}contacts.readonly`],
    'contacts.change': [`${GOOGLE}contacts`],
  },
  microsoft: {
    'mail.read': ['Mail.ReadWrite', 'Mail.Read'],
    'mail.change': ['Mail.ReadWrite'],
    'mail.delete': ['Mail.ReadWrite'],
    'mail.send': ['Mail.Send'],
    'calendar.read': ['Calendars.ReadWrite', 'Calendars.Read'],
    'calendar.change': ['Calendars.ReadWrite'],
    'contacts.read': ['Contacts.ReadWrite', 'Contacts.Read'],
    'contacts.change': ['Contacts.ReadWrite'],
  },
}

/** Permissions that another one needs. Graph sends drafts, which have to be written first. */
const REQUIRED: Readonly<Record<OAuthProvider, Partial<Record<Permission, Permission>>>> = {
  gmail: {},
  microsoft: { 'mail.send': 'mail.change' },
}

/** Identify the user and keep access. Providers return them under other names, or not at all. */
const SIGN_IN = new Set(['openid', 'email', 'profile', 'offline_access', 'user.read'])

/** The scopes to ask for before an account with the `granted` ones can do this. Empty for imap. */
export function missingFor(
  provider: ProviderName,
  granted: readonly string[],
  permissions: readonly Permission[],
): string[] {
  if (provider === 'imap') return []
  const needed = permissions.flatMap((permission) => [permission, REQUIRED[provider][permission] ?? []].flat())
  const missing = needed.filter((permission) => !permits(provider, granted, permission))
  return [...new Set(missing.flatMap((permission) => SCOPES[provider][permission].slice(0, 1)))]
}

function permits(provider: OAuthProvider, granted: readonly string[], permission: Permission): boolean {
  const names = new Set(granted.map(scopeName))
  return SCOPES[provider][permission].some((scope) => isCovered(scopeName(scope), names))
}

/** Returns the permissions that these scopes grant. */
export function grantedPermissions(provider: OAuthProvider, granted: readonly string[]): Permission[] {
  return PERMISSIONS.filter((permission) => permits(provider, granted, permission))
}

/** The scopes of Microsoft for mailboxes that somebody shares with the user. Reading is required, the others are optional. */
export const SHARED_SCOPES = ['Mail.ReadWrite.Shared', 'Mail.Send.Shared', 'Calendars.ReadWrite.Shared'] as const

/** The scopes of which one is enough in a mailbox that somebody shares. Contacts of such mailboxes are not asked for. */
const SHARED: Partial<Record<Permission, readonly string[]>> = {
  'mail.read': ['Mail.ReadWrite.Shared', 'Mail.Read.Shared'],
  'mail.change': ['Mail.ReadWrite.Shared'],
  'mail.delete': ['Mail.ReadWrite.Shared'],
  'mail.send': ['Mail.Send.Shared'],
  'calendar.read': ['Calendars.ReadWrite.Shared', 'Calendars.Read.Shared'],
  'calendar.change': ['Calendars.ReadWrite.Shared'],
}

/** As `missingFor`, for a mailbox of microsoft that somebody shares with the user who granted these scopes. */
export function missingForShared(granted: readonly string[], permissions: readonly Permission[]): string[] {
  const names = new Set(granted.map(scopeName))
  const needed = permissions.flatMap((permission) => [permission, REQUIRED.microsoft[permission] ?? []].flat())
  const scopes = needed.map((permission) => SHARED[permission] ?? [])
  const missing = scopes.filter((some) => some.length > 0 && !some.some((scope) => names.has(scopeName(scope))))
  return [...new Set(missing.flatMap((some) => some.slice(0, 1)))]
}

/** The `requested` scopes that `granted` does not cover, without those of the sign-in itself. */
export function notGranted(requested: readonly string[], granted: readonly string[]): string[] {
  const names = new Set(granted.map(scopeName))
  return requested.filter((scope) => !SIGN_IN.has(scopeName(scope)) && !isCovered(scopeName(scope), names))
}

/** Scopes come with or without the address of the API, and from Microsoft not always in the requested case. */
function scopeName(scope: string): string {
  return scope.replace(/\/$/, '').replace(/^.*\//, '').toLowerCase()
}

function isCovered(name: string, granted: ReadonlySet<string>): boolean {
  if (granted.has(name)) return true
  if (name === 'gmail.readonly' && granted.has('gmail.modify')) return true
  if (name.startsWith('gmail.')) return granted.has('mail.google.com')
  if (name.startsWith('calendar.')) return granted.has('calendar')
  return name.endsWith('.read') && granted.has(`${name}write`)
}
