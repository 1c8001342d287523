/** The grant that an access token represents. */
export interface Grant {
  user: string
  scopes: string[]
  refreshToken: string | null
  expiresAt: number
  /** The token belongs to an application of this tenant, and to no user. */
  application?: { tenantId: string }
}

/** The access tokens a fake issued, and the number of refreshes per user. */
export class Tokens {
  readonly #grants = new Map<string, Grant>()
  readonly #refreshes = new Map<string, number>()
  /** Lifetime of new access tokens in seconds, returned as `expires_in`. */
  lifetime = 3600

  issue(accessToken: string, grant: Omit<Grant, 'expiresAt'>): void {
    this.#grants.set(accessToken, { ...grant, expiresAt: Date.now() + this.lifetime * 1000 })
  }

  /** Undefined for an unknown, expired or revoked token. */
  find(accessToken: string): Grant | undefined {
    const grant = this.#grants.get(accessToken)
    return grant && grant.expiresAt > Date.now() ? grant : undefined
  }

  drop(matches: (grant: Grant, accessToken: string) => boolean): void {
    for (const [token, grant] of this.#grants) if (matches(grant, token)) this.#grants.delete(token)
  }

  countRefresh(user: string): void {
    this.#refreshes.set(user, this.refreshes(user) + 1)
  }

  refreshes(user: string): number {
    return this.#refreshes.get(user) ?? 0
  }

  /** The bearer token of a request; null without one. */
  static readBearer(headers: Headers): string | null {
    return /^Bearer\s+(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null
  }
}
