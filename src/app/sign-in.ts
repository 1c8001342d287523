import type { Config } from '../config/index.ts'
import { redirectUri } from '../features/auth/index.ts'
import type { Log } from '../infra/log/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { LoginProvider } from '../providers/contract/index.ts'
import { gmailLogin } from '../providers/gmail/index.ts'
import { microsoftLogin } from '../providers/microsoft/index.ts'

/** Signing in at Google and at Microsoft, as far as the settings allow it. */
export interface SignIn {
  gmail?: LoginProvider
  microsoft?: LoginProvider
}

/** Something about it that cannot work, for operators. */
export interface SignInProblem {
  reason: 'oauth_incomplete' | 'redirect_refused'
  message: string
}

const PROVIDERS = ['gmail', 'microsoft'] as const

type SignInConfig = Pick<Config, Extract<keyof Config, `google${string}` | `microsoft${string}`> | 'publicUrl'>

export function signIn(config: SignInConfig, clock: Clock): SignIn {
  const { googleClientId, googleClientSecret, microsoftClientId, microsoftClientSecret } = config
  return {
    ...(googleClientId !== undefined &&
      googleClientSecret !== undefined && {
        gmail: gmailLogin({
          clientId: googleClientId,
          clientSecret: googleClientSecret,
          authUrl: config.googleAuthUrl,
          tokenUrl: config.googleTokenUrl,
          userinfoUrl: config.googleUserinfoUrl,
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
          clock,
        }),
      }),
  }
}

/** What of the settings keeps people from signing in. */
export function signInProblems(config: SignInConfig): SignInProblem[] {
  const { googleClientId, googleClientSecret, microsoftClientId, microsoftClientSecret, publicUrl } = config
  const problems: SignInProblem[] = [
    ...half('gmail', { GOOGLE_CLIENT_ID: googleClientId, GOOGLE_CLIENT_SECRET: googleClientSecret }),
    ...half('microsoft', { MICROSOFT_CLIENT_ID: microsoftClientId, MICROSOFT_CLIENT_SECRET: microsoftClientSecret }),
  ]
  const refused = (who: string, provider: 'gmail' | 'microsoft', rule: string) =>
    problems.push({
      reason: 'redirect_refused',
      message: `${who} does not send people back to ${redirectUri(publicUrl, provider)}: ${rule} Change PUBLIC_URL.`,
    })
  // Emulators and proxies have rules of their own.
  const isGoogle = new URL(config.googleAuthUrl).hostname.endsWith('.google.com')
  if (googleClientId !== undefined && isGoogle && !googleTakes(new URL(publicUrl))) {
    refused('Google', 'gmail', 'it must begin with https and a public domain, or with http://localhost.')
  }
  const isMicrosoft = !isLocal(new URL(config.microsoftLoginUrl))
  if (microsoftClientId !== undefined && isMicrosoft && !microsoftTakes(new URL(publicUrl))) {
    refused('Microsoft', 'microsoft', 'it must begin with https, or with http://localhost.')
  }
  return problems
}

/** For health: which providers can connect mailboxes, and the redirect address to register for each. */
export function signInStates(config: SignInConfig, providers: SignIn) {
  const problems = signInProblems(config)
  return PROVIDERS.flatMap((name) => {
    if (providers[name] === undefined) return []
    const uri = redirectUri(config.publicUrl, name)
    return { name, canConnect: !problems.some(({ message }) => message.includes(uri)), redirectUri: uri }
  })
}

/** Logs which redirect address to register where, and which settings cannot work. */
export function reportSignIn(config: SignInConfig, providers: SignIn, log: Log): void {
  const about = { operation: 'service.start' }
  if (providers.gmail !== undefined) log.info(registered('Google', redirectUri(config.publicUrl, 'gmail')), about)
  if (providers.microsoft !== undefined) {
    log.info(registered('Microsoft', redirectUri(config.publicUrl, 'microsoft')), about)
  }
  for (const { message } of signInProblems(config)) log.warn(message, about)
}

const registered = (who: string, uri: string) => `${who} must know this redirect address of the service: ${uri}`

function half(provider: string, settings: Record<string, string | undefined>): SignInProblem[] {
  const missing = Object.entries(settings).flatMap(([name, value]) => (value === undefined ? name : []))
  if (missing.length !== 1) return []
  return [
    { reason: 'oauth_incomplete', message: `${missing[0]} is not set: ${provider} accounts cannot be connected.` },
  ]
}

/** No address but this machine's, and a domain that everybody can look up. */
function googleTakes(url: URL): boolean {
  if (isLocal(url)) return true
  const isDomain =
    /\.[a-z]/i.test(url.hostname) && !/\.(local|localhost|internal|lan|home|corp|test|example)$/i.test(url.hostname)
  return url.protocol === 'https:' && isDomain
}

const microsoftTakes = (url: URL) => url.protocol === 'https:' || isLocal(url)

const isLocal = ({ hostname }: URL) => hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
