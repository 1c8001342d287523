import { describe, expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { HTTP_ATTACKS, startHostileReceiver } from '../../../test/servers/hostile/http.ts'
import { type ScriptedResponse, startScripted } from '../../../test/servers/scripted-http.ts'
import { fixedClock } from '../../platform/time/clock.ts'
import type { LoginProvider, ProviderError } from '../contract/index.ts'
import { mailLogins, readOAuthProviders } from './index.ts'

const NOW = 1_000_000
const SECRET = 'the-client-secret'
const REFRESH_TOKEN = 'the-refresh-token'
const sent = { redirectUri: 'https://posthorn.example/callback', state: 'ours', codeVerifier: 'v'.repeat(43) }
const callback = new URL(`${sent.redirectUri}?code=the-code&state=ours`)

/** The sign-in of an operator's issuer, as OAUTH_PROVIDERS configures it. */
function loginAt(tokenUrl: string, more: object = {}): LoginProvider {
  const acme = {
    label: 'Acme Mail',
    clientId: 'posthorn',
    clientSecret: SECRET,
    authorizationUrl: 'https://id.acme.test/authorize',
    tokenUrl,
    scopes: ['mail'],
    imap: { host: 'imap.acme.test', port: 993 },
    smtp: { host: 'smtp.acme.test', port: 465 },
    ...more,
  }
  const { providers, errors } = readOAuthProviders(JSON.stringify({ acme }))
  const found = mailLogins(providers, { clock: fixedClock(NOW), withContacts: false }).get('acme')?.login
  if (found === undefined) throw new Error(errors.join(' '))
  return found
}

async function respondingWith(response: ScriptedResponse) {
  const issuer = closing(await startScripted(() => response))
  return loginAt(`${issuer.url}/token`)
}

const json = (body: object, status = 200): ScriptedResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body,
})

async function failureOf(work: Promise<unknown>): Promise<ProviderError> {
  const error = await work.then(
    (value) => new Error(`It worked: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ name: 'ProviderError' })
  const text = JSON.stringify([String(error), error])
  for (const secret of [SECRET, REFRESH_TOKEN, 'the-code', 'a-leak']) expect(text).not.toContain(secret)
  return error as ProviderError
}

describe('an issuer that floods or stalls', () => {
  it('is given up, whatever it sends', async () => {
    const issuer = closing(await startHostileReceiver())
    issuer.isHostile = true
    const found = await Promise.all(
      HTTP_ATTACKS.map(async (attack) => {
        const { kind, message } = await failureOf(loginAt(`${issuer.url}/${attack}`).refresh(REFRESH_TOKEN))
        return [attack, kind, message]
      }),
    )
    const tooLong = 'Acme Mail returned an unusable response (longer than 256 KiB)'
    expect(found).toEqual([
      ['endless', 'unavailable', tooLong],
      ['huge', 'unavailable', tooLong],
      ['rows', 'unavailable', tooLong],
      ['deep', 'unavailable', tooLong],
      ['drip', 'unavailable', 'Acme Mail timed out'],
      ['bomb', 'unavailable', tooLong],
      ['hang', 'unavailable', 'Acme Mail timed out'],
    ])
  })

  it('is down for the time that it names, however long its error page is', async () => {
    const login = await respondingWith({ status: 503, headers: { 'retry-after': '40' }, body: 'x'.repeat(1_000_000) })
    expect(await failureOf(login.refresh(REFRESH_TOKEN))).toMatchObject({ kind: 'unavailable', retryAfterMs: 40_000 })
  })
})

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('with status %i takes no code, token or secret along', async (status) => {
    const other = closing(await startScripted(() => json({ access_token: 'theirs', token_type: 'bearer' })))
    const issuer = closing(await startScripted(() => ({ status, headers: { location: `${other.url}/token` } })))
    const login = loginAt(`${issuer.url}/token`)
    for (const call of [() => login.refresh(REFRESH_TOKEN), () => login.exchange(callback, sent)]) {
      const { kind, message } = await failureOf(call())
      const expected = `Acme Mail redirects (${status}), which is not followed: check its URLs`
      expect([kind, message]).toEqual(['unavailable', expected])
    }
    expect([issuer.asked.length, other.asked]).toEqual([2, []])
  })

  it('of the userinfo URL does not take the access token along', async () => {
    const other = closing(await startScripted(() => json({ email: 'mallory@acme.test' })))
    const issuer = closing(
      await startScripted(({ path }) =>
        path === '/token'
          ? json({ access_token: 'a-leak', token_type: 'bearer' })
          : { status: 302, headers: { location: `${other.url}/userinfo` } },
      ),
    )
    const login = loginAt(`${issuer.url}/token`, { userinfoUrl: `${issuer.url}/userinfo` })
    expect(await failureOf(login.exchange(callback, sent))).toMatchObject({ kind: 'unavailable' })
    expect(other.asked).toEqual([])
  })
})

describe('a response without a usable token', () => {
  it.each([
    ['no access token', {}],
    ['an empty one', { access_token: '' }],
    ['a number', { access_token: 7 }],
    ['a list', { access_token: ['a-leak'] }],
    ['a line break in it', { access_token: 'a-leak\r\nA1 LOGOUT' }],
    ['characters outside ASCII in it', { access_token: 'a-leak-ü' }],
    ['one of 20,000 characters', { access_token: `a-leak${'x'.repeat(20_000)}` }],
    ['a refresh token of 20,000 characters', { access_token: 'good', refresh_token: `a-leak${'x'.repeat(20_000)}` }],
    ['a refresh token that is a number', { access_token: 'good', refresh_token: 7 }],
    ['a token for signed requests', { access_token: 'a-leak', token_type: 'mac' }],
    ['a token that is bound to a key', { access_token: 'a-leak', token_type: 'DPoP' }],
    ['a type that is no text', { access_token: 'a-leak', token_type: 7 }],
    ['scopes that are a list', { access_token: 'a-leak', scope: ['mail'] }],
  ])('with %s is no answer about the consent', async (_name, body) => {
    const login = await respondingWith(json({ token_type: 'bearer', ...body }))
    const { kind, message } = await failureOf(login.refresh(REFRESH_TOKEN))
    expect([kind, message]).toEqual(['unavailable', expect.stringContaining('Acme Mail returned an unusable response')])
  })

  it.each([
    ['a page', { headers: { 'content-type': 'text/html' }, body: '<h1>Welcome</h1>' }],
    ['a form', { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'access_token=a-leak' }],
    ['broken JSON', { headers: { 'content-type': 'application/json' }, body: '{"access_token":"a-leak"' }],
    ['a list', json([{ access_token: 'a-leak' }])],
    ['nothing', { status: 204 }],
    ['an error page', { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>invalid_grant</h1>' }],
  ])('such as %s is the issuer’s failure', async (_name, response) => {
    const login = await respondingWith(response)
    expect(await failureOf(login.refresh(REFRESH_TOKEN))).toMatchObject({ kind: 'unavailable' })
  })
})

describe('the lifetime of a token', () => {
  const DEFAULT_MS = 300_000
  it.each([
    [undefined, DEFAULT_MS],
    [null, DEFAULT_MS],
    [0, DEFAULT_MS],
    [-1, DEFAULT_MS],
    ['soon', DEFAULT_MS],
    [{}, DEFAULT_MS],
    [120, 120_000],
    ['120', 120_000],
    [0.5, 500],
    [1e300, 86_400_000],
    ['9'.repeat(400), 86_400_000],
  ])('is read from an expires_in of %s', async (expires_in, lifeMs) => {
    const login = await respondingWith(json({ access_token: 'good', token_type: 'bearer', expires_in }))
    expect((await login.refresh(REFRESH_TOKEN)).expiresAt).toBe(NOW + lifeMs)
  })
})

describe('a refreshed grant', () => {
  it.each([
    ['rotated', { refresh_token: 'the-next' }, 'the-next'],
    ['left out', {}, undefined],
    ['null', { refresh_token: null }, undefined],
    ['empty', { refresh_token: '' }, undefined],
  ])('may have its refresh token %s', async (_name, body, expected) => {
    const login = await respondingWith(json({ access_token: 'good', token_type: 'Bearer', scope: null, ...body }))
    const tokens = await login.refresh(REFRESH_TOKEN)
    expect([tokens.accessToken, tokens.refreshToken, tokens.scopes]).toEqual(['good', expected, ['mail']])
  })
})

describe('a refusal', () => {
  const client = 'Acme Mail refuses the OAuth client of this service'
  it.each([
    ['invalid_grant', 400, 'auth_expired', 'Acme Mail no longer grants access'],
    ['invalid_grant', 401, 'auth_expired', 'Acme Mail no longer grants access'],
    ['invalid_grant', 200, 'auth_expired', 'Acme Mail no longer grants access'],
    ['invalid_grant', 500, 'unavailable', 'Acme Mail failed (500)'],
    ['invalid_grant', 503, 'unavailable', 'Acme Mail failed (503)'],
    ['invalid_grant', 429, 'rate_limited', 'too many requests'],
    ['invalid_client', 401, 'rejected', client],
    ['invalid_client', 400, 'rejected', client],
    ['disabled_client', 401, 'rejected', client],
    ['unauthorized_client', 400, 'rejected', 'refused the request of this service'],
    ['invalid_client', 502, 'unavailable', 'Acme Mail failed (502)'],
    ['unsupported_grant_type', 400, 'rejected', 'refused the request of this service'],
    ['invalid_scope', 400, 'rejected', 'refused the request of this service'],
    ['server_error', 400, 'unavailable', 'temporarily unavailable'],
    ['temporarily_unavailable', 400, 'unavailable', 'temporarily unavailable'],
    ['a-leak\r\n<script>', 400, 'rejected', 'unreadable code'],
  ])('%s with status %i is %s', async (error, status, kind, words) => {
    const login = await respondingWith(json({ error, error_description: 'a-leak of ada@acme.test' }, status))
    const found = await failureOf(login.refresh(REFRESH_TOKEN))
    expect([found.kind, found.message]).toEqual([kind, expect.stringContaining(words)])
  })

  it('is understood when it is JSON that calls itself text', async () => {
    const headers = { 'content-type': 'text/plain' }
    const login = await respondingWith({ status: 400, headers, body: { error: 'invalid_grant' } })
    expect(await failureOf(login.refresh(REFRESH_TOKEN))).toMatchObject({ kind: 'auth_expired' })
  })
})

describe('the address of a user', () => {
  async function userOf(userinfo: ScriptedResponse, loginHint: string | null = null) {
    const issuer = closing(
      await startScripted(({ path }) =>
        path === '/token' ? json({ access_token: 'good', token_type: 'bearer' }) : userinfo,
      ),
    )
    const login = loginAt(`${issuer.url}/token`, { userinfoUrl: `${issuer.url}/userinfo` })
    return login.exchange(callback, { ...sent, loginHint })
  }

  it.each([
    ['a number', 7],
    ['a line break', 'ada@acme.test\r\nA1 LOGOUT'],
    ['a field of SASL', 'ada@acme.test\u0001auth=Bearer x'],
    ['markup', '<script>@acme.test'],
    ['two addresses', 'ada@acme.test, bob@acme.test'],
    ['100,000 characters', `${'x'.repeat(100_000)}@acme.test`],
  ])('is not taken from %s', async (_name, email) => {
    expect(await failureOf(userOf(json({ email, sub: '7' })))).toMatchObject({
      kind: 'rejected',
      message: 'Acme Mail did not say whose mailbox this is',
    })
    const { user } = await userOf(json({ email, sub: '7' }), 'ada@acme.test')
    expect(user.email).toBe('ada@acme.test')
  })

  it.each([
    ['no JSON', { headers: { 'content-type': 'application/json' }, body: '<p>' }, 'unavailable'],
    ['a refusal of the token', { status: 401 }, 'rejected'],
    ['an outage', { status: 503 }, 'unavailable'],
    ['a missing page', { status: 404 }, 'rejected'],
  ])('is unknown after %s', async (_name, response, kind) => {
    expect(await failureOf(userOf(response, 'ada@acme.test'))).toMatchObject({ kind })
  })
})
