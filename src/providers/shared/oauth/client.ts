import * as oauth from 'oauth4webapi'
import type { Clock } from '../../../platform/time/clock.ts'
import type { ConsentRequest, TokenSet } from '../../contract/index.ts'
import { ProviderError } from '../../contract/index.ts'
import { loginError, unusableResponse } from './errors.ts'
import { readSubject } from './id-token.ts'
import { limitedFetch } from './limited-fetch.ts'
import { probeClient, probeRedirect } from './probe.ts'
import { asStandard, isUsable } from './token-response.ts'

export interface OAuthClientOptions {
  /** For errors: `Google`. */
  service: string
  clientId: string
  /** Absent for public clients. */
  clientSecret?: string | undefined
  /** Where the client's secret goes in requests of tokens. Default: the body. */
  clientAuthentication?: 'body' | 'header'
  /** Default true. */
  pkce?: boolean
  authUrl: string
  tokenUrl: string
  revokeUrl?: string
  scopes: readonly string[]
  /** Names the granted scopes in each refresh, and this one. Microsoft otherwise issues no new refresh token. */
  refreshScope?: string
  /** The subject of the ID token is the user's id. At Microsoft it is another one for every client. */
  subjectIsUserId?: boolean
  /** The required scopes that were not granted. */
  missing(granted: readonly string[]): string[]
  clock: Clock
}

/** A GET with the access token. It shares the 10 s of the call. */
export type SignedInGet = (url: string, accessToken: string) => Promise<Record<string, unknown>>

/** The lifetime of a token without `expires_in`. */
const DEFAULT_LIFETIME_SECONDS = 300

/**
 * The authorization code flow with PKCE (RFC 7636). oauth4webapi does not see the ID token, because it would compare its issuer: for
 * Microsoft's `common` tenant that is the user's own tenant, which cannot be known beforehand.
 */
export function oauthClient(options: OAuthClientOptions) {
  const { service, clock } = options
  const server: oauth.AuthorizationServer = {
    issuer: new URL(options.authUrl).origin,
    token_endpoint: options.tokenUrl,
    ...(options.revokeUrl !== undefined && { revocation_endpoint: options.revokeUrl }),
  }
  const client: oauth.Client = { client_id: options.clientId }
  const secret = clientAuthentication(options)
  const { pkce = true } = options

  /** Runs one call to the provider: all its requests within 10 s, every failure a `ProviderError`. */
  async function call<T>(work: (limits: ReturnType<typeof limitedFetch>) => Promise<T>): Promise<T> {
    try {
      return await work(limitedFetch(service, () => clock.now()))
    } catch (error) {
      throw loginError(service, error)
    }
  }

  const requestOptions = (
    { signal, fetch }: ReturnType<typeof limitedFetch>,
    onIdToken: (idToken: unknown) => void = () => {},
  ) => ({
    signal,
    // The operator sets the addresses, and emulators use plain http.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: async (url: string, init: oauth.CustomFetchOptions<'POST', URLSearchParams>) => {
      const response = await fetch(url, { method: init.method, headers: init.headers, body: init.body ?? null })
      return asStandard(response, onIdToken)
    },
  })

  /** A response without scopes granted the requested ones (RFC 6749, 5.1). */
  function tokenSet(response: oauth.TokenEndpointResponse, requested: readonly string[]): TokenSet {
    if (!isUsable(response)) throw unusableResponse(service)
    const scopes = response.scope?.split(' ').filter((scope) => scope !== '') ?? [...requested]
    const missing = options.missing(scopes)
    if (missing.length > 0) {
      const what = `the scope ${missing.join(' and ')}`
      throw new ProviderError('rejected', `The user did not grant ${what} of ${service}`, { missingScope: true })
    }
    const seconds = response.expires_in ?? DEFAULT_LIFETIME_SECONDS
    return {
      accessToken: response.access_token,
      expiresAt: clock.now() + Math.round(seconds * 1000),
      ...(response.refresh_token !== undefined && { refreshToken: response.refresh_token }),
      scopes,
    }
  }

  return {
    async consentUrl(
      request: ConsentRequest,
      extra: Record<string, string>,
      furtherScopes: readonly string[] = [],
    ): Promise<string> {
      const url = new URL(options.authUrl)
      // The user picks the account: the browser may be signed in to another one.
      const prompt = request.forceConsent ? 'consent' : request.loginHint === null ? 'select_account' : undefined
      const query = {
        client_id: options.clientId,
        response_type: 'code',
        redirect_uri: request.redirectUri,
        scope: [...options.scopes, ...furtherScopes].join(' '),
        state: request.state,
        ...(pkce && {
          code_challenge: await oauth.calculatePKCECodeChallenge(request.codeVerifier),
          code_challenge_method: 'S256',
        }),
        ...(request.loginHint !== null && { login_hint: request.loginHint }),
        ...(prompt !== undefined && { prompt }),
        ...extra,
      }
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      return url.href
    },

    /** Exchanges the code for tokens and identifies the user, within the same 10 s. */
    exchange<T>(
      callback: URL,
      sent: { redirectUri: string; state: string; codeVerifier: string },
      identify: (get: SignedInGet, accessToken: string, idToken: unknown) => Promise<T>,
    ): Promise<{ tokens: TokenSet; user: T }> {
      return call(async (limits) => {
        let idToken: unknown
        const keepIdToken = (received: unknown) => {
          idToken = received
        }
        const query = new URLSearchParams(callback.search)
        // Each provider has its own redirect address (RFC 9700, 4.4.2.2), and Microsoft's issuer is the user's tenant.
        query.delete('iss')
        const code = oauth.validateAuthResponse(server, client, query, sent.state)
        const { redirectUri, codeVerifier } = sent
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          secret,
          code,
          redirectUri,
          pkce ? codeVerifier : oauth.nopkce,
          requestOptions(limits, keepIdToken),
        )
        const tokens = tokenSet(await oauth.processAuthorizationCodeResponse(server, client, response), options.scopes)
        const user = await identify(signedInGet(limits.fetch), tokens.accessToken, idToken).catch(refuseNewToken)
        return { tokens, user }
      })
    },

    refresh(refreshToken: string, granted?: readonly string[]): Promise<TokenSet> {
      const { refreshScope } = options
      const scopes = granted && [...new Set(refreshScope === undefined ? granted : [...granted, refreshScope])]
      const isNamed = scopes !== undefined && refreshScope !== undefined
      return call(async (limits) => {
        let idToken: unknown
        const keepIdToken = (received: unknown) => {
          idToken = received
        }
        const response = await oauth.refreshTokenGrantRequest(server, client, secret, refreshToken, {
          ...requestOptions(limits, keepIdToken),
          ...(isNamed && { additionalParameters: { scope: scopes.join(' ') } }),
        })
        const body = await oauth.processRefreshTokenResponse(server, client, response)
        const tokens = tokenSet(body, scopes ?? options.scopes)
        const userId = options.subjectIsUserId && readSubject(idToken, options.clientId, tokens.accessToken)
        return { ...tokens, ...(userId && { userId }) }
      })
    },

    identify<T>(accessToken: string, identify: (get: SignedInGet, accessToken: string) => Promise<T>): Promise<T> {
      return call((limits) => identify(signedInGet(limits.fetch), accessToken))
    },

    probeClient: (redirectUri: string) => probeClient({ ...options, redirectUri }),
    probeRedirect: (redirectUri: string) => probeRedirect({ ...options, redirectUri }),

    revoke(token: string): Promise<void> {
      return call(async (limits) => {
        const response = await oauth.revocationRequest(server, client, secret, token, requestOptions(limits))
        await oauth.processRevocationResponse(response)
      })
    },
  }

  /** The token cannot have expired, so a new sign-in would not help. */
  function refuseNewToken(error: unknown): never {
    if (!(error instanceof ProviderError) || error.kind !== 'auth_expired') throw error
    throw new ProviderError('rejected', `${service} refuses the access token that it has just issued`)
  }

  function signedInGet(fetchLimited: ReturnType<typeof limitedFetch>['fetch']): SignedInGet {
    return async (url, accessToken) => {
      const response = await fetchLimited(url, {
        method: 'GET',
        headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
      })
      const { status } = response
      if (status === 401) throw new ProviderError('auth_expired', `${service} refused the access token`)
      if (status !== 200) {
        const missingScope = status === 403
        throw new ProviderError('rejected', `${service} refused to identify the user (${status})`, { missingScope })
      }
      const body: unknown = await response.json().catch(() => undefined)
      if (typeof body !== 'object' || body === null) throw unusableResponse(service)
      return { ...body }
    }
  }
}

function clientAuthentication({
  clientSecret,
  clientAuthentication: place = 'body',
}: Pick<OAuthClientOptions, 'clientSecret' | 'clientAuthentication'>): oauth.ClientAuth {
  if (clientSecret === undefined) return oauth.None()
  return place === 'body' ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret)
}
