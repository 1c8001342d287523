/** What the token endpoint returned. Secrets: never log them, store them only sealed. */
export interface TokenSet {
  accessToken: string
  /** Milliseconds. */
  expiresAt: number
  /** Absent when the provider issued no new one; the current one stays valid. */
  refreshToken?: string
  scopes: string[]
  /** The user's id, if the response of a refresh proves it. Otherwise call `identify`. */
  userId?: string
}

/** The user who signed in. */
export interface ProviderUser {
  /** Stays the same when the address changes. */
  id: string
  email: string
}

export interface ConsentRequest {
  redirectUri: string
  /** Ours, single-use. */
  state: string
  codeVerifier: string
  loginHint: string | null
  /** `prompt=consent`: asks even if the user granted access earlier. */
  forceConsent: boolean
}

/**
 * Sign-in by OAuth with PKCE. Methods that call the provider take at most 10 s and throw `ProviderError`: `auth_expired` when only
 * a new consent can help (`invalid_grant`, `interaction_required`, a revoked consent), `rejected` when the provider refuses
 * this service's client or redirect address or the user did not grant access to mail (`missingScope`), `rate_limited`, and
 * `unavailable` for temporary failures and unreadable responses.
 */
export interface LoginProvider {
  /** Requested from every user. Reading mail is required, the others are optional; see `TokenSet.scopes`. */
  readonly scopes: readonly string[]
  consentUrl(request: ConsentRequest): Promise<string>
  /** `callback` is the redirect address with the query that the browser brought back. */
  exchange(
    callback: URL,
    sent: { redirectUri: string; state: string; codeVerifier: string },
  ): Promise<{ tokens: TokenSet; user: ProviderUser }>
  /** `granted`: the scopes of the account, if known. Asking for others would need a new consent. */
  refresh(refreshToken: string, granted?: readonly string[]): Promise<TokenSet>
  identify(accessToken: string): Promise<ProviderUser>
  /** Best effort when an account is deleted. Does nothing for Microsoft, which has no such endpoint. */
  revoke(refreshToken: string): Promise<void>
}
