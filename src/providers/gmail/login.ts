import type { Clock } from '../../platform/time/clock.ts'
import { type LoginProvider, missingFor, type ProviderUser } from '../contract/index.ts'
import { oauthClient, type SignedInGet, unusableResponse } from '../shared/oauth/index.ts'

export interface GmailLoginOptions {
  clientId: string
  clientSecret: string
  /** The consent page. */
  authUrl: string
  tokenUrl: string
  userinfoUrl: string
  /** Narrows the requested scopes. Names without an address are Google's. */
  scopes?: readonly string[]
  /** Asks for contacts too, unless `scopes` narrows the request. */
  withContacts?: boolean
  clock: Clock
}

const SERVICE = 'Google'
const ROOT = 'https://www.googleapis.com/auth/'
/** Identify the user, whatever the settings narrow. */
const SIGN_IN = ['openid', 'email']
/** Reads, sends and changes messages, without permanent deletion; reads and changes events; reads the list of calendars. */
const FEATURES = ['gmail.modify', 'calendar.events', 'calendar.readonly']
const CONTACTS = 'contacts'

/** The scopes of the features, by their full names. */
export function namedScopes({
  scopes,
  withContacts = false,
}: Pick<GmailLoginOptions, 'scopes' | 'withContacts'>): string[] {
  const features = scopes ?? [...FEATURES, ...(withContacts ? [CONTACTS] : [])]
  return features.map((scope) => (scope.includes('/') || SIGN_IN.includes(scope) ? scope : ROOT + scope))
}

/** Sign-in with Google, which issues a refresh token only with the first consent or after `prompt=consent`. */
export function gmailLogin(options: GmailLoginOptions): LoginProvider {
  const scopes = [...new Set([...SIGN_IN, ...namedScopes(options)])]
  const client = oauthClient({
    ...options,
    service: SERVICE,
    // The endpoint is beside the token endpoint.
    revokeUrl: new URL('revoke', options.tokenUrl).href,
    scopes,
    subjectIsUserId: true,
    // Users can untick each scope.
    missing: (granted) => missingFor('gmail', granted, ['mail.read']),
  })

  async function readUser(get: SignedInGet, accessToken: string): Promise<ProviderUser> {
    const { sub, email } = await get(options.userinfoUrl, accessToken)
    if (typeof sub !== 'string' || sub === '' || typeof email !== 'string' || email === '')
      throw unusableResponse(SERVICE)
    return { id: sub, email }
  }

  return {
    scopes,
    sharedScopes: [],
    consentUrl: (request) => client.consentUrl(request, { access_type: 'offline' }),
    exchange: (callback, sent) => client.exchange(callback, sent, readUser),
    refresh: client.refresh,
    probeClient: client.probeClient,
    probeRedirect: client.probeRedirect,
    identify: (accessToken) => client.identify(accessToken, readUser),
    revoke: client.revoke,
  }
}
