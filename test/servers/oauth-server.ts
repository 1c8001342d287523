import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A fake OAuth server with the behaviour of Google and Microsoft that the tests need. Tests can make it fail. */
export interface OAuthServer {
  url: string
  /** Every request to the token endpoint, in order. */
  tokenRequests: Record<string, string>[]
  /** `Authorization` headers of requests to other paths. */
  bearers: string[]
  revoked: string[]
  /** Responses of the token endpoint to use first, in order. */
  nextResponses: TokenResponse[]
  /** Fields of a token response besides the tokens. */
  granted: { scope: string | undefined; expires_in: number | undefined }
  /** Each refresh returns a new refresh token. The old one stays valid for `graceMs`. */
  rotates: { graceMs: number } | undefined
  /** False imitates Google, which omits the refresh token for a repeated consent. */
  refreshTokens: boolean
  user: { id: string; email: string }
  /** Claims of the ID token that comes with an access token. By default of another tenant and without `at_hash`, as Microsoft's. */
  idTokenClaims: (accessToken: string) => object
  /** Status of the next responses of userinfo and `/me`, in order. */
  nextUserStatuses: number[]
  /** Runs after the tokens were issued and before the response is sent. */
  beforeResponse: () => Promise<void>
  /** Runs before a response of userinfo or `/me`. */
  beforeUser: () => Promise<void>
  /** Issues an authorization code, as the consent page does. */
  code(challenge?: string, redirectUri?: string): string
  /** Issues a valid refresh token. */
  refreshToken(): string
  isValid(refreshToken: string): boolean
  close(): Promise<void>
}

export interface TokenResponse {
  status: number
  headers?: Record<string, string>
  body: string
}

export const OAUTH_CLIENT = { clientId: 'client-1', clientSecret: 'secret-1' }

export async function startOAuthServer(): Promise<OAuthServer> {
  const codes = new Map<string, { challenge: string | undefined; redirectUri: string | undefined }>()
  /** Expiry by token. */
  const refreshTokens = new Map<string, number>()
  const accessTokens = new Set<string>()
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const make = (kind: string) => `${kind}-${randomBytes(12).toString('hex')}`
  const self: OAuthServer = {
    url,
    tokenRequests: [],
    bearers: [],
    revoked: [],
    nextResponses: [],
    granted: { scope: undefined, expires_in: 3600 },
    rotates: undefined,
    refreshTokens: true,
    user: { id: 'user-1', email: 'ada@example.com' },
    idTokenClaims: () => ({ iss: 'https://other.example', sub: 'somebody' }),
    nextUserStatuses: [],
    beforeResponse: async () => {},
    beforeUser: async () => {},
    code(challenge, redirectUri) {
      const code = make('code')
      codes.set(code, { challenge, redirectUri })
      return code
    },
    refreshToken() {
      const token = make('refresh')
      refreshTokens.set(token, Number.POSITIVE_INFINITY)
      return token
    },
    isValid: (token) => (refreshTokens.get(token) ?? 0) > Date.now(),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', url)
    const { authorization } = request.headers
    if (authorization !== undefined) self.bearers.push(authorization)
    if (pathname.endsWith('/token')) {
      const fields = Object.fromEntries(new URLSearchParams(await readBody(request)))
      self.tokenRequests.push(fields)
      const next = self.nextResponses.shift() ?? tokenResponse(fields)
      await self.beforeResponse()
      response.writeHead(next.status, { 'content-type': 'application/json', ...next.headers }).end(next.body)
      return
    }
    if (pathname.endsWith('/revoke')) {
      const token = new URLSearchParams(await readBody(request)).get('token') ?? ''
      self.revoked.push(token)
      refreshTokens.delete(token)
      response.writeHead(200).end()
      return
    }
    if (!accessTokens.has(authorization?.replace('Bearer ', '') ?? '')) {
      response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
      return
    }
    await self.beforeUser()
    const failure = self.nextUserStatuses.shift()
    if (failure !== undefined) {
      response.writeHead(failure).end()
      return
    }
    const { id, email } = self.user
    const body = pathname.endsWith('/me') ? { id, mail: null, userPrincipalName: email } : { sub: id, email }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  function tokenResponse(fields: Record<string, string>): TokenResponse {
    const { client_id, client_secret, grant_type } = fields
    if (client_id !== OAUTH_CLIENT.clientId || client_secret !== OAUTH_CLIENT.clientSecret) {
      return errorResponse('invalid_client', 401)
    }
    return grant_type === 'refresh_token' ? refreshed(fields) : exchanged(fields)
  }

  function exchanged({
    code = '',
    code_verifier = '',
    redirect_uri = '',
    scope,
  }: Record<string, string>): TokenResponse {
    const grant = codes.get(code)
    codes.delete(code)
    const challenge = createHash('sha256').update(code_verifier).digest('base64url')
    if (grant === undefined || (grant.challenge ?? challenge) !== challenge) return errorResponse('invalid_grant')
    if ((grant.redirectUri ?? redirect_uri) !== redirect_uri) return errorResponse('redirect_uri_mismatch')
    return tokens(self.refreshTokens ? self.refreshToken() : undefined, scope)
  }

  function refreshed({ refresh_token = '', scope }: Record<string, string>): TokenResponse {
    if (!self.isValid(refresh_token)) return errorResponse('invalid_grant')
    if (self.rotates === undefined) return tokens(undefined, scope)
    const until = Date.now() + self.rotates.graceMs
    refreshTokens.set(refresh_token, Math.min(refreshTokens.get(refresh_token) ?? 0, until))
    return tokens(self.refreshToken(), scope)
  }

  function tokens(refreshToken: string | undefined, scope: string | undefined): TokenResponse {
    const access_token = make('access')
    accessTokens.add(access_token)
    const { granted } = self
    const body = {
      access_token,
      token_type: 'Bearer',
      ...granted,
      scope: granted.scope ?? scope,
      ...(refreshToken !== undefined && { refresh_token: refreshToken }),
      id_token: `${part({ alg: 'RS256' })}.${part(self.idTokenClaims(access_token))}.c2lnbmF0dXJl`,
    }
    return { status: 200, body: JSON.stringify(body) }
  }

  return self
}

/** Claims that bind an ID token of Google to its access token. */
export function googleClaims(sub: string, accessToken: string): object {
  const hash = createHash('sha256').update(accessToken).digest().subarray(0, 16)
  return { iss: 'https://accounts.google.com', aud: OAUTH_CLIENT.clientId, sub, at_hash: hash.toString('base64url') }
}

export function errorResponse(error: string, status = 400, more: Record<string, unknown> = {}): TokenResponse {
  return {
    status,
    headers: status === 401 ? { 'www-authenticate': 'Basic realm="x"' } : {},
    body: JSON.stringify({ error, error_description: 'A text that names ada@example.com.', ...more }),
  }
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

async function readBody(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
