import { CONNECTION_PROBLEMS } from '../../../platform/errors/connection-problems.ts'
import { ProviderError } from '../../contract/index.ts'

/** The standard before its predecessor of Google, which Microsoft and Yandex offer alone. */
const MECHANISMS = ['OAUTHBEARER', 'XOAUTH2'] as const

export type OAuthMechanism = (typeof MECHANISMS)[number]

interface TokenLogin {
  username: string
  accessToken: string
  /** Of the server, as in the settings. */
  host: string
  port: number
}

export function chooseOAuthMechanism(offered: ReadonlySet<string>): OAuthMechanism | undefined {
  return MECHANISMS.find((mechanism) => offered.has(mechanism))
}

const SEPARATOR = '\x01'

/** In base64. Throws `auth_expired` when a control character would end a field early. */
export function initialResponse(mechanism: OAuthMechanism, { username, accessToken, host, port }: TokenLogin): string {
  if (hasControl(username) || hasControl(accessToken)) {
    throw new ProviderError('auth_expired', 'signing in: the username or the access token contains control characters')
  }
  const fields =
    mechanism === 'OAUTHBEARER'
      ? [`n,a=${username.replaceAll('=', '=3D').replaceAll(',', '=2C')},`, `host=${host}`, `port=${port}`]
      : [`user=${username}`]
  const message = [...fields, `auth=Bearer ${accessToken}`, '', ''].join(SEPARATOR)
  return Buffer.from(message).toString('base64')
}

function hasControl(text: string): boolean {
  return [...text].some((character) => character < ' ' || character === '\x7f')
}

/** The response to a server that explains why it refuses the token. It then ends the exchange. In base64. */
export function endOfExchange(mechanism: OAuthMechanism): string {
  return mechanism === 'OAUTHBEARER' ? Buffer.from(SEPARATOR).toString('base64') : ''
}

const MAX_CHALLENGE_CHARS = 16 * 1024

/** The JSON in which a server explains its refusal. Undefined when it cannot be read. */
export function decodeChallenge(base64: string): unknown {
  if (base64.length > MAX_CHALLENGE_CHARS) return undefined
  try {
    return JSON.parse(Buffer.from(base64, 'base64').toString())
  } catch {
    return undefined
  }
}

/**
 * The error of a refused token. `challenge` is what the server explained (RFC 7628, 3.2.2). Google and Microsoft name an HTTP status
 * there, and others explain nothing: a fresh token then shows whether the old one was at fault.
 */
export function refusedToken(doing: string, challenge: unknown): ProviderError {
  switch (readStatus(challenge)) {
    case 'insufficient_scope':
      return new ProviderError(
        'auth_expired',
        `${doing}: the server requires a scope that the access token does not have. The user must sign in and consent again`,
      )
    case 'invalid_request':
      return new ProviderError('unavailable', `${doing}: the server did not understand the login with an access token`)
    default:
      return new ProviderError('auth_expired', `${doing}: the server refused the access token`, { tokenRefused: true })
  }
}

function readStatus(challenge: unknown): string {
  const status: unknown = typeof challenge === 'object' && challenge !== null ? Reflect.get(challenge, 'status') : ''
  return typeof status === 'string' ? status.toLowerCase() : ''
}

/** The error of a server that offers no mechanism for a token. */
export function withoutOAuth(doing: string): ProviderError {
  const message = `${doing}: the server ${CONNECTION_PROBLEMS.no_oauth_login.text}`
  return new ProviderError('auth_expired', message, { problem: 'no_oauth_login' })
}
