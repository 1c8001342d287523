import type { Clock } from '../../platform/time/clock.ts'
import { type LoginProvider, missingFor, type ProviderUser, SHARED_SCOPES } from '../contract/index.ts'
import { oauthClient, type SignedInGet, unusableResponse } from '../shared/oauth/index.ts'
import { isNationalCloud } from './clouds.ts'

export interface MicrosoftLoginOptions {
  clientId: string
  clientSecret: string
  tenant: string
  /** Root of `/{tenant}/oauth2/v2.0`. */
  loginUrl: string
  /** Root of `/v1.0`. */
  graphUrl: string
  /** Narrows the requested scopes. Names without an address are Graph's. */
  scopes?: readonly string[]
  /** Asks for contacts too, unless `scopes` narrows the request. */
  withContacts?: boolean
  clock: Clock
}

const SERVICE = 'Microsoft'
/** Keep access and identify the user, whatever the settings narrow. */
const OFFLINE = 'offline_access'
const PROFILE = 'User.Read'
const FEATURES = ['Mail.ReadWrite', 'Mail.Send', 'Calendars.ReadWrite']
const CONTACTS = 'Contacts.ReadWrite'
const OPENID = ['openid', 'email', 'profile']
const WORLDWIDE = 'https://graph.microsoft.com'

/** Sign-in with Microsoft, which issues a new refresh token with every refresh. The previous one stays valid for a while. */
export function microsoftLogin(options: MicrosoftLoginOptions): LoginProvider {
  const root = `${options.loginUrl.replace(/\/$/, '')}/${encodeURIComponent(options.tenant)}/oauth2/v2.0`
  const graph = options.graphUrl.replace(/\/$/, '')
  const { origin, hostname } = new URL(graph)
  // A scope without an address would mean the worldwide cloud.
  const resource = isNationalCloud(hostname) ? origin : WORLDWIDE
  const features = options.scopes ?? [...FEATURES, ...(options.withContacts ? [CONTACTS] : [])]
  const named = (scope: string) =>
    scope.includes('/') || scope === OFFLINE || OPENID.includes(scope) ? scope : `${resource}/${scope}`
  const scopes = [...new Set([OFFLINE, ...[PROFILE, ...features].map(named)])]
  const sharedScopes = SHARED_SCOPES.map(named)
  const client = oauthClient({
    ...options,
    service: SERVICE,
    authUrl: `${root}/authorize`,
    tokenUrl: `${root}/token`,
    scopes,
    refreshScope: OFFLINE,
    missing(granted) {
      const hasProfile = granted.some((scope) => /(^|\/)user\.read$/i.test(scope))
      return [...(hasProfile ? [] : [PROFILE]), ...missingFor('microsoft', granted, ['mail.read'])]
    },
  })

  async function readUser(get: SignedInGet, accessToken: string): Promise<ProviderUser> {
    const user = await get(`${graph}/v1.0/me?$select=id,mail,userPrincipalName`, accessToken)
    const email = [user.mail, user.userPrincipalName].find((text) => typeof text === 'string' && text.includes('@'))
    if (typeof user.id !== 'string' || user.id === '' || typeof email !== 'string') throw unusableResponse(SERVICE)
    return { id: user.id, email }
  }

  return {
    scopes,
    sharedScopes,
    consentUrl: (request) =>
      client.consentUrl(request, { response_mode: 'query' }, request.sharedMailboxes ? sharedScopes : []),
    exchange: (callback, sent) => client.exchange(callback, sent, readUser),
    refresh: client.refresh,
    probeClient: client.probeClient,
    probeRedirect: client.probeRedirect,
    identify: (accessToken) => client.identify(accessToken, readUser),
    /** Microsoft has no revocation endpoint; users withdraw consent in their account settings. */
    async revoke() {},
  }
}
