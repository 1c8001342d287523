import { createHash, randomBytes } from 'node:crypto'
import type { router } from './router.ts'

export interface SignIn {
  url: string
  client: { id: string; secret: string }
  find: ReturnType<typeof router>
  allowRedirect(...uris: string[]): void
  /** Paths of the consent page, its form action and the token endpoint. */
  page: string
  form: string
  token: string
}

/** Runs the authorization code flow without HTTP: no call is recorded and no fault applies. */
export async function grantWithoutBrowser(
  signIn: SignIn,
  user: string,
  scopes: string[],
): Promise<{ accessToken: string; refreshToken: string }> {
  const { url, client, find } = signIn
  const verifier = randomBytes(32).toString('base64url')
  const redirectUri = `${url}/control`
  signIn.allowRedirect(redirectUri)
  const fields = {
    client_id: client.id,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: randomBytes(16).toString('base64url'),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  const query = new URLSearchParams({ ...fields, response_type: 'code', prompt: 'consent', access_type: 'offline' })
  await request('GET', `${signIn.page}?${query}`)
  const redirect = await request('POST', signIn.form, { ...fields, email: user })
  const code = new URL(redirect.headers.get('location') ?? '').searchParams.get('code') ?? ''
  const exchange = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri }
  const response = await request('POST', signIn.token, {
    ...exchange,
    client_id: client.id,
    client_secret: client.secret,
  })
  const body = (await response.json()) as Record<string, string>
  const { access_token: accessToken, refresh_token: refreshToken } = body
  if (!accessToken || !refreshToken) throw new Error(`no grant for ${user}: ${JSON.stringify(body)}`)
  return { accessToken, refreshToken }

  async function request(method: string, path: string, sent: Record<string, string> = {}): Promise<Response> {
    const at = new URL(path, url)
    const match = find(method, at.pathname)
    const body = Buffer.from(new URLSearchParams(sent).toString())
    const input = { method, url: at, headers: new Headers(), body, signal: new AbortController().signal }
    const result = await match?.route.handle({ ...input, user: null, params: match.params, part: false })
    if (!(result instanceof Response)) throw new Error(`${method} ${path} returned no response`)
    return result
  }
}
