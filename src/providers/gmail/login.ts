import type { Clock } from '../../lib/clock.ts'
import type { LoginProvider, ProviderUser } from '../contract/index.ts'
import { oauthClient, type SignedInGet, unusableResponse } from '../oauth/index.ts'

export interface GmailLoginOptions {
  clientId: string
  clientSecret: string
  /** The consent page. */
  authUrl: string
  tokenUrl: string
  userinfoUrl: string
  clock: Clock
}

const SERVICE = 'Google'
/** Reads, sends and changes messages, without permanent deletion. */
const MAIL = 'https://www.googleapis.com/auth/gmail.modify'
const CALENDARS = 'https://www.googleapis.com/auth/calendar.readonly'
/** Full access. An imported token may have this scope instead. */
const ALL_MAIL = 'https://mail.google.com/'

/** Sign-in with Google, which issues a refresh token only with the first consent or after `prompt=consent`. */
export function gmailLogin(options: GmailLoginOptions): LoginProvider {
  const scopes = ['openid', 'email', MAIL, CALENDARS]
  const client = oauthClient({
    ...options,
    service: SERVICE,
    // The endpoint is beside the token endpoint.
    revokeUrl: new URL('revoke', options.tokenUrl).href,
    scopes,
    subjectIsUserId: true,
    // Users can untick each scope. Mail is required, calendars are optional.
    missing: (granted) => (granted.includes(MAIL) || granted.includes(ALL_MAIL) ? [] : ['mail']),
  })

  async function readUser(get: SignedInGet, accessToken: string): Promise<ProviderUser> {
    const { sub, email } = await get(options.userinfoUrl, accessToken)
    if (typeof sub !== 'string' || sub === '' || typeof email !== 'string' || email === '')
      throw unusableResponse(SERVICE)
    return { id: sub, email }
  }

  return {
    scopes,
    consentUrl: (request) => client.consentUrl(request, { access_type: 'offline' }),
    exchange: (callback, sent) => client.exchange(callback, sent, readUser),
    refresh: client.refresh,
    identify: (accessToken) => client.identify(accessToken, readUser),
    revoke: client.revoke,
  }
}
