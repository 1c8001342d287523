import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  errorResponse,
  OAUTH_CLIENT,
  type OAuthServer,
  startOAuthServer,
  type TokenResponse,
} from '../../../../test/servers/oauth-server.ts'
import { fixedClock, systemClock } from '../../../platform/time/clock.ts'
import type { LoginProvider } from '../../contract/index.ts'
import { ProviderError } from '../../contract/index.ts'
import { gmailLogin } from '../../gmail/login.ts'
import { microsoftLogin } from '../../microsoft/login.ts'

const VERIFIER = 'v'.repeat(43)
const REDIRECT = 'https://posthorn.example/providers/x/callback'
const sent = { redirectUri: REDIRECT, state: 'ours', codeVerifier: VERIFIER }
/** The S256 challenge of that verifier, by RFC 7636. */
const CHALLENGE = '7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM'

describe.each([
  ['gmail', (url: string, clock = systemClock) => gmail(url, clock)],
  ['microsoft', (url: string, clock = systemClock) => microsoft(url, clock)],
])('signing in with %s', (name, make) => {
  let oauthServer: OAuthServer
  let login: LoginProvider
  beforeEach(async () => {
    oauthServer = await startOAuthServer()
    login = make(oauthServer.url)
  })
  afterEach(() => oauthServer.close())

  const callback = (query: Record<string, string>) => new URL(`${REDIRECT}?${new URLSearchParams(query)}`)
  const exchange = (query: Record<string, string> = {}) =>
    login.exchange(callback({ code: oauthServer.code(undefined, REDIRECT), state: 'ours', ...query }), sent)
  const catchFailure = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => new Error('it worked'),
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof ProviderError)) throw error
    return error
  }

  it('requests consent with a challenge, the login hint and the scopes, and an account choice without a hint', async () => {
    const request = { ...sent, loginHint: 'ada@example.com', forceConsent: false }
    const query = new URL(await login.consentUrl(request)).searchParams
    expect(Object.fromEntries(query)).toMatchObject({
      response_type: 'code',
      client_id: OAUTH_CLIENT.clientId,
      redirect_uri: REDIRECT,
      state: 'ours',
      code_challenge_method: 'S256',
      login_hint: 'ada@example.com',
      scope: login.scopes.join(' '),
    })
    expect(query.get('code_challenge')).not.toBe(VERIFIER)
    expect(query.has('prompt')).toBe(false)
    const forced = new URL(await login.consentUrl({ ...request, forceConsent: true })).searchParams
    expect(forced.get('prompt')).toBe('consent')
    const unnamed = new URL(await login.consentUrl({ ...request, loginHint: null })).searchParams
    expect(unnamed.get('prompt')).toBe('select_account')
    expect(unnamed.has('login_hint')).toBe(false)
  })

  it('exchanges a code for tokens, and reads the user from the API', async () => {
    const clock = fixedClock(1_000_000)
    const consent = new URL(await login.consentUrl({ ...sent, loginHint: null, forceConsent: false }))
    const challenge = consent.searchParams.get('code_challenge') ?? ''
    login = make(oauthServer.url, clock)
    const code = oauthServer.code(challenge, REDIRECT)
    const { tokens, user } = await login.exchange(
      callback({ code, state: 'ours', iss: 'https://other.example', session_state: 'theirs' }),
      sent,
    )
    expect(user).toEqual({ id: 'user-1', email: 'ada@example.com' })
    expect(tokens).toMatchObject({ expiresAt: 1_000_000 + 3_600_000, scopes: [...login.scopes] })
    expect(oauthServer.isValid(tokens.refreshToken ?? '')).toBe(true)
    expect(oauthServer.bearers).toEqual([`Bearer ${tokens.accessToken}`])
  })

  it('refuses a code with another state or another verifier', async () => {
    expect(await catchFailure(exchange({ state: 'theirs' }))).toMatchObject({ kind: 'unavailable' })
    expect(oauthServer.tokenRequests).toEqual([])
    const code = oauthServer.code('another challenge')
    expect(await catchFailure(exchange({ code }))).toMatchObject({ kind: 'auth_expired' })
  })

  it('refreshes, with the new refresh token if there is one', async () => {
    const token = oauthServer.refreshToken()
    expect(await login.refresh(token)).not.toHaveProperty('refreshToken')
    oauthServer.rotates = { graceMs: 0 }
    const rotated = await login.refresh(token)
    expect(oauthServer.isValid(rotated.refreshToken ?? '')).toBe(true)
    expect(await catchFailure(login.refresh(token))).toMatchObject({ kind: 'auth_expired' })
  })

  it.each([
    ['100,000 levels', `{"id_token":"x","more":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['20,000 scopes', `{"access_token":"x","token_type":"bearer","scope":"${'a '.repeat(20_000)}"}`],
    ['50,000 values', `{"access_token":"x","token_type":"bearer","more":[${'{},'.repeat(50_000)}0]}`],
  ])('calls a response of %s unusable instead of parsing it', async (_name, body) => {
    oauthServer.nextResponses.push({ status: 200, headers: { 'content-type': 'application/json' }, body })
    const error = await catchFailure(login.refresh(oauthServer.refreshToken()))
    expect([error.kind, error.message]).toEqual(['unavailable', expect.stringContaining('unusable response')])
  })

  it('distinguishes an unticked scope from other refusals', async () => {
    oauthServer.granted.scope = 'openid email profile https://www.googleapis.com/auth/calendar.readonly User.Read'
    const error = await catchFailure(exchange())
    expect(error).toMatchObject({ kind: 'rejected', missingScope: true })
    expect(error.message).toMatch(/did not grant .*(gmail\.modify|Mail\.ReadWrite)/)
  })

  it('accepts mail without calendars, whatever the spelling of the scopes', async () => {
    oauthServer.granted.scope =
      name === 'gmail'
        ? 'https://www.googleapis.com/auth/gmail.modify https://www.googleapis.com/auth/userinfo.email openid'
        : 'https://graph.microsoft.com/user.read https://graph.microsoft.com/mail.readwrite profile'
    expect((await exchange()).tokens.scopes).toEqual(oauthServer.granted.scope.split(' '))
  })

  it.each<[string, TokenResponse, Partial<ProviderError>]>([
    ['a revoked grant', errorResponse('invalid_grant'), { kind: 'auth_expired' }],
    ['a demand for interaction', errorResponse('interaction_required'), { kind: 'auth_expired' }],
    ['a wrong client secret', errorResponse('invalid_client', 401), { kind: 'rejected', missingScope: false }],
    ['an unknown redirect address', errorResponse('redirect_uri_mismatch'), { kind: 'rejected' }],
    ['an unknown error code', errorResponse('deleted_client', 403), { kind: 'rejected' }],
    ['a temporary failure in the error code', errorResponse('temporarily_unavailable'), { kind: 'unavailable' }],
    [
      'a temporary failure of the directory',
      errorResponse('invalid_grant', 400, { error_codes: [90033] }),
      { kind: 'unavailable' },
    ],
    [
      'too many requests',
      { ...errorResponse('whatever', 429), headers: { 'retry-after': '7' } },
      { kind: 'rate_limited', retryAfterMs: 7000 },
    ],
    [
      'maintenance',
      { status: 503, headers: { 'retry-after': '2', 'content-type': 'text/html' }, body: '<p>' },
      { kind: 'unavailable', retryAfterMs: 2000 },
    ],
    ['no JSON', { status: 200, body: '<html>' }, { kind: 'unavailable' }],
    [
      'an error that is no JSON',
      { status: 400, headers: { 'content-type': 'text/plain' }, body: 'x' },
      { kind: 'unavailable' },
    ],
    ['an incomplete response', { status: 200, body: '{"token_type":"Bearer"}' }, { kind: 'unavailable' }],
    ['no object', { status: 200, body: '[]' }, { kind: 'unavailable' }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' }, { kind: 'unavailable' }],
    ['a response that is too large', { status: 200, body: `"${'x'.repeat(300_000)}"` }, { kind: 'unavailable' }],
  ])('maps %s to an error kind and leaks no secret', async (_title, response, expected) => {
    const token = oauthServer.refreshToken()
    oauthServer.nextResponses.push(response)
    const error = await catchFailure(login.refresh(token))
    expect(error).toMatchObject(expected)
    const text = JSON.stringify([error.message, error.stack, error.cause])
    for (const secret of [token, OAUTH_CLIENT.clientSecret, 'ada@example.com']) expect(text).not.toContain(secret)
  })

  it('throws unavailable when the service cannot be reached or disconnects', async () => {
    const silent = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const address = silent.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    expect(await catchFailure(make(`http://127.0.0.1:${port}`).refresh('r'))).toMatchObject({ kind: 'unavailable' })
    await new Promise((resolve) => silent.close(resolve))
    expect(await catchFailure(make(`http://127.0.0.1:${port}`).refresh('r'))).toMatchObject({ kind: 'unavailable' })
  })

  it.each([
    ['access_denied', 'auth_expired'],
    ['temporarily_unavailable', 'unavailable'],
    ['invalid_scope', 'rejected'],
  ])('maps the consent error %s to %s', async (error, kind) => {
    expect(await catchFailure(login.exchange(callback({ error, state: 'ours' }), sent))).toMatchObject({ kind })
  })

  it('throws auth_expired when the API refuses the token', async () => {
    expect(await catchFailure(Promise.resolve(login.identify?.('made up')))).toMatchObject({ kind: 'auth_expired' })
  })

  it('revokes the token where the provider supports it', async () => {
    const token = oauthServer.refreshToken()
    await login.revoke(token)
    expect(oauthServer.revoked).toEqual(name === 'gmail' ? [token] : [])
  })
})

const GOOGLE_SCOPES = [
  'openid',
  'email',
  'https://www.googleapis.com/auth/gmail.modify',
  'https://www.googleapis.com/auth/calendar.events',
  'https://www.googleapis.com/auth/calendar.readonly',
]
const GRAPH_SCOPES = ['User.Read', 'Mail.ReadWrite', 'Mail.Send', 'Calendars.ReadWrite']

it('requests the scopes of every feature by default, as full URIs', () => {
  expect(gmail('http://google.test').scopes).toEqual(GOOGLE_SCOPES)
  const full = GRAPH_SCOPES.map((name) => `https://graph.microsoft.com/${name}`)
  expect(microsoft('http://graph.test').scopes).toEqual(['offline_access', ...full])
})

it('requests fewer scopes when they are narrowed, always with those that identify the user', async () => {
  const google = gmail('http://google.test', systemClock, ['gmail.readonly'])
  expect(google.scopes).toEqual(['openid', 'email', 'https://www.googleapis.com/auth/gmail.readonly'])
  const graph = microsoft('http://graph.test', systemClock, ['Mail.Read', 'https://graph.microsoft.com/User.Read'])
  expect(graph.scopes).toEqual([
    'offline_access',
    'https://graph.microsoft.com/User.Read',
    'https://graph.microsoft.com/Mail.Read',
  ])
})

it('refreshes a Microsoft grant with the scopes it has, because others would need a new consent', async () => {
  const oauthServer = await startOAuthServer()
  onTestFinished(() => oauthServer.close())
  const login = microsoft(oauthServer.url)
  const granted = ['https://graph.microsoft.com/User.Read', 'Mail.ReadWrite']
  expect((await login.refresh(oauthServer.refreshToken(), granted)).scopes).toEqual([...granted, 'offline_access'])
  expect(oauthServer.tokenRequests[0]?.scope).toBe([...granted, 'offline_access'].join(' '))
  // The scopes of an imported token are unknown: Microsoft then issues those of its consent.
  await login.refresh(oauthServer.refreshToken())
  expect(oauthServer.tokenRequests[1]).not.toHaveProperty('scope')
})

it('requests offline access from Google, and the scopes of its own Graph from a national cloud', async () => {
  const request = { ...sent, loginHint: null, forceConsent: false }
  const google = gmailLogin({
    ...OAUTH_CLIENT,
    authUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    userinfoUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
    clock: systemClock,
  })
  expect(new URL(await google.consentUrl(request)).searchParams.get('access_type')).toBe('offline')
  const government = microsoftLogin({
    ...OAUTH_CLIENT,
    tenant: 'common',
    loginUrl: 'https://login.microsoftonline.us/',
    graphUrl: 'https://graph.microsoft.us',
    clock: systemClock,
  })
  const url = new URL(await government.consentUrl(request))
  expect(url.origin + url.pathname).toBe('https://login.microsoftonline.us/common/oauth2/v2.0/authorize')
  expect(url.searchParams.get('scope')).toContain(' https://graph.microsoft.us/Mail.ReadWrite ')
  expect(url.searchParams.get('code_challenge')).toBe(CHALLENGE)
})

function gmail(url: string, clock = systemClock, scopes?: string[]): LoginProvider {
  return gmailLogin({
    ...(scopes && { scopes }),
    ...OAUTH_CLIENT,
    authUrl: `${url}/auth`,
    tokenUrl: `${url}/token`,
    userinfoUrl: `${url}/userinfo`,
    clock,
  })
}

function microsoft(url: string, clock = systemClock, scopes?: string[]): LoginProvider {
  return microsoftLogin({
    ...(scopes && { scopes }),
    ...OAUTH_CLIENT,
    tenant: 'common',
    loginUrl: url,
    graphUrl: url,
    clock,
  })
}
