import { createHash } from 'node:crypto'
import {
  type Consent,
  clientForm,
  deniedUrl,
  form,
  isMismatch,
  lacksPkce,
  parseConsent,
  withCancel,
} from '../fake/consent.ts'
import type { FakeRequest } from '../fake/http-server.ts'
import type { Route, Routed } from '../fake/router.ts'
import type { Tokens } from '../fake/tokens.ts'
import { client, type Emulator } from './emulator.ts'
import { oauthError } from './errors.ts'

/** Google's sign-in: the emulator's page and codes, with Google's rules for consent, token lifetimes and revocation. */
export interface GoogleOauth {
  routes: Route[]
  /** Refuses, or allows again, the user's next consents. */
  deny(user: string, denied: boolean): void
  /** Scopes that this user does not grant on the page. */
  withhold(user: string, scopes: string[]): void
  /** Invalidates all tokens of the user; the next consent counts as the first. */
  revoke(user: string): void
  /** Refreshing tokens of `user` returns tokens of `other`, or its own again. */
  misissue(user: string, other: string | null): void
  /** A refresh token that another client received. */
  foreignToken(): string
  /** The user that a refresh token or code in this request belongs to. */
  findUser(request: FakeRequest): string | null
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

export function googleOauth(
  emulator: Emulator,
  tokens: Tokens,
  exchangeAssertion: (assertion: string) => Promise<Response>,
): GoogleOauth {
  const consents = new Map<string, Consent>()
  const codes = new Map<string, Consent & { user: string }>()
  const refreshTokens = new Map<string, { user: string; scopes: string[] }>()
  const consented = new Set<string>()
  const denying = new Set<string>()
  const withheld = new Map<string, string[]>()
  const misissued = new Map<string, string>()
  const foreign = new Set<string>()

  async function page(request: Routed) {
    const query = request.url.searchParams
    if (query.get('response_type') !== 'code') return oauthError('unsupported_response_type', 'Only code is offered.')
    if (lacksPkce(query)) return oauthError('invalid_request', 'PKCE with S256 is required.')
    const response = await emulator.request(`/o/oauth2/v2/auth${request.url.search}`)
    if (!response.ok) return (await isMismatch(response)) ? mismatchPage(request) : response
    const consent = parseConsent(query)
    // Nobody is signed in at Google.
    if (consent.prompt === 'none') return Response.redirect(deniedUrl(consent, 'interaction_required'), 302)
    consents.set(consent.state, consent)
    const html = withCancel(await response.text(), deniedUrl(consent, 'access_denied'))
    return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } })
  }

  /** Google redirects to its error page, with the name of the error in a protobuf in base64. */
  function mismatchPage({ url }: Routed) {
    const error = Buffer.from('\n\u0015redirect_uri_mismatch').toString('base64')
    return Response.redirect(`${url.origin}/signin/oauth/error?authError=${encodeURIComponent(error)}`, 302)
  }

  const errorPage = async () =>
    new Response('<h1>Access blocked</h1>', { status: 400, headers: { 'content-type': 'text/html; charset=utf-8' } })

  async function choose(request: Routed) {
    const fields = form(request)
    const consent = consents.get(fields.get('state') ?? '')
    const user = fields.get('email') ?? ''
    if (!consent || consent.redirectUri !== fields.get('redirect_uri'))
      return oauthError('invalid_request', 'Start again.')
    if (denying.has(user)) return Response.redirect(deniedUrl(consent, 'access_denied'), 302)
    const response = await emulator.request('/o/oauth2/v2/auth/callback', {
      method: 'POST',
      headers: FORM,
      body: fields,
    })
    const back = new URL(response.headers.get('location') ?? '')
    codes.set(back.searchParams.get('code') ?? '', { ...consent, user })
    back.searchParams.set('scope', granted(user, consent.scope).join(' '))
    back.searchParams.set('authuser', '0')
    return Response.redirect(back.toString(), 302)
  }

  const granted = (user: string, scope: string): string[] =>
    scope.split(' ').filter((name) => name !== '' && !withheld.get(user)?.includes(name))

  async function token(request: Routed) {
    const fields = clientForm(request)
    const type = fields.get('grant_type')
    if (type === 'urn:ietf:params:oauth:grant-type:jwt-bearer') return exchangeAssertion(fields.get('assertion') ?? '')
    if (type === 'refresh_token') return refresh(fields)
    const code = fields.get('code') ?? ''
    const consent = codes.get(code)
    codes.delete(code)
    if (consent && consent.redirectUri !== fields.get('redirect_uri'))
      return oauthError('redirect_uri_mismatch', 'Bad Request')
    const response = await emulator.request('/oauth2/token', { method: 'POST', headers: FORM, body: fields })
    if (!response.ok || !consent) return response
    const { user } = consent
    const { refresh_token: fresh, ...body } = (await response.json()) as { access_token: string; refresh_token: string }
    const offline = consent.accessType === 'offline' && (consent.prompt.includes('consent') || !consented.has(user))
    const scopes = granted(user, consent.scope)
    consented.add(user)
    if (offline) refreshTokens.set(fresh, { user, scopes })
    tokens.issue(body.access_token, { user, scopes, refreshToken: offline ? fresh : null })
    return Response.json({
      ...body,
      ...(offline ? { refresh_token: fresh } : {}),
      scope: scopes.join(' '),
      expires_in: tokens.lifetime,
    })
  }

  async function refresh(fields: URLSearchParams) {
    const refreshToken = fields.get('refresh_token') ?? ''
    if (foreign.has(refreshToken)) return oauthError('unauthorized_client', 'Unauthorized', 401)
    const grant = refreshTokens.get(refreshToken)
    if (grant) tokens.countRefresh(grant.user)
    if (!grant && fields.get('client_secret') === client.secret)
      return oauthError('invalid_grant', 'Token has been expired or revoked.')
    const response = await emulator.request('/oauth2/token', { method: 'POST', headers: FORM, body: fields })
    if (!response.ok || !grant) return response
    // Revoked in the meantime.
    if (!refreshTokens.has(refreshToken)) return oauthError('invalid_grant', 'Token has been expired or revoked.')
    const body = (await response.json()) as { access_token: string }
    const user = misissued.get(grant.user) ?? grant.user
    tokens.issue(body.access_token, { ...grant, user, refreshToken })
    const idToken = grant.scopes.includes('openid') ? { id_token: buildIdToken(user, body.access_token) } : {}
    return Response.json({ ...body, ...idToken, scope: grant.scopes.join(' '), expires_in: tokens.lifetime })
  }

  /** With Google's claims; the emulator issues none with a refresh. */
  function buildIdToken(user: string, accessToken: string): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const sub = emulator.google.users.findOneBy('email', user)?.uid
    const atHash = createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url')
    const claims = { iss: 'https://accounts.google.com', aud: client.id, sub, email: user, at_hash: atHash }
    return `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}.c2lnbmF0dXJl`
  }

  /** Accepts either kind of token, and ends the whole grant. */
  async function revocation(request: Routed) {
    const token = form(request).get('token') ?? request.url.searchParams.get('token') ?? ''
    const grant = tokens.find(token) ?? refreshTokens.get(token)
    if (!grant) return oauthError('invalid_token', 'Token expired or revoked')
    revoke(grant.user)
    return Response.json({})
  }

  function revoke(user: string): void {
    for (const [token, grant] of refreshTokens) if (grant.user === user) refreshTokens.delete(token)
    tokens.drop((grant) => grant.user === user)
    consented.delete(user)
  }

  const userinfo = (request: Routed) => emulator.request('/oauth2/v2/userinfo', { user: request.user ?? '' })
  const forward = (request: Routed) => emulator.request(request.url.pathname + request.url.search)

  return {
    deny: (user, denied) => void (denied ? denying.add(user) : denying.delete(user)),
    withhold: (user, scopes) => void withheld.set(user, scopes),
    revoke,
    misissue: (user, other) => void (other === null ? misissued.delete(user) : misissued.set(user, other)),
    foreignToken() {
      const token = `1//foreign-${foreign.size}`
      foreign.add(token)
      return token
    },
    findUser(request) {
      const fields = form(request)
      const grant = refreshTokens.get(fields.get('refresh_token') ?? '') ?? codes.get(fields.get('code') ?? '')
      return grant?.user ?? null
    },
    routes: [
      { method: 'GET', pattern: '/o/oauth2/v2/auth', handle: page, signedIn: false },
      { method: 'POST', pattern: '/o/oauth2/v2/auth/callback', handle: choose, signedIn: false },
      { method: 'GET', pattern: '/signin/oauth/error', handle: errorPage, signedIn: false },
      { method: 'POST', pattern: '/token', handle: token, signedIn: false },
      { method: 'POST', pattern: '/oauth2/token', handle: token, signedIn: false },
      { method: 'POST', pattern: '/revoke', handle: revocation, signedIn: false },
      { method: 'POST', pattern: '/oauth2/revoke', handle: revocation, signedIn: false },
      { method: 'GET', pattern: '/v1/userinfo', handle: userinfo },
      { method: 'GET', pattern: '/oauth2/v2/userinfo', handle: userinfo },
      { method: 'GET', pattern: '/oauth2/v3/userinfo', handle: userinfo },
      { method: 'GET', pattern: '/.well-known/openid-configuration', handle: forward, signedIn: false },
      { method: 'GET', pattern: '/oauth2/v3/certs', handle: forward, signedIn: false },
      { method: 'GET', pattern: '/_emulate/{file}', handle: forward, signedIn: false },
      { method: 'GET', pattern: '/_emulate/fonts/{file}', handle: forward, signedIn: false },
    ],
  }
}
