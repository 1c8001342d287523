import type { Sealer } from '../../platform/crypto/seal.ts'
import type { SealedColumn } from '../../platform/secrets/index.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { MailSecrets, TokenSet } from '../../providers/contract/index.ts'
import { type LinkAccount, RefreshTokenMissing, type TokenSummary } from '../identity/account.ts'
import type { AccountRow } from '../identity/store.ts'

/** The content of an account's sealed `secrets`. */
export interface AccountSecrets extends MailSecrets {
  oauth?: OAuthSecrets
}

export interface OAuthSecrets {
  accessToken: string
  /** In milliseconds. */
  expiresAt: number
  /** When to refresh the token, in milliseconds: before it expires. */
  refreshAt: number
  refreshToken: string
}

/** The least time for which a returned token is valid. */
export const LEAST_LIFE_MS = 60_000
/** Spreads the refreshes of accounts that were connected at the same time. */
const SPREAD_MS = 240_000

export function openSecrets(sealer: Sealer, row: Pick<AccountRow, 'id' | 'secrets'>): AccountSecrets {
  return JSON.parse(sealer.open(row.secrets, sealContext(row.id)))
}

export function sealSecrets(sealer: Sealer, accountId: string, secrets: AccountSecrets): string {
  return sealer.seal(JSON.stringify(secrets), sealContext(accountId))
}

/** The secrets of an account that is linked. `stored` are the working ones of an existing account. Throws `RefreshTokenMissing`. */
export function linkedSecrets(input: LinkAccount, stored: AccountSecrets | undefined, nowMs: number): AccountSecrets {
  if (input.tokens === undefined) return input.secrets
  const refreshToken = input.tokens.refreshToken ?? stored?.oauth?.refreshToken
  if (refreshToken === undefined) throw new RefreshTokenMissing('the provider returned no refresh token')
  return { ...input.secrets, oauth: oauthSecrets(input.tokens, refreshToken, nowMs) }
}

/** The tokens to store. `refreshToken` is the one for the next refresh. */
export function oauthSecrets(
  { accessToken, expiresAt }: TokenSet,
  refreshToken: string,
  nowMs: number,
  random = Math.random(),
): OAuthSecrets {
  return { accessToken, expiresAt, refreshAt: refreshTime(expiresAt, nowMs, random), refreshToken }
}

/** When to refresh a token that expires at this time. */
export function refreshTime(expiresAt: number, nowMs: number, random = Math.random()): number {
  const lifeMs = expiresAt - nowMs
  const spreadMs = random * Math.min(SPREAD_MS, lifeMs / 10)
  // At least half its life, so that a token of a minute or two is not refreshed continuously.
  return nowMs + Math.round(Math.max(lifeMs / 2, lifeMs - LEAST_LIFE_MS - spreadMs))
}

/** False for a token that is due for its refresh, and for the one that the provider refused. */
export function isFresh(
  { accessToken, refreshAt }: Pick<OAuthSecrets, 'accessToken' | 'refreshAt'>,
  refused: string | undefined,
  nowMs: number,
): boolean {
  return accessToken !== refused && nowMs < refreshAt
}

/** Describes the tokens in the API. */
export function tokenSummary(oauth: OAuthSecrets | undefined, scopes: readonly string[]): TokenSummary {
  if (oauth === undefined) return { expiresAt: null, scopes: [], hasRefreshToken: false }
  return { expiresAt: isoTime(oauth.expiresAt), scopes: [...scopes], hasRefreshToken: true }
}

/** Undefined when they are unknown. */
export function grantedScopes({ tokens }: Pick<AccountRow, 'tokens'>): string[] | undefined {
  const { scopes }: TokenSummary = JSON.parse(tokens)
  return scopes.length === 0 ? undefined : scopes
}

const sealContext = (accountId: string) => `account:${accountId}`

export const SEALED_ACCOUNTS: SealedColumn = { table: 'accounts', key: 'id', column: 'secrets', sealContext }
