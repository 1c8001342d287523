import type { Sealer } from '../../../lib/seal.ts'
import { isoTime } from '../../../lib/time.ts'
import type { MailSecrets, TokenSet } from '../../../providers/contract/index.ts'
import { type LinkAccount, RefreshTokenMissing, type TokenSummary } from '../account.ts'
import type { AccountRow } from '../store.ts'

/** What is sealed in the row of an account. */
export interface AccountSecrets extends MailSecrets {
  oauth?: OAuthSecrets
}

export interface OAuthSecrets {
  accessToken: string
  /** Milliseconds, as is `refreshAt`: from then on the token is refreshed, while it still works. */
  expiresAt: number
  refreshAt: number
  refreshToken: string
}

/** A token that is handed out works for so long at least. */
export const LEAST_LIFE_MS = 60_000
/** Accounts that were connected at the same time do not all refresh at the same time. */
const SPREAD_MS = 240_000

export function openSecrets(sealer: Sealer, row: Pick<AccountRow, 'id' | 'secrets'>): AccountSecrets {
  return JSON.parse(sealer.open(row.secrets, contextOf(row.id)))
}

export function sealSecrets(sealer: Sealer, accountId: string, secrets: AccountSecrets): string {
  return sealer.seal(JSON.stringify(secrets), contextOf(accountId))
}

/** What an account is linked with; `kept` is what is stored and works. Throws `RefreshTokenMissing`. */
export function linkedSecrets(input: LinkAccount, kept: AccountSecrets | undefined, nowMs: number): AccountSecrets {
  if (input.tokens === undefined) return input.secrets
  const refreshToken = input.tokens.refreshToken ?? kept?.oauth?.refreshToken
  if (refreshToken === undefined) throw new RefreshTokenMissing('the provider gave no refresh token')
  return { ...input.secrets, oauth: oauthSecrets(input.tokens, refreshToken, nowMs) }
}

/** The tokens as they are kept; `refreshToken` is the one to use from now on. */
export function oauthSecrets(
  { accessToken, expiresAt }: TokenSet,
  refreshToken: string,
  nowMs: number,
  random = Math.random(),
): OAuthSecrets {
  const lifeMs = expiresAt - nowMs
  const spreadMs = random * Math.min(SPREAD_MS, lifeMs / 10)
  // A token of a minute or two would be refreshed without end, so it is used for half its life.
  const refreshAt = nowMs + Math.round(Math.max(lifeMs / 2, lifeMs - LEAST_LIFE_MS - spreadMs))
  return { accessToken, expiresAt, refreshAt, refreshToken }
}

/** What the API says of the tokens. */
export function tokenSummary(oauth: OAuthSecrets | undefined, scopes: readonly string[]): TokenSummary {
  if (oauth === undefined) return { expiresAt: null, scopes: [], hasRefreshToken: false }
  return { expiresAt: isoTime(oauth.expiresAt), scopes: [...scopes], hasRefreshToken: true }
}

const contextOf = (accountId: string) => `account:${accountId}`
