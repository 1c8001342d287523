import { describe, expect, it } from 'vitest'
import { closing } from '../../test/kit/closing.ts'
import { ISSUER_CLIENT, startIssuer } from '../../test/servers/issuer.ts'
import { startScripted } from '../../test/servers/scripted-http.ts'
import { loadConfig } from '../config/index.ts'
import { type CheckResult, runChecks } from '../operations/doctor/index.ts'
import { addressGuard, resolver } from '../platform/net/index.ts'
import { systemClock } from '../platform/time/clock.ts'
import { findChecks } from './provider-checks.ts'
import { signIn } from './sign-in.ts'

const PUBLIC_URL = 'http://localhost:8080'
const REDIRECT = `${PUBLIC_URL}/providers/acme/callback`

/** The results for `acme` in OAUTH_PROVIDERS, by the end of the check's name. */
async function checked(url: string, over: object = {}): Promise<Record<string, CheckResult>> {
  const acme = {
    label: 'Acme Mail',
    ...ISSUER_CLIENT,
    authorizationUrl: `${url}/auth`,
    tokenUrl: `${url}/token`,
    scopes: ['openid'],
    imap: { host: '127.0.0.1', port: 993 },
    smtp: { host: '127.0.0.1', port: 465 },
    ...over,
  }
  const environment = { PUBLIC_URL, OAUTH_PROVIDERS: JSON.stringify({ acme }) }
  const { config } = loadConfig({ environment, folder: '/nonexistent' })
  const guard = addressGuard({ privateTargets: 'loopback', resolve: resolver({ timeoutMs: 5000 }), clock: systemClock })
  const results = await runChecks(findChecks('acme', config, signIn(config, systemClock), guard) ?? [])
  for (const { status, message, remedy } of results) {
    expect(`${message} ${remedy}`).not.toContain(ISSUER_CLIENT.clientSecret)
    if (status === 'failed' || status === 'warning') expect(remedy).not.toBeNull()
  }
  return Object.fromEntries(results.map((result) => [result.name.replace('acme ', ''), result]))
}

describe('the checks of a name in OAUTH_PROVIDERS', () => {
  it('accept a client, its redirect address and its servers at a real issuer', async () => {
    const issuer = closing(await startIssuer({ redirectUris: [REDIRECT] }))
    expect(await checked(issuer.url)).toMatchObject({
      credentials: { status: 'ok', message: expect.stringContaining('Acme Mail accepts the client of acme') },
      'redirect address': { status: 'ok', message: expect.stringContaining(REDIRECT) },
      'mail servers': { status: 'ok' },
    })
    const wrong = await checked(issuer.url, { clientSecret: 'another' })
    expect(wrong.credentials).toMatchObject({ status: 'failed', message: expect.stringContaining('invalid_client') })
    const unknown = await checked(issuer.url, { clientId: 'nobody' })
    expect(unknown.credentials).toMatchObject({ status: 'failed' })
    expect(unknown['redirect address']?.status).not.toBe('ok')
  })

  it('show the address to register where the issuer does not know it', async () => {
    const issuer = closing(await startIssuer({ redirectUris: ['http://localhost:8080/elsewhere'] }))
    const found = (await checked(issuer.url))['redirect address']
    expect(found).toMatchObject({
      status: 'failed',
      remedy: expect.stringContaining(`exactly this address: ${REDIRECT}`),
    })
  })

  it('send the secret in the header where the file says so', async () => {
    const issuer = closing(
      await startScripted(() => ({
        status: 400,
        headers: { 'content-type': 'application/json' },
        body: { error: 'invalid_grant' },
      })),
    )
    const over = { clientId: 'id:with a colon', clientSecret: 'a+b', clientAuthentication: 'header' }
    expect((await checked(issuer.url, over)).credentials).toMatchObject({ status: 'ok' })
    const sent = issuer.asked.find(({ method }) => method === 'POST')
    const credentials = Buffer.from(sent?.headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString()
    expect(credentials).toBe('id%3Awith+a+colon:a%2Bb')
    expect(sent?.body).not.toContain('client_')
  })

  it.each([
    [404, 'failed', 'there is no page at its URL (404)'],
    [503, 'failed', 'Acme Mail failed (503)'],
    [200, 'skipped', 'does not say whether'],
  ])('judge an authorization page with status %i', async (status, expected, words) => {
    const issuer = closing(await startScripted(() => ({ status, body: '<h1>' })))
    expect((await checked(issuer.url))['redirect address']).toMatchObject({
      status: expected,
      message: expect.stringContaining(words),
    })
  })

  it('name the member whose server cannot be used', async () => {
    const issuer = closing(await startScripted(() => ({ status: 400 })))
    const over = { smtp: { host: 'smtp.acme.invalid', port: 465 }, caldavUrl: 'http://10.0.0.1/' }
    expect((await checked(issuer.url, over))['mail servers']).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('smtp.acme.invalid'),
      remedy: expect.stringContaining('Correct smtp.host of acme'),
    })
    expect((await checked(issuer.url, { caldavUrl: 'http://10.0.0.1/' }))['mail servers']).toMatchObject({
      status: 'failed',
      remedy: 'Add 10.0.0.1 to PRIVATE_TARGETS if it is yours.',
    })
    const nowhere = await checked('http://127.0.0.1:1')
    expect(nowhere).toMatchObject({ credentials: { status: 'failed' }, 'redirect address': { status: 'failed' } })
  })
})
