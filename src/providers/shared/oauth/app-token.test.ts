import { afterEach, beforeEach, expect, it } from 'vitest'
import { errorResponse, type OAuthServer, startOAuthServer } from '../../../../test/servers/oauth-server.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { ProviderError } from '../../contract/index.ts'
import { requestAppToken } from './app-token.ts'

let server: OAuthServer
beforeEach(async () => {
  server = await startOAuthServer()
})
afterEach(() => server.close())

const request = () =>
  requestAppToken({
    service: 'Microsoft',
    tokenUrl: `${server.url}/token`,
    fields: { grant_type: 'client_credentials', client_secret: 'hidden' },
    clock: systemClock,
    explain: ({ error, aadsts }) =>
      error === 'invalid_client' ? new ProviderError('auth_expired', `refused ${aadsts.join()}`) : undefined,
  })

const token = (more: object) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ access_token: 'abc.DEF-1', token_type: 'Bearer', expires_in: 3599, ...more }),
})

it('returns the token and bounds its life', async () => {
  server.nextResponses.push(token({}), token({ expires_in: '120', token_type: 'bearer' }), token({ expires_in: 1e12 }))
  const lives = []
  for (let count = 0; count < 3; count += 1) {
    const { accessToken, expiresAt } = await request()
    lives.push([accessToken, Math.round((expiresAt - Date.now()) / 1000)])
  }
  expect(lives).toEqual([
    ['abc.DEF-1', 3599],
    ['abc.DEF-1', 120],
    ['abc.DEF-1', 86_400],
  ])
  expect(server.tokenRequests[0]).toMatchObject({ grant_type: 'client_credentials', client_secret: 'hidden' })
})

it.each([
  ['a header of its own', token({ access_token: 'abc\r\nx-evil: 1' })],
  ['no token', token({ access_token: null })],
  ['an object', token({ access_token: { a: 1 } })],
  ['a very long token', token({ access_token: 'a'.repeat(20_000) })],
  ['another type', token({ token_type: 'mac' })],
  ['no type', token({ token_type: undefined })],
  ['no life', token({ expires_in: undefined })],
  ['a negative life', token({ expires_in: -5 })],
  ['a life of a moment', token({ expires_in: 1 })],
  ['a list', { status: 200, body: '[]' }],
  ['null', { status: 200, body: 'null' }],
  ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html></html>' }],
  ['a long page', { status: 200, body: 'x'.repeat(300_000) }],
  ['deep JSON', { status: 200, body: '['.repeat(10_000) }],
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:9/' }, body: '' }],
  ['nothing', { status: 204, body: '' }],
])('refuses %s in place of a token, as a temporary failure', async (_what, response) => {
  server.nextResponses.push(response)
  const error: ProviderError = await request().then(
    () => expect.fail('it was accepted'),
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(ProviderError)
  expect([error.kind, error.message]).toEqual(['unavailable', expect.not.stringContaining('evil')])
})

it('distinguishes refused credentials from failures', async () => {
  const aadsts = (error: string, ...codes: number[]) => ({
    status: 400,
    body: JSON.stringify({ error, error_codes: codes, error_description: 'hidden <b>' }),
  })
  const cases = [
    [aadsts('invalid_client', 7000222), 'auth_expired', 'refused 7000222'],
    [aadsts('invalid_client', 90033), 'unavailable', 'Microsoft is busy (AADSTS90033)'],
    [aadsts('temporarily_unavailable'), 'unavailable', expect.stringContaining('temporarily unavailable')],
    [aadsts('something_new', 1), 'unavailable', expect.stringContaining('something_new, AADSTS1')],
    [errorResponse('invalid_client', 500), 'unavailable', expect.anything()],
    [{ ...errorResponse('x', 429), headers: { 'retry-after': '7' } }, 'rate_limited', expect.anything()],
  ] as const
  for (const [response, kind, message] of cases) {
    server.nextResponses.push(response)
    await expect(request()).rejects.toMatchObject({ kind, message })
  }
})
