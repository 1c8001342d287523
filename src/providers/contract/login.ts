/** What an OAuth provider answers for a code or a refresh token. Secrets: never logged, kept only sealed. */
export interface TokenSet {
  accessToken: string
  /** Milliseconds. */
  expiresAt: number
  /** Absent: the provider sent no new one, and the one in use stays valid. */
  refreshToken?: string
  scopes: string[]
}

/** Who signed in, as the provider names them. */
export interface ProviderUser {
  /** Stable over a changed address. */
  id: string
  email: string
}

export interface ConsentRequest {
  redirectUri: string
  /** Ours, single-use. */
  state: string
  codeVerifier: string
  loginHint: string | null
  /** `prompt=consent`: asks even if access was granted earlier. */
  forceConsent: boolean
}

/**
 * Signing in by OAuth with PKCE. Every method that speaks to the provider takes at most 10 s and throws `ProviderError`:
 * `auth_expired` when only a new consent can help (`invalid_grant`, `interaction_required`, a revoked consent), `rejected` when the
 * provider refuses what this service sent (wrong client secret, unknown redirect address) or the user did not grant the mails
 * (`missingScope`), `rate_limited`, `unavailable` for everything temporary and for answers that make no sense.
 */
export interface LoginProvider {
  /** Asked of every user. Mail is needed; calendars may be left out, and `TokenSet.scopes` says so. */
  readonly scopes: readonly string[]
  consentUrl(request: ConsentRequest): Promise<string>
  /** `callback` is the address the browser came back to, with its query. */
  exchange(
    callback: URL,
    sent: { redirectUri: string; state: string; codeVerifier: string },
  ): Promise<{ tokens: TokenSet; user: ProviderUser }>
  refresh(refreshToken: string): Promise<TokenSet>
  identify(accessToken: string): Promise<ProviderUser>
  /** Best effort when an account is deleted. Microsoft has no such call and does nothing. */
  revoke(refreshToken: string): Promise<void>
}
