import * as oauth from 'oauth4webapi'
import type { Clock } from '../../lib/clock.ts'
import type { ConsentRequest, TokenSet } from '../contract/index.ts'
import { ProviderError } from '../contract/index.ts'
import { callLimits } from './endpoint.ts'
import { loginFailure } from './failure.ts'

export interface OAuthClientOptions {
  /** As people know it: `Google`. */
  who: string
  clientId: string
  clientSecret: string
  authUrl: string
  tokenUrl: string
  revokeUrl?: string
  scopes: readonly string[]
  /** Sent with the scopes again when a token is refreshed: Microsoft wants them. */
  refreshWithScopes?: boolean
  /** What is needed and was not granted, as people would say it. */
  missing(granted: readonly string[]): string[]
  clock: Clock
}

/** One signed-in request after another within the 10 s of a call. */
export type Ask = (url: string, accessToken: string) => Promise<Record<string, unknown>>

/** Without `expires_in` a token is taken for a short one; none is believed for longer than a day. */
const DEFAULT_LIFE_SECONDS = 300
const LONGEST_LIFE_SECONDS = 86_400

/**
 * The part of signing in that Google and Microsoft share: the authorization code flow with PKCE (RFC 7636), over
 * oauth4webapi. The ID token is left unread, because who signed in is asked of the provider's API: one of Microsoft's `common` names the
 * user's own tenant as issuer, which nobody knows beforehand.
 */
export function oauthClient(options: OAuthClientOptions) {
  const { who, clock } = options
  const server: oauth.AuthorizationServer = {
    issuer: new URL(options.authUrl).origin,
    token_endpoint: options.tokenUrl,
    ...(options.revokeUrl !== undefined && { revocation_endpoint: options.revokeUrl }),
  }
  const client: oauth.Client = { client_id: options.clientId }
  const secret = oauth.ClientSecretPost(options.clientSecret)

  /** One call to the provider: everything in it within 10 s, every failure a `ProviderError`. */
  async function call<T>(work: (limits: ReturnType<typeof callLimits>) => Promise<T>): Promise<T> {
    try {
      return await work(callLimits(who, () => clock.now()))
    } catch (error) {
      throw loginFailure(who, error)
    }
  }

  const through = ({ signal, fetch }: ReturnType<typeof callLimits>) => ({
    signal,
    // Addresses come from the operator, and emulators speak plain http.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: async (url: string, init: oauth.CustomFetchOptions<'POST', URLSearchParams>) =>
      withoutIdToken(await fetch(url, { method: init.method, headers: init.headers, body: init.body ?? null })),
  })

  function tokenSet(answer: oauth.TokenEndpointResponse): TokenSet {
    const scopes = (answer.scope ?? options.scopes.join(' ')).split(' ').filter((scope) => scope !== '')
    const missing = options.missing(scopes)
    if (missing.length > 0) {
      const what = missing.join(' and ')
      throw new ProviderError('rejected', `${who} was not allowed to give access to ${what}`, { missingScope: true })
    }
    const seconds = Math.min(answer.expires_in ?? DEFAULT_LIFE_SECONDS, LONGEST_LIFE_SECONDS)
    return {
      accessToken: answer.access_token,
      expiresAt: clock.now() + Math.round(seconds * 1000),
      ...(answer.refresh_token !== undefined && { refreshToken: answer.refresh_token }),
      scopes,
    }
  }

  return {
    async consentUrl(request: ConsentRequest, extra: Record<string, string>): Promise<string> {
      const url = new URL(options.authUrl)
      // An account is chosen, not taken for granted: the browser may be signed in as somebody else.
      const prompt = request.forceConsent ? 'consent' : request.loginHint === null ? 'select_account' : undefined
      const query = {
        client_id: options.clientId,
        response_type: 'code',
        redirect_uri: request.redirectUri,
        scope: options.scopes.join(' '),
        state: request.state,
        code_challenge: await oauth.calculatePKCECodeChallenge(request.codeVerifier),
        code_challenge_method: 'S256',
        ...(request.loginHint !== null && { login_hint: request.loginHint }),
        ...(prompt !== undefined && { prompt }),
        ...extra,
      }
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      return url.href
    },

    /** The tokens for a code, and what `identify` finds out with them, within the same 10 s. */
    exchange<T>(
      callback: URL,
      sent: { redirectUri: string; state: string; codeVerifier: string },
      identify: (ask: Ask, accessToken: string) => Promise<T>,
    ): Promise<{ tokens: TokenSet; user: T }> {
      return call(async (limits) => {
        const answered = new URLSearchParams(callback.search)
        // A redirect address per provider tells them apart already (RFC 9700, 4.4.2.2), and Microsoft's issuer is the user's tenant.
        answered.delete('iss')
        const code = oauth.validateAuthResponse(server, client, answered, sent.state)
        const { redirectUri, codeVerifier } = sent
        const answer = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          secret,
          code,
          redirectUri,
          codeVerifier,
          through(limits),
        )
        const tokens = tokenSet(await oauth.processAuthorizationCodeResponse(server, client, answer))
        return { tokens, user: await identify(asking(limits.fetch), tokens.accessToken) }
      })
    },

    refresh(refreshToken: string): Promise<TokenSet> {
      return call(async (limits) => {
        const answer = await oauth.refreshTokenGrantRequest(server, client, secret, refreshToken, {
          ...through(limits),
          ...(options.refreshWithScopes && { additionalParameters: { scope: options.scopes.join(' ') } }),
        })
        return tokenSet(await oauth.processRefreshTokenResponse(server, client, answer))
      })
    },

    identify<T>(accessToken: string, identify: (ask: Ask, accessToken: string) => Promise<T>): Promise<T> {
      return call((limits) => identify(asking(limits.fetch), accessToken))
    },

    revoke(token: string): Promise<void> {
      return call(async (limits) => {
        const answer = await oauth.revocationRequest(server, client, secret, token, through(limits))
        await oauth.processRevocationResponse(answer)
      })
    },
  }

  /** A GET with the token; a refused token means that only a new one helps. */
  function asking(fetchBounded: ReturnType<typeof callLimits>['fetch']): Ask {
    return async (url, accessToken) => {
      const answer = await fetchBounded(url, {
        method: 'GET',
        headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
      })
      if (answer.status === 401) throw new ProviderError('auth_expired', `${who} refused the access token`)
      if (answer.status !== 200)
        throw new ProviderError('rejected', `${who} refused to say who signed in (${answer.status})`)
      const body: unknown = await answer.json().catch(() => undefined)
      if (typeof body !== 'object' || body === null) throw noSense(who)
      return { ...body }
    }
  }
}

/** For an answer that parses and yet says nothing usable. */
export function noSense(who: string): ProviderError {
  return new ProviderError('unavailable', `${who} gave an answer that makes no sense`)
}

async function withoutIdToken(answer: Response): Promise<Response> {
  const text = await answer.text()
  const { status, headers } = answer
  const body: unknown = await new Response(text).json().catch(() => undefined)
  if (typeof body !== 'object' || body === null || !('id_token' in body)) {
    return new Response(text === '' ? null : text, { status, headers })
  }
  const { id_token: _unread, ...rest } = body
  return new Response(JSON.stringify(rest), { status, headers })
}
