import { type Consent, clientForm, consentOf, deniedUrl, form, lacksPkce, withCancel } from '../fake/consent.ts'
import type { FakeRequest } from '../fake/http-server.ts'
import type { Route, Routed } from '../fake/router.ts'
import type { Tokens } from '../fake/tokens.ts'
import { oauthError } from './errors.ts'
import { client, type Package } from './package.ts'

/** Google's sign-in: the package's page and codes; consent, lifetimes and revocation as the real one has them. */
export interface GoogleOauth {
  routes: Route[]
  /** The next consents of this user are refused. */
  deny(user: string, denied: boolean): void
  /** Scopes that this user does not tick on the page. */
  withhold(user: string, scopes: string[]): void
  /** Ends every grant of the user: refresh and access tokens die, the next consent counts as the first. */
  revoke(user: string): void
  /** The user who a refresh token or code in this request belongs to, for counting. */
  userOf(request: FakeRequest): string | null
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

export function googleOauth(
  inner: Package,
  tokens: Tokens,
  exchangeAssertion: (assertion: string) => Response,
): GoogleOauth {
  const asked = new Map<string, Consent>()
  const codes = new Map<string, Consent & { user: string }>()
  const refreshTokens = new Map<string, { user: string; scopes: string[] }>()
  const consented = new Set<string>()
  const denying = new Set<string>()
  const withheld = new Map<string, string[]>()

  async function page(request: Routed) {
    const query = request.url.searchParams
    if (query.get('response_type') !== 'code') return oauthError('unsupported_response_type', 'Only code is offered.')
    if (lacksPkce(query)) return oauthError('invalid_request', 'PKCE with S256 is required.')
    const answer = await inner.ask(`/o/oauth2/v2/auth${request.url.search}`)
    if (!answer.ok) return answer
    const consent = consentOf(query)
    asked.set(consent.state, consent)
    const html = withCancel(await answer.text(), deniedUrl(consent, 'access_denied'))
    return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } })
  }

  async function chosen(request: Routed) {
    const fields = form(request)
    const consent = asked.get(fields.get('state') ?? '')
    const user = fields.get('email') ?? ''
    if (!consent || consent.redirectUri !== fields.get('redirect_uri'))
      return oauthError('invalid_request', 'Start again.')
    if (denying.has(user)) return Response.redirect(deniedUrl(consent, 'access_denied'), 302)
    const answer = await inner.ask('/o/oauth2/v2/auth/callback', { method: 'POST', headers: FORM, body: fields })
    const back = new URL(answer.headers.get('location') ?? '')
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
    const answer = await inner.ask('/oauth2/token', { method: 'POST', headers: FORM, body: fields })
    if (!answer.ok || !consent) return answer
    const { user } = consent
    const { refresh_token: fresh, ...body } = (await answer.json()) as { access_token: string; refresh_token: string }
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
    const grant = refreshTokens.get(refreshToken)
    if (grant) tokens.countRefresh(grant.user)
    if (!grant && fields.get('client_secret') === client.secret)
      return oauthError('invalid_grant', 'Token has been expired or revoked.')
    const answer = await inner.ask('/oauth2/token', { method: 'POST', headers: FORM, body: fields })
    if (!answer.ok || !grant) return answer
    const body = (await answer.json()) as { access_token: string }
    tokens.issue(body.access_token, { ...grant, refreshToken })
    return Response.json({ ...body, scope: grant.scopes.join(' '), expires_in: tokens.lifetime })
  }

  /** Of either kind of token; the whole grant ends with it. */
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

  const userinfo = (request: Routed) => inner.ask('/oauth2/v2/userinfo', { user: request.user ?? '' })
  const forward = (request: Routed) => inner.ask(request.url.pathname + request.url.search)

  return {
    deny: (user, denied) => void (denied ? denying.add(user) : denying.delete(user)),
    withhold: (user, scopes) => void withheld.set(user, scopes),
    revoke,
    userOf(request) {
      const fields = form(request)
      const grant = refreshTokens.get(fields.get('refresh_token') ?? '') ?? codes.get(fields.get('code') ?? '')
      return grant?.user ?? null
    },
    routes: [
      { method: 'GET', pattern: '/o/oauth2/v2/auth', answer: page, signedIn: false },
      { method: 'POST', pattern: '/o/oauth2/v2/auth/callback', answer: chosen, signedIn: false },
      { method: 'POST', pattern: '/token', answer: token, signedIn: false },
      { method: 'POST', pattern: '/oauth2/token', answer: token, signedIn: false },
      { method: 'POST', pattern: '/revoke', answer: revocation, signedIn: false },
      { method: 'POST', pattern: '/oauth2/revoke', answer: revocation, signedIn: false },
      { method: 'GET', pattern: '/v1/userinfo', answer: userinfo },
      { method: 'GET', pattern: '/oauth2/v2/userinfo', answer: userinfo },
      { method: 'GET', pattern: '/oauth2/v3/userinfo', answer: userinfo },
      { method: 'GET', pattern: '/.well-known/openid-configuration', answer: forward, signedIn: false },
      { method: 'GET', pattern: '/oauth2/v3/certs', answer: forward, signedIn: false },
      { method: 'GET', pattern: '/_emulate/{file}', answer: forward, signedIn: false },
      { method: 'GET', pattern: '/_emulate/fonts/{file}', answer: forward, signedIn: false },
    ],
  }
}
