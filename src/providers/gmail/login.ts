import type { Clock } from '../../lib/clock.ts'
import type { LoginProvider, ProviderUser } from '../contract/index.ts'
import { type Ask, noSense, oauthClient } from '../oauth/index.ts'

export interface GmailLoginOptions {
  clientId: string
  clientSecret: string
  /** The consent page. */
  authUrl: string
  tokenUrl: string
  userinfoUrl: string
  clock: Clock
}

const WHO = 'Google'
/** Reads, sends and changes mail, but deletes nothing for good. */
const MAIL = 'https://www.googleapis.com/auth/gmail.modify'
const CALENDARS = 'https://www.googleapis.com/auth/calendar.readonly'
/** Everything there is; whoever granted it to an imported token has granted the mail too. */
const ALL_MAIL = 'https://mail.google.com/'

/** Signing in with Google. A refresh token comes with the first consent only, or when consent is asked for again. */
export function gmailLogin(options: GmailLoginOptions): LoginProvider {
  const scopes = ['openid', 'email', MAIL, CALENDARS]
  const client = oauthClient({
    ...options,
    who: WHO,
    // Google keeps it beside the token endpoint.
    revokeUrl: new URL('revoke', options.tokenUrl).href,
    scopes,
    // People can untick each box. Mail is what an account is for; without calendars it lacks only those.
    missing: (granted) => (granted.includes(MAIL) || granted.includes(ALL_MAIL) ? [] : ['the mails']),
  })

  async function whoSignedIn(ask: Ask, accessToken: string): Promise<ProviderUser> {
    const { sub, email } = await ask(options.userinfoUrl, accessToken)
    if (typeof sub !== 'string' || sub === '' || typeof email !== 'string' || email === '') throw noSense(WHO)
    return { id: sub, email }
  }

  return {
    scopes,
    consentUrl: (request) => client.consentUrl(request, { access_type: 'offline' }),
    exchange: (callback, sent) => client.exchange(callback, sent, whoSignedIn),
    refresh: client.refresh,
    identify: (accessToken) => client.identify(accessToken, whoSignedIn),
    revoke: client.revoke,
  }
}
