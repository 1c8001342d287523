import { type Fields, readFields, readText } from './fields.ts'
import {
  type ForeignAccount,
  firstAddress,
  invalid,
  needsConsent,
  type SignIns,
  unsupported,
  type Verdict,
} from './foreign-account.ts'

/** What the responses of its API show instead of a secret. */
const MASKED = '******'
/** A secret that the export could not decrypt: `$wd01$aes-256-gcm$` and four hexadecimal parts. */
const ENCRYPTED = /^\$wd\d+\$[^$]+(?:\$[^$]+){4}$/
const IMAP_PORT = '143'

const NO_ID = invalid('no account id')
const NO_CREDENTIALS = invalid('no credentials: use emailengine export')

/** The types of accounts that sign in with a password. */
const WITHOUT_OAUTH = ['', 'imap', 'sending']
/** Its OAuth providers, as what they are here: over their API, and by the name of the preset in OAUTH_PROVIDERS over IMAP. */
const OAUTH: Readonly<Record<string, { provider: 'gmail' | 'microsoft' | 'imap'; preset: string }>> = {
  gmail: { provider: 'gmail', preset: 'google' },
  outlook: { provider: 'microsoft', preset: 'outlook' },
  mailRu: { provider: 'imap', preset: 'mailru' },
}

/**
 * Reads what `emailengine export --account ID` prints: the account with its decrypted secrets, and in `_app` its OAuth application.
 * `GET /v1/account/{account}` returns the same without them: then the verdict says what is missing.
 */
export function readEmailEngineAccount(record: Fields, signIns: SignIns): ForeignAccount {
  const oauth2 = readFields(record, 'oauth2')
  const app = readFields(record, '_app')
  const user = readText(readFields(oauth2, 'auth'), 'user')
  const imapUser = readText(readFields(readFields(record, 'imap'), 'auth'), 'user')
  const type = readText(app, 'provider') ?? readText(record, 'type') ?? readText(oauth2, 'provider') ?? ''
  const isOAuth = Object.keys(oauth2).length > 0 || !WITHOUT_OAUTH.includes(type)
  const id = readText(record, 'account') ?? null
  // The address that signs in: the address of the account may be an alias.
  const email = firstAddress(user, readText(record, 'email'), imapUser)
  if (!isOAuth) {
    const verdict = id === null ? NO_ID : judgeImap(record, id, email)
    return { id, email, provider: 'imap', verdict }
  }
  const known = Object.hasOwn(OAUTH, type) ? OAUTH[type] : undefined
  const preset = known && chooseImap(known, readText(app, 'baseScopes') ?? 'imap', signIns)
  const provider = preset === undefined ? (known?.provider ?? null) : 'imap'
  if (id === null) return { id, email, provider, verdict: NO_ID }
  const verdict = judgeOAuth({ oauth2, app, type, sendOnly: record.sendOnly === true }, { id, email, provider }, preset)
  return { id, email, provider, verdict }
}

/**
 * The name in OAUTH_PROVIDERS for a consent that is for IMAP. Undefined where the token is used over the API. A consent for IMAP at Google
 * is good for its API, too; at Microsoft it never is.
 */
function chooseImap(
  { provider, preset }: { provider: string; preset: string },
  baseScopes: string,
  { clients, oauthProviders }: SignIns,
): string | undefined {
  if (provider === 'imap') return oauthProviders?.has(preset) === false ? undefined : preset
  const isConfigured = oauthProviders?.has(preset) === true
  const canUseApi = provider === 'gmail' && clients?.gmail !== null
  return baseScopes === 'imap' && isConfigured && !canUseApi ? preset : undefined
}

/** Its commands write their log to the same output, unless EENGINE_LOG_LEVEL is silent. */
export function isEmailEngineLogLine({ level, time, imap, oauth2 }: Fields): boolean {
  return typeof level === 'number' && typeof time === 'number' && imap === undefined && oauth2 === undefined
}

function judgeOAuth(
  { oauth2, app, type, sendOnly }: { oauth2: Fields; app: Fields; type: string; sendOnly: boolean },
  { id, email, provider }: { id: string; email: string | null; provider: ForeignAccount['provider'] },
  preset: string | undefined,
): Verdict {
  const auth = readFields(oauth2, 'auth')
  if (type === 'delegated' || auth.delegatedUser || auth.delegatedAccount) {
    return unsupported('a shared mailbox: once its user is connected, use POST /accounts with sharedWith and mailbox')
  }
  if (type === 'gmailService' || type === 'outlookService') {
    return unsupported(
      'access for a whole organisation: use POST /connections, then POST /accounts with connectionId and email',
    )
  }
  if (provider === null) return unsupported('an OAuth application that is not known')
  if (sendOnly) return unsupported('sends only: the mailbox cannot be read')
  if (Object.keys(oauth2).length === 0) return NO_CREDENTIALS
  if (oauth2.useAuthServer === true) return needsConsent('your authentication server keeps the tokens')
  if (provider === 'microsoft' && (readText(app, 'baseScopes') ?? 'imap') === 'imap') {
    return needsConsent(
      'the consent is for IMAP and SMTP, not for Microsoft Graph: add outlook with this OAuth client to OAUTH_PROVIDERS, or the user signs in',
    )
  }
  const refreshToken = readText(oauth2, 'refreshToken')
  if (refreshToken === undefined) return needsConsent('no refresh token')
  const problem = secretProblem(refreshToken)
  if (problem !== undefined) return problem
  if (preset !== undefined) {
    if (email === null) return invalid('no email address')
    return { kind: 'ready', body: { oauthProvider: preset, customUserId: id, refreshToken, email } }
  }
  if (provider === 'imap') {
    return needsConsent(
      'Mail.ru over OAuth: add mailru with this OAuth client to OAUTH_PROVIDERS, or the user signs in with an app password',
    )
  }
  return {
    kind: 'ready',
    body: { provider, customUserId: id, refreshToken, email },
    clientId: readText(app, 'clientId'),
  }
}

function judgeImap(record: Fields, id: string, email: string | null): Verdict {
  const imap = readFields(record, 'imap')
  const smtp = readFields(record, 'smtp')
  const auth = readFields(imap, 'auth')
  const smtpAuth = readFields(smtp, 'auth')
  if (Object.keys(imap).length === 0) {
    const hasServers = record.imap !== undefined || record.smtp !== undefined
    return hasServers || record.type === 'sending' ? unsupported('no IMAP: sends only') : NO_CREDENTIALS
  }
  if (imap.disabled === true) return unsupported('IMAP is disabled for the account')
  if (imap.useAuthServer === true) return needsConsent('your authentication server keeps the password')
  if (email === null) return invalid('no email address')
  const host = readText(imap, 'host')
  const username = readText(auth, 'user')
  const password = readText(auth, 'pass')
  if (host === undefined || username === undefined) return invalid('no IMAP server or user')
  if (password === undefined) {
    return needsConsent(auth.accessToken ? 'an access token, which expires, and no refresh token' : 'no password')
  }
  const smtpPassword = readText(smtpAuth, 'pass')
  const problem = secretProblem(password) ?? (smtpPassword && secretProblem(smtpPassword))
  if (problem) return problem
  return {
    kind: 'ready',
    body: {
      provider: 'imap',
      customUserId: id,
      email,
      host,
      port: readText(imap, 'port') ?? null,
      secure: tlsFromStart(imap),
      allowSelfSigned: readFields(imap, 'tls').rejectUnauthorized === false,
      username,
      password,
      mailbox: onlyFolder(record.path),
      smtpHost: readText(smtp, 'host') ?? null,
      smtpPort: readText(smtp, 'port') ?? null,
      smtpSecure: smtp.secure === true ? true : null,
      smtpUsername: readText(smtpAuth, 'user') ?? null,
      smtpPassword: smtpPassword ?? null,
    },
  }
}

/** Null on port 143 without TLS: the connection begins with STARTTLS, which `false` would make optional. */
function tlsFromStart(imap: Fields): boolean | null {
  if (imap.secure === true) return true
  return readText(imap, 'port') === IMAP_PORT ? null : false
}

function secretProblem(secret: string): Verdict | undefined {
  if (secret === MASKED) return invalid('the secret is masked: use emailengine export')
  if (ENCRYPTED.test(secret)) return invalid('the secret is encrypted: run emailengine export with EENGINE_SECRET')
  return undefined
}

/** The folder that the account watches, if it is one. Names such as `\Sent` are not paths. */
function onlyFolder(path: unknown): string | null {
  const [folder, ...others] = Array.isArray(path) ? path : [path]
  const isPath = typeof folder === 'string' && folder !== '' && folder !== '*' && !folder.startsWith('\\')
  return isPath && others.length === 0 ? folder : null
}
