import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider, type StoredToken } from 'oidc-provider'

export const ISSUER_CLIENT = { clientId: 'posthorn', clientSecret: 'secret-of-posthorn' }
/** The client with which mail servers check tokens. */
const MAIL_SERVER = { client_id: 'mail-server', client_secret: 'secret-of-the-mail-server' }

/**
 * A real OpenID Connect provider (the package oidc-provider) on loopback. Its users are the addresses that somebody signs in with, whatever
 * the password. Refresh tokens are rotated, and a used one is refused together with its grant.
 */
export interface Issuer {
  readonly url: string
  /** For mail servers: says whether a token is valid, and whose it is (RFC 7662). */
  readonly introspectionUrl: string
  /** Every request to the token endpoint that succeeded or failed. The user of a refresh; empty where the issuer does not know it. */
  readonly grants: { type: string; user: string; error: boolean }[]
  /** Lifetime of the access tokens issued from now on. */
  tokenSeconds: number
  /** Runs before a mail server learns whether a token is valid. */
  beforeCheck: () => Promise<void>
  /** Accepts one more redirect URI for the client of this service. */
  allowRedirect(uri: string): void
  /** Signs in on the pages of the issuer, and consents. Returns where the browser is sent. */
  signIn(authorizationUrl: string, email: string): Promise<string>
  /** Issues an access token without a sign-in. */
  issueToken(email: string): Promise<string>
  /** Issues a refresh token without a sign-in, as another service of the operator may have one. */
  issueRefreshToken(email: string): Promise<string>
  /** Makes the access tokens of a user invalid, before they expire. */
  endAccessTokens(email: string): Promise<void>
  /** Withdraws the consent of a user: its refresh tokens are refused. */
  revoke(email: string): Promise<void>
  close(): Promise<void>
}

/** `redirectUris`: of the client of this service. */
export async function startIssuer({ redirectUris }: { redirectUris: readonly string[] }): Promise<Issuer> {
  const allowedRedirects = new Set(redirectUris)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const tokens: StoredToken[] = []
  /** Whose refresh tokens are. */
  const owners = new Map<string, string>()
  const provider = new Provider(url, {
    clients: [
      {
        client_id: ISSUER_CLIENT.clientId,
        client_secret: ISSUER_CLIENT.clientSecret,
        // Required, although `redirectUriAllowed` below decides.
        redirect_uris: ['http://127.0.0.1:1/'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
      },
      { ...MAIL_SERVER, redirect_uris: [], response_types: [], grant_types: [] },
    ],
    cookies: { keys: ['one key'] },
    claims: { openid: ['sub'], email: ['email'] },
    findAccount: async (_context: unknown, accountId: string) => ({
      accountId,
      claims: async () => ({ sub: accountId, email: accountId }),
    }),
    features: {
      devInteractions: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true, allowedPolicy: () => true },
    },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    ttl: { AccessToken: () => issuer.tokenSeconds, RefreshToken: 86_400, Grant: 86_400, Session: 86_400 },
  })
  provider.Client.prototype.redirectUriAllowed = (uri) => allowedRedirects.has(uri)
  const callback = provider.callback()
  server.on('request', (request, response) => {
    const isCheck = request.url?.startsWith('/token/introspection') === true
    void (isCheck ? issuer.beforeCheck() : Promise.resolve()).then(() => callback(request, response))
  })
  provider.on('access_token.saved', (token) => void tokens.push(token))
  provider.on('refresh_token.saved', ({ jti, accountId }) => void owners.set(jti, accountId))
  const record = (error: boolean) => (context: { oidc: { params: Record<string, string | undefined> } }) => {
    const { grant_type: type = '', refresh_token: refreshToken = '' } = context.oidc.params
    issuer.grants.push({ type, user: owners.get(refreshToken) ?? '', error })
  }
  provider.on('grant.success', record(false))
  provider.on('grant.error', record(true))
  const login = `${encodeURIComponent(MAIL_SERVER.client_id)}:${MAIL_SERVER.client_secret}`
  const issuer: Issuer = {
    url,
    introspectionUrl: `http://${login}@127.0.0.1:${port}/token/introspection`,
    grants: [],
    tokenSeconds: 3600,
    beforeCheck: async () => {},
    allowRedirect: (uri) => void allowedRedirects.add(uri),
    signIn: (authorizationUrl, email) => walkPages(authorizationUrl, email),
    async issueToken(email) {
      const client = await provider.Client.find(ISSUER_CLIENT.clientId)
      return new provider.AccessToken({ accountId: email, client, scope: 'openid', gty: 'authorization_code' }).save()
    },
    async issueRefreshToken(email) {
      const client = await provider.Client.find(ISSUER_CLIENT.clientId)
      const scope = 'openid email offline_access'
      const grant = new provider.Grant({ accountId: email, clientId: ISSUER_CLIENT.clientId })
      grant.addOIDCScope(scope)
      const grantId = await grant.save()
      return new provider.RefreshToken({ accountId: email, client, grantId, scope, gty: 'authorization_code' }).save()
    },
    async endAccessTokens(email) {
      await Promise.all(tokens.filter(({ accountId }) => accountId === email).map((token) => token.destroy()))
    },
    async revoke(email) {
      const grants = new Set(
        tokens.flatMap(({ accountId, grantId }) => (accountId === email && grantId !== undefined ? grantId : [])),
      )
      for (const id of grants) await (await provider.Grant.find(id))?.destroy()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return issuer
}

const MAX_PAGES = 12

/** A browser without scripts: follows redirects within the issuer, keeps cookies and submits its two forms. */
async function walkPages(start: string, email: string): Promise<string> {
  const { origin } = new URL(start)
  const cookies = new Map<string, string>()
  let next: { url: string; form?: URLSearchParams } = { url: start }
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { url, form } = next
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: form }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    const text = await response.text()
    if (location !== null) {
      const target = new URL(location, url).href
      if (new URL(target).origin !== origin) return target
      next = { url: target }
      continue
    }
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(text) ?? []
    if (action === undefined) throw new Error(`The issuer shows a page without a form: ${text.slice(0, 500)}`)
    const prompt = text.includes('name="login"') ? 'login' : 'consent'
    const fields = prompt === 'login' ? { prompt, login: email, password: 'any' } : { prompt }
    next = { url: new URL(action, url).href, form: new URLSearchParams(fields) }
  }
  throw new Error('The pages of the issuer do not end.')
}
