import { type Fields, readFields, readText } from './fields.ts'
import {
  type ForeignAccount,
  firstAddress,
  invalid,
  needsConsent,
  unsupported,
  type Verdict,
} from './foreign-account.ts'

const PROVIDERS: Readonly<Record<string, ForeignAccount['provider']>> = {
  google: 'gmail',
  microsoft: 'microsoft',
  imap: 'imap',
  icloud: 'imap',
  yahoo: 'imap',
}

const UNSUPPORTED: Readonly<Record<string, string>> = {
  ews: 'Exchange Web Services: connect the mailbox over IMAP, if the server offers it',
  eas: 'Exchange ActiveSync: connect the mailbox over IMAP, if the server offers it',
  'virtual-calendar': 'a virtual calendar has no mailbox',
  zoom: 'Zoom is no mailbox',
  nylas: 'an Agent Account exists at Nylas only',
}

/** The IMAP server of all iCloud mailboxes. The SMTP and CalDAV servers are derived from it. */
const ICLOUD_HOST = 'imap.mail.me.com'

/**
 * Reads a grant of Nylas v3 (`GET /v3/grants`). Nylas does not return the tokens of the provider, so `settings` may hold what the
 * application sent to `POST /v3/connect/custom`: a refresh token, or the IMAP settings.
 */
export function readNylasGrant(record: Fields): ForeignAccount {
  const settings = readFields(record, 'settings')
  const provider = readText(record, 'provider') ?? ''
  const account = {
    id: readText(record, 'id') ?? readText(record, 'grant_id') ?? null,
    email: firstAddress(
      readText(record, 'email'),
      readText(settings, 'email_address'),
      readText(settings, 'imap_username'),
      readText(settings, 'username'),
      readText(settings, 'email'),
    ),
    provider: Object.hasOwn(PROVIDERS, provider) ? (PROVIDERS[provider] ?? null) : null,
  }
  return { ...account, verdict: judge(provider, account, settings) }
}

function judge(foreignProvider: string, account: Omit<ForeignAccount, 'verdict'>, settings: Fields): Verdict {
  const { id, email, provider } = account
  if (provider === null) {
    const reason = Object.hasOwn(UNSUPPORTED, foreignProvider) ? UNSUPPORTED[foreignProvider] : undefined
    return foreignProvider === '' ? invalid('no provider') : unsupported(reason ?? 'another kind of provider')
  }
  if (provider !== 'imap') {
    const refreshToken = readText(settings, 'refresh_token')
    if (refreshToken !== undefined) {
      return { kind: 'ready', body: { provider, customUserId: id, refreshToken, email } }
    }
    return needsConsent(
      readText(settings, 'credential_id') === undefined
        ? 'Nylas keeps the refresh token, and settings.refresh_token is missing'
        : 'access for a whole organisation: here each user signs in',
    )
  }
  if (email === null) return invalid('no email address')
  if (foreignProvider === 'yahoo') return needsConsent('Yahoo over OAuth: the user signs in with an app password')
  const isICloud = foreignProvider === 'icloud'
  const username = readText(settings, 'imap_username') ?? readText(settings, 'username') ?? email
  const password = readText(settings, 'imap_password') ?? readText(settings, 'password')
  const host = readText(settings, 'imap_host') ?? (isICloud ? ICLOUD_HOST : undefined)
  if (password === undefined) return needsConsent('Nylas keeps the password, and settings.imap_password is missing')
  if (host === undefined) return needsConsent('settings.imap_host is missing')
  return {
    kind: 'ready',
    body: {
      provider,
      customUserId: id,
      email,
      host,
      port: readText(settings, 'imap_port') ?? null,
      username,
      password,
      smtpHost: readText(settings, 'smtp_host') ?? null,
      smtpPort: readText(settings, 'smtp_port') ?? null,
      smtpUsername: readText(settings, 'smtp_username') ?? null,
      smtpPassword: readText(settings, 'smtp_password') ?? null,
    },
  }
}
