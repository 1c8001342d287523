import type { Clock } from '../../lib/clock.ts'
import type { LoginProvider, ProviderUser } from '../contract/index.ts'
import { oauthClient, type SignedInGet, unusableResponse } from '../oauth/index.ts'

export interface MicrosoftLoginOptions {
  clientId: string
  clientSecret: string
  tenant: string
  /** Root of `/{tenant}/oauth2/v2.0`. */
  loginUrl: string
  /** Root of `/v1.0`. */
  graphUrl: string
  clock: Clock
}

const SERVICE = 'Microsoft'
const NEEDED = { 'User.Read': 'the profile', 'Mail.ReadWrite': 'mail' }
/** National clouds have a Graph of their own; a scope without its address would mean the worldwide one. */
const NATIONAL_CLOUD = /\.microsoft\.us$|\.chinacloudapi\.cn$|\.microsoft\.de$/

/** Sign-in with Microsoft, which issues a new refresh token with every refresh. The previous one stays valid for a while. */
export function microsoftLogin(options: MicrosoftLoginOptions): LoginProvider {
  const root = `${options.loginUrl.replace(/\/$/, '')}/${encodeURIComponent(options.tenant)}/oauth2/v2.0`
  const graph = options.graphUrl.replace(/\/$/, '')
  const { origin, hostname } = new URL(graph)
  const named = (scope: string) => (NATIONAL_CLOUD.test(hostname) ? `${origin}/${scope}` : scope)
  const scopes = ['offline_access', 'openid', 'email', ...[...Object.keys(NEEDED), 'Calendars.Read'].map(named)]
  const client = oauthClient({
    ...options,
    service: SERVICE,
    authUrl: `${root}/authorize`,
    tokenUrl: `${root}/token`,
    scopes,
    refreshWithScopes: true,
    missing(granted) {
      // Returned with or without the address of Graph, and not always in the requested case.
      const names = new Set(granted.map((scope) => scope.slice(scope.lastIndexOf('/') + 1).toLowerCase()))
      return Object.entries(NEEDED).flatMap(([name, what]) => (names.has(name.toLowerCase()) ? [] : what))
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
    consentUrl: (request) => client.consentUrl(request, { response_mode: 'query' }),
    exchange: (callback, sent) => client.exchange(callback, sent, readUser),
    refresh: client.refresh,
    identify: (accessToken) => client.identify(accessToken, readUser),
    /** Microsoft has no revocation endpoint; users withdraw consent in their account settings. */
    async revoke() {},
  }
}
