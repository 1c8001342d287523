import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { MICROSOFT_SCOPES, type Microsoft } from '../microsoft.ts'
import { BACK, BOB, startSignedInGraph, TENANT } from './signed-in-graph.ts'

const ANN = 'ann@example.test'

describe('the sign-in of the fake Microsoft', () => {
  it('signs in through a page, checks PKCE and the tenant, and names the tenant of the user', async () => {
    const { microsoft } = await startSignedInGraph()
    const verifier = randomBytes(32).toString('base64url')
    const { html, redirected } = await consent(microsoft, verifier)
    expect(html).toContain('Cancel')
    const code = redirected.searchParams.get('code') ?? ''
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: BACK, code_verifier: verifier }
    const tokens = await token(microsoft, exchange)
    const claims = JSON.parse(Buffer.from(String(tokens.id_token).split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({ iss: `${microsoft.url}/${TENANT}/v2.0`, aud: microsoft.client.id, tid: TENANT })
    expect((await token(microsoft, exchange)).error).toBe('invalid_grant')
    const other = await consent(microsoft, verifier)
    const wrong = { ...exchange, code: other.redirected.searchParams.get('code') ?? '', code_verifier: 'x'.repeat(43) }
    expect((await token(microsoft, wrong)).error).toBe('invalid_grant')
    expect((await consent(microsoft, verifier, 'other-tenant')).status).toBe(400)
    microsoft.denyConsent(BOB)
    expect((await consent(microsoft, verifier)).redirected.searchParams.get('error')).toBe('access_denied')
  })

  it('rotates refresh tokens, and refuses them on request', async () => {
    const { microsoft, call, refreshToken } = await startSignedInGraph()
    const refresh = (refresh_token: string) => token(microsoft, { grant_type: 'refresh_token', refresh_token })
    microsoft.expireAccessTokens()
    expect((await call('/me')).status).toBe(401)
    const renewed = await refresh(refreshToken)
    expect((await call('/me', {}, String(renewed.access_token))).status).toBe(200)
    expect((await refresh(refreshToken)).error).toBe('invalid_grant')
    microsoft.requireInteraction(BOB)
    expect((await refresh(String(renewed.refresh_token))).error).toBe('interaction_required')
    await consent(microsoft, randomBytes(32).toString('base64url'))
    const again = await refresh(String(renewed.refresh_token))
    expect(again.refresh_token).not.toBe(renewed.refresh_token)
    microsoft.revokeGrants(BOB)
    expect((await refresh(String(again.refresh_token))).error).toBe('invalid_grant')
    expect(microsoft.refreshes(BOB)).toBe(3)
  })

  it('issues tokens of another user as often as a refresh token is used', async () => {
    const { microsoft, call, refreshToken } = await startSignedInGraph()
    microsoft.addUser(ANN)
    microsoft.misissueTokens(BOB, ANN)
    for (let n = 0; n < 2; n += 1) {
      const { access_token } = await token(microsoft, { grant_type: 'refresh_token', refresh_token: refreshToken })
      expect(await (await call('/me', {}, String(access_token))).json()).toMatchObject({ mail: ANN })
    }
  })

  it('refuses tokens that it never gave', async () => {
    const { call } = await startSignedInGraph()
    expect((await call('/me', {}, 'nobody-gave-this')).status).toBe(401)
  })
})

async function consent(microsoft: Microsoft, verifier: string, tenant = 'common') {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: microsoft.client.id,
    redirect_uri: BACK,
    scope: MICROSOFT_SCOPES.join(' '),
    state: randomBytes(8).toString('hex'),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const html = await (await fetch(`${microsoft.url}/${tenant}/oauth2/v2.0/authorize?${query}`)).text()
  const body = new URLSearchParams({ email: BOB })
  for (const [, name = '', value = ''] of html.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g))
    if (name !== 'email') body.set(name, value.replaceAll('&amp;', '&'))
  const at = `${microsoft.url}/oauth2/v2.0/authorize/callback`
  const chosen = await fetch(at, { method: 'POST', body, redirect: 'manual' })
  return { status: chosen.status, html, redirected: new URL(chosen.headers.get('location') ?? 'http://none.test') }
}

async function token(microsoft: Microsoft, fields: Record<string, string>) {
  const client = { client_id: microsoft.client.id, client_secret: microsoft.client.secret }
  const body = new URLSearchParams({ ...client, ...fields })
  const response = await fetch(`${microsoft.url}/common/oauth2/v2.0/token`, { method: 'POST', body })
  return (await response.json()) as Record<string, unknown>
}
