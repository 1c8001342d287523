/** The token endpoint's response. Secrets: never log them, store them only sealed. */
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
  /** Asks for mailboxes that others share with the user, too. Only microsoft has such scopes. */
  sharedMailboxes?: boolean
}

/** A provider's verdict on the client of this service. */
export interface ClientProbe {
  /** `accepted`: it knows the client and its secret. `unclear`: the response says nothing about them. */
  client: 'accepted' | 'refused' | 'unclear'
  /** Its error code, such as `invalid_client, AADSTS7000222`. */
  code: string
  /** How far the clock of the provider is ahead of ours, at least. Undefined without a `Date` header. */
  clockAheadMs?: number
}

/** Whether a provider accepts a redirect address. `unknown`: it does not say. */
export type RedirectProbe = 'registered' | 'refused' | 'unknown'

/**
 * Sign-in by OAuth with PKCE. Methods that call the provider take at most 10 s and throw `ProviderError`: `auth_expired` when only
 * a new consent can help (`invalid_grant`, `interaction_required`, a revoked consent), `rejected` when the provider refuses
 * this service's client or redirect address or the user did not grant access to mail (`missingScope`), `rate_limited`, and
 * `unavailable` for temporary failures and unreadable responses.
 */
export interface LoginProvider {
  /** Requested from every user. Reading mail is required, the others are optional; see `TokenSet.scopes`. */
  readonly scopes: readonly string[]
  /** Requested in addition for `sharedMailboxes`. Empty: the provider has none. */
  readonly sharedScopes: readonly string[]
  consentUrl(request: ConsentRequest): Promise<string>
  /** `callback` is the redirect address with the query that the browser brought back. */
  exchange(
    callback: URL,
    sent: { redirectUri: string; state: string; codeVerifier: string; loginHint?: string | null },
  ): Promise<{ tokens: TokenSet; user: ProviderUser }>
  /** `granted`: the scopes of the account, if known. Asking for others would need a new consent. */
  refresh(refreshToken: string, granted?: readonly string[]): Promise<TokenSet>
  /** Absent where a mail server checks whose the token is. */
  identify?(accessToken: string): Promise<ProviderUser>
  /** Requests a token with an invalid code, which fails differently for an unknown client. */
  probeClient(redirectUri: string): Promise<ClientProbe>
  /** Requests an authorization without a user. A provider may return the browser only to a registered address. */
  probeRedirect(redirectUri: string): Promise<RedirectProbe>
  /** Best effort when an account is deleted. Does nothing for Microsoft, which has no such endpoint. */
  revoke(refreshToken: string): Promise<void>
}
