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

/** Microsoft's sign-in: the emulator's page, codes and rotation, with Microsoft's tenants, token lifetimes and errors. */
export interface MicrosoftOauth {
  routes: Route[]
  deny(user: string, denied: boolean): void
  withhold(user: string, scopes: string[]): void
  /** Refreshing returns `interaction_required` until the user consents again. */
  requireInteraction(user: string): void
  /** Invalidates every token of the user; refreshing returns `invalid_grant`. */
  revoke(user: string): void
  /** Refreshing tokens of `user` returns tokens of `other`, or its own again. */
  misissue(user: string, other: string | null): void
  findUser(request: FakeRequest): string | null
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const SHARED_TENANTS = ['common', 'organizations', 'consumers']

export function microsoftOauth(
  emulator: Emulator,
  tokens: Tokens,
  url: string,
  applicationToken: (request: Routed, fields: URLSearchParams) => Promise<Response>,
): MicrosoftOauth {
  const consents = new Map<string, Consent>()
  const codes = new Map<string, Consent & { user: string }>()
  const refreshTokens = new Map<string, { user: string; scopes: string[] }>()
  const denying = new Set<string>()
  const interactionRequired = new Set<string>()
  const withheld = new Map<string, string[]>()
  const misissued = new Map<string, string>()
  /** The emulator replaces a refresh token with each use: its next one, by that of a client which goes on with the earlier one. */
  const replaced = new Map<string, string>()

  const findTenant = (user: string) => emulator.microsoft.users.findOneBy('email', user)?.tenant_id ?? ''
  const granted = (user: string, scope: string): string[] =>
    scope.split(' ').filter((name) => name !== '' && !withheld.get(user)?.map(lastPart).includes(lastPart(name)))

  async function page(request: Routed) {
    const query = request.url.searchParams
    if (query.get('response_type') !== 'code')
      return oauthError('unsupported_response_type', 70005, 'Only code is offered.')
    if (lacksPkce(query)) return oauthError('invalid_request', 501481, 'PKCE with S256 is required.')
    const response = await emulator.request(`/oauth2/v2.0/authorize${request.url.search}`)
    if (!response.ok) return (await isMismatch(response)) ? mismatchPage(query) : response
    const consent = parseConsent(query, request.params.tenant)
    if (consent.prompt === 'none') return Response.redirect(deniedUrl(consent, 'login_required', SIGNED_OUT), 302)
    consents.set(consent.state, consent)
    const html = withCancel(await response.text(), deniedUrl(consent, 'access_denied', DECLINED))
    return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } })
  }

  function mismatchPage(query: URLSearchParams) {
    const text = `AADSTS50011: The redirect URI '${query.get('redirect_uri')}' specified in the request does not match the redirect URIs configured for the application.`
    return new Response(`<!DOCTYPE html><html><body>${text}</body></html>`, {
      status: 400,
      headers: { 'content-type': 'text/html; charset=utf-8' },
    })
  }

  async function choose(request: Routed) {
    const fields = form(request)
    const consent = consents.get(fields.get('state') ?? '')
    const user = fields.get('email') ?? ''
    if (!consent || consent.redirectUri !== fields.get('redirect_uri'))
      return oauthError('invalid_request', 900144, 'Start again.')
    if (denying.has(user)) return Response.redirect(deniedUrl(consent, 'access_denied', DECLINED), 302)
    if (!SHARED_TENANTS.includes(consent.tenant) && consent.tenant !== findTenant(user))
      return oauthError('invalid_request', 50020, 'The user account does not exist in this tenant.')
    const response = await emulator.request('/oauth2/v2.0/authorize/callback', {
      method: 'POST',
      headers: FORM,
      body: fields,
    })
    const back = new URL(response.headers.get('location') ?? '')
    codes.set(back.searchParams.get('code') ?? '', { ...consent, user })
    interactionRequired.delete(user)
    return Response.redirect(back.toString(), 302)
  }

  async function token(request: Routed) {
    const fields = clientForm(request)
    if (fields.get('grant_type') === 'client_credentials') return applicationToken(request, fields)
    if (fields.get('client_id') !== client.id)
      return oauthError('unauthorized_client', 700016, 'Application was not found.')
    if (fields.get('client_secret') !== client.secret)
      return oauthError('invalid_client', 7000215, 'Invalid client secret provided.', 401)
    if (fields.get('grant_type') === 'refresh_token') return refresh(fields)
    const code = fields.get('code') ?? ''
    const consent = codes.get(code)
    codes.delete(code)
    const response = await emulator.request('/oauth2/v2.0/token', { method: 'POST', headers: FORM, body: fields })
    if (!response.ok || !consent) return response
    return issueTokens((await response.json()) as TokenResponse, {
      user: consent.user,
      scopes: granted(consent.user, consent.scope),
    })
  }

  async function refresh(fields: URLSearchParams) {
    const presented = fields.get('refresh_token') ?? ''
    const grant = refreshTokens.get(presented)
    const revoked = () =>
      oauthError('invalid_grant', 70008, 'The provided authorization code or refresh token is expired or revoked.')
    if (!grant) return revoked()
    tokens.countRefresh(grant.user)
    if (interactionRequired.has(grant.user))
      return oauthError(
        'interaction_required',
        50076,
        'You must use multi-factor authentication to access the resource.',
      )
    const body = new URLSearchParams(fields)
    body.set('refresh_token', replaced.get(presented) ?? presented)
    const response = await emulator.request('/oauth2/v2.0/token', { method: 'POST', headers: FORM, body })
    if (!response.ok) return response
    const issued = (await response.json()) as TokenResponse
    replaced.set(presented, issued.refresh_token)
    // Revoked in the meantime.
    if (!refreshTokens.has(presented)) return revoked()
    if (!misissued.has(grant.user)) refreshTokens.delete(presented)
    const user = misissued.get(grant.user) ?? grant.user
    return issueTokens(issued, { ...grant, user })
  }

  function issueTokens({ refresh_token: fresh, ...body }: TokenResponse, grant: { user: string; scopes: string[] }) {
    const offline = grant.scopes.includes('offline_access')
    if (offline) refreshTokens.set(fresh, grant)
    tokens.issue(body.access_token, { ...grant, refreshToken: offline ? fresh : null })
    const scope = grant.scopes.filter((name) => name !== 'offline_access').join(' ')
    const lifetime = { expires_in: tokens.lifetime, ext_expires_in: tokens.lifetime }
    return Response.json({ ...body, scope, ...lifetime, ...(offline ? { refresh_token: fresh } : {}) })
  }

  function discovery({ params }: Routed) {
    const base = `${url}/${params.tenant}`
    return Response.json({
      issuer: `${url}/${SHARED_TENANTS.includes(params.tenant ?? '') ? '{tenantid}' : params.tenant}/v2.0`,
      authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
      token_endpoint: `${base}/oauth2/v2.0/token`,
      jwks_uri: `${base}/discovery/v2.0/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['pairwise'],
      id_token_signing_alg_values_supported: ['RS256'],
    })
  }

  const forward = (request: Routed) => emulator.request(request.url.pathname + request.url.search)

  return {
    deny: (user, denied) => void (denied ? denying.add(user) : denying.delete(user)),
    withhold: (user, scopes) => void withheld.set(user, scopes),
    requireInteraction: (user) => void interactionRequired.add(user),
    revoke(user) {
      for (const [held, grant] of refreshTokens) if (grant.user === user) refreshTokens.delete(held)
      tokens.drop((grant) => grant.user === user)
    },
    misissue: (user, other) => void (other === null ? misissued.delete(user) : misissued.set(user, other)),
    findUser(request) {
      const fields = form(request)
      const grant = refreshTokens.get(fields.get('refresh_token') ?? '') ?? codes.get(fields.get('code') ?? '')
      return grant?.user ?? null
    },
    routes: [
      { method: 'GET', pattern: '/{tenant}/oauth2/v2.0/authorize', handle: page, signedIn: false },
      { method: 'POST', pattern: '/oauth2/v2.0/authorize/callback', handle: choose, signedIn: false },
      { method: 'POST', pattern: '/{tenant}/oauth2/v2.0/token', handle: token, signedIn: false },
      { method: 'GET', pattern: '/{tenant}/v2.0/.well-known/openid-configuration', handle: discovery, signedIn: false },
      {
        method: 'GET',
        pattern: '/{tenant}/discovery/v2.0/keys',
        handle: () => emulator.request('/discovery/v2.0/keys'),
        signedIn: false,
      },
      { method: 'GET', pattern: '/_emulate/{file}', handle: forward, signedIn: false },
      { method: 'GET', pattern: '/_emulate/fonts/{file}', handle: forward, signedIn: false },
    ],
  }
}

/** A scope without the address of Graph. */
const lastPart = (scope: string) => scope.slice(scope.lastIndexOf('/') + 1)

interface TokenResponse {
  access_token: string
  refresh_token: string
}

const SIGNED_OUT = 'AADSTS50058: A silent sign-in request was sent but no user is signed in.'
const DECLINED = 'AADSTS65004: User declined to consent to access the app.'
