import { redirectUri } from '../accounts/auth/index.ts'
import type { Config } from '../config/index.ts'
import type { Log } from '../platform/log/index.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { LoginProvider } from '../providers/contract/index.ts'
import { gmailLogin } from '../providers/gmail/index.ts'
import { type MailLogins, mailLogins, readOAuthProviders } from '../providers/mail-oauth/index.ts'
import { microsoftLogin } from '../providers/microsoft/index.ts'

/** The login providers with complete client settings. */
export interface SignIn {
  gmail?: LoginProvider
  microsoft?: LoginProvider
  /** For mail servers, by their names in OAUTH_PROVIDERS. */
  mail: MailLogins
}

/** A setting that prevents users from signing in. */
interface SignInProblem {
  reason: 'oauth_incomplete' | 'redirect_refused'
  message: string
}

const PROVIDERS = ['gmail', 'microsoft'] as const

type SignInConfig = Pick<
  Config,
  | Extract<keyof Config, `google${string}` | `microsoft${string}`>
  | 'publicUrl'
  | 'authScreenName'
  | 'oauthProviders'
  | 'contactsEnabled'
>

export function signIn(config: SignInConfig, clock: Clock): SignIn {
  const { googleClientId, googleClientSecret, microsoftClientId, microsoftClientSecret } = config
  return {
    mail: mailLogins(readOAuthProviders(config.oauthProviders).providers, {
      clock,
      withContacts: config.contactsEnabled,
    }),
    ...(googleClientId !== undefined &&
      googleClientSecret !== undefined && {
        gmail: gmailLogin({
          clientId: googleClientId,
          clientSecret: googleClientSecret,
          authUrl: config.googleAuthUrl,
          tokenUrl: config.googleTokenUrl,
          userinfoUrl: config.googleUserinfoUrl,
          ...(config.googleScopes && { scopes: config.googleScopes }),
          withContacts: config.contactsEnabled,
          clock,
        }),
      }),
    ...(microsoftClientId !== undefined &&
      microsoftClientSecret !== undefined && {
        microsoft: microsoftLogin({
          clientId: microsoftClientId,
          clientSecret: microsoftClientSecret,
          tenant: config.microsoftTenant,
          loginUrl: config.microsoftLoginUrl,
          graphUrl: config.microsoftGraphUrl,
          ...(config.microsoftScopes && { scopes: config.microsoftScopes }),
          withContacts: config.contactsEnabled,
          clock,
        }),
      }),
  }
}

/** Finds settings that prevent users from signing in. */
export function signInProblems(config: SignInConfig): SignInProblem[] {
  const { googleClientId, googleClientSecret, microsoftClientId, microsoftClientSecret, publicUrl } = config
  const problems: SignInProblem[] = [
    ...incomplete('gmail', { GOOGLE_CLIENT_ID: googleClientId, GOOGLE_CLIENT_SECRET: googleClientSecret }),
    ...incomplete('microsoft', {
      MICROSOFT_CLIENT_ID: microsoftClientId,
      MICROSOFT_CLIENT_SECRET: microsoftClientSecret,
    }),
  ]
  const refused = (who: string, provider: 'gmail' | 'microsoft', rule: string) =>
    problems.push({
      reason: 'redirect_refused',
      message: `${who} does not accept the redirect URI ${redirectUri(publicUrl, provider)}: ${rule} Change PUBLIC_URL.`,
    })
  // Emulators and proxies may accept other redirect URIs.
  const isGoogle = new URL(config.googleAuthUrl).hostname.endsWith('.google.com')
  if (googleClientId !== undefined && isGoogle && !googleAccepts(new URL(publicUrl))) {
    refused('Google', 'gmail', 'it must begin with https and a public domain, or with http://localhost.')
  }
  const isMicrosoft = !isLocal(new URL(config.microsoftLoginUrl))
  if (microsoftClientId !== undefined && isMicrosoft && !microsoftAccepts(new URL(publicUrl))) {
    refused('Microsoft', 'microsoft', 'it must begin with https, or with http://localhost.')
  }
  return problems
}

/** For `/health`: the configured providers, whether they can connect mailboxes, and the redirect URI to register. */
export function signInStates(config: SignInConfig, providers: SignIn) {
  const problems = signInProblems(config)
  const forMail = [...providers.mail.keys()].map((name) => {
    return { name, canConnect: true, redirectUri: redirectUri(config.publicUrl, name) }
  })
  const withApi = PROVIDERS.flatMap((name) => {
    if (providers[name] === undefined) return []
    const uri = redirectUri(config.publicUrl, name)
    return { name, canConnect: !problems.some(({ message }) => message.includes(uri)), redirectUri: uri }
  })
  return [...withApi, ...forMail]
}

/** Logs the redirect URI to register at each provider, and the settings that prevent signing in. */
export function reportSignIn(config: SignInConfig, providers: SignIn, log: Log): void {
  const fields = { operation: 'service.start' }
  if (providers.gmail !== undefined) log.info(registration('Google', redirectUri(config.publicUrl, 'gmail')), fields)
  if (providers.microsoft !== undefined) {
    log.info(registration('Microsoft', redirectUri(config.publicUrl, 'microsoft')), fields)
  }
  for (const { provider } of providers.mail.values()) {
    log.info(registration(provider.label, redirectUri(config.publicUrl, provider.name)), fields)
  }
  for (const { message } of signInProblems(config)) log.warn(message, fields)
  if (config.authScreenName === undefined && !isLocal(new URL(config.publicUrl))) {
    log.warn(
      'Set AUTH_SCREEN_NAME: without it, the hosted pages show the host of the redirect URI instead of your name.',
      fields,
    )
  }
}

const registration = (who: string, uri: string) => `Register this redirect URI at ${who}: ${uri}`

function incomplete(provider: string, settings: Record<string, string | undefined>): SignInProblem[] {
  const missing = Object.entries(settings).flatMap(([name, value]) => (value === undefined ? name : []))
  if (missing.length !== 1) return []
  return [
    {
      reason: 'oauth_incomplete',
      message: `Set ${missing[0]}: without it, users cannot connect ${provider} accounts.`,
    },
  ]
}

/** Google accepts localhost, or https on a public domain. */
function googleAccepts(url: URL): boolean {
  if (isLocal(url)) return true
  const isDomain =
    /\.[a-z]/i.test(url.hostname) && !/\.(local|localhost|internal|lan|home|corp|test|example)$/i.test(url.hostname)
  return url.protocol === 'https:' && isDomain
}

const microsoftAccepts = (url: URL) => url.protocol === 'https:' || isLocal(url)

const isLocal = ({ hostname }: URL) => hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'

/** The login by the provider, or by the name in OAUTH_PROVIDERS. */
export function findLogin({ gmail, microsoft, mail }: SignIn, name: string): LoginProvider | undefined {
  if (name === 'gmail') return gmail
  return name === 'microsoft' ? microsoft : mail.get(name)?.login
}

/** For the portal: what an operator enters in the consoles of the providers. */
export function providerSetups({ publicUrl }: Pick<Config, 'publicUrl'>, logins: SignIn) {
  return [
    ...PROVIDERS.map((name) => ({
      name,
      label: null,
      isConfigured: logins[name] !== undefined,
      redirectUrl: redirectUri(publicUrl, name),
      scopes: [...(logins[name]?.scopes ?? [])],
    })),
    { name: 'imap', label: null, isConfigured: true, redirectUrl: null, scopes: [] },
    ...[...logins.mail.values()].map(({ provider: { name, label }, login }) => ({
      name,
      label,
      isConfigured: true,
      redirectUrl: redirectUri(publicUrl, name),
      scopes: [...login.scopes],
    })),
  ]
}
