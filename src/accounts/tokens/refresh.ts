import { LRUCache } from 'lru-cache'
import { sleep } from '../../platform/concurrency/abort.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Log, LogFields } from '../../platform/log/index.ts'
import { atMost } from '../../platform/lru.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type LoginProvider, ProviderError, type ProviderName, type TokenSet } from '../../providers/contract/index.ts'
import { type AccountRow, accountStore } from '../identity/store.ts'
import {
  grantedScopes,
  isFresh,
  LEAST_LIFE_MS,
  type OAuthSecrets,
  oauthSecrets,
  openSecrets,
  sealSecrets,
  tokenSummary,
} from './account-secrets.ts'
import { checkTokenUser } from './token-user.ts'

export interface RefreshDeps {
  db: Db
  clock: Clock
  sealer: Sealer
  log: Log
  /** Allows one more refresh for an account in auth_error. */
  tryAgain(tx: Tx, accountId: string): Promise<unknown>
  /** Called after each refresh, for the metrics. `failed` may succeed later. */
  onRefresh?: ((provider: ProviderName, outcome: RefreshOutcome) => void) | undefined
}

export type RefreshOutcome = 'succeeded' | 'failed' | 'refused'

/** Pause after a temporary failure of the provider without `Retry-After`. */
const PAUSE_MS = 2_000
const MAX_PAUSE_MS = 60_000
/** Before each attempt to store refreshed tokens: a rotated token exists nowhere else. */
const STORE_AFTER_MS = [0, 200, 1000, 3000]

interface LeasedRefresh {
  /** The row as it was when the lease was taken. */
  leased: AccountRow
  login: LoginProvider
  /** Identifies this run in the lease. */
  holder: string
  /** The access token that the provider refused. */
  refused: string | undefined
}

/** Returns the new token. Undefined when the tokens were replaced meanwhile; then read the row again. */
export async function refreshUnderLease(
  deps: RefreshDeps,
  pauses: RefreshPauses,
  { leased, login, holder, refused }: LeasedRefresh,
): Promise<string | undefined> {
  const { db, clock, sealer, log } = deps
  const { oauth } = openSecrets(sealer, leased)
  const endLease = () => db.transaction((tx) => accountStore(tx, db.dialect).endTokenLease(leased.id, holder))
  // The former holder stored a token after this process read the row.
  if (oauth === undefined || isFresh(oauth, refused, clock.now())) {
    await endLease()
    return undefined
  }
  let current = oauth
  const startedMs = clock.monotonic()
  const about = () => ({
    accountId: leased.id,
    provider: leased.provider,
    operation: 'accounts.tokens',
    durationMs: clock.monotonic() - startedMs,
  })
  try {
    const tokenSet = await login.refresh(oauth.refreshToken, grantedScopes(leased))
    await checkTokenUser(login, tokenSet, leased.providerUser).catch(async (error: unknown) => {
      current = await keepRotated(deps, leased, oauth, tokenSet, error)
      throw error
    })
    pauses.end(leased.id)
    const renewed = oauthSecrets(tokenSet, tokenSet.refreshToken ?? oauth.refreshToken, clock.now())
    if (await storeTokens(deps, leased.id, oauth.refreshToken, renewed, tokenSet.scopes)) {
      log.info('Refreshed the access token of an account.', about())
      deps.onRefresh?.(leased.provider, 'succeeded')
      return tokenSet.accessToken
    }
  } catch (error) {
    await endLease()
    if (!(error instanceof ProviderError)) throw error
    return handleFailure(deps, pauses, { leased, oauth: current, refused, error, about: about() })
  }
  await endLease()
  return undefined
}

/** Stores the rotated refresh token when the user could not be read. The access token stays unused. */
async function keepRotated(
  deps: RefreshDeps,
  leased: AccountRow,
  oauth: OAuthSecrets,
  { refreshToken }: TokenSet,
  error: unknown,
): Promise<OAuthSecrets> {
  const isOtherUser = error instanceof ProviderError && error.kind === 'auth_expired'
  if (isOtherUser || refreshToken === undefined) return oauth
  const rotated = { ...oauth, refreshToken }
  await storeTokens(deps, leased.id, oauth.refreshToken, rotated, grantedScopes(leased) ?? [])
  return rotated
}

interface FailedRefresh {
  leased: AccountRow
  /** The tokens in the row, unless they were replaced meanwhile. */
  oauth: OAuthSecrets
  refused: string | undefined
  error: ProviderError
  about: LogFields
}

/** Undefined when the refresh failed for tokens that have been replaced in the row. */
async function handleFailure(
  deps: RefreshDeps,
  pauses: RefreshPauses,
  { leased, oauth, refused, error, about }: FailedRefresh,
): Promise<string | undefined> {
  const { db, clock, sealer, log } = deps
  const now = openSecrets(sealer, await accountStore(db.read, db.dialect).get(leased.id)).oauth
  if (now?.refreshToken !== oauth.refreshToken) return undefined
  deps.onRefresh?.(leased.provider, error.kind === 'auth_expired' ? 'refused' : 'failed')
  // The sync or the request that needed the token reports it.
  if (error.kind === 'auth_expired') throw error
  const pauseMs = Math.min(error.retryAfterMs ?? PAUSE_MS, MAX_PAUSE_MS)
  pauses.begin(leased, error, pauseMs)
  log.warn(
    `Cannot refresh the access token of an account (${error.message}); trying again in ${Math.ceil(pauseMs / 1000)} s.`,
    { ...about, error },
  )
  return fallBack(oauth, refused, error, clock.now())
}

/** While the provider is failing, the old token is used until it expires. Throws the error when it cannot be used. */
export function fallBack(
  oauth: Pick<OAuthSecrets, 'accessToken' | 'expiresAt'>,
  refused: string | undefined,
  error: ProviderError,
  nowMs: number,
): string {
  const works = oauth.accessToken !== refused && oauth.expiresAt - nowMs >= LEAST_LIFE_MS
  if (works) return oauth.accessToken
  throw error
}

/** Stores the tokens that the refresh token `used` was exchanged for. False when a new consent replaced the tokens meanwhile. */
async function storeTokens(
  deps: RefreshDeps,
  accountId: string,
  used: string,
  renewed: OAuthSecrets,
  scopes: readonly string[],
): Promise<boolean> {
  for (const [tried, afterMs] of STORE_AFTER_MS.entries()) {
    await sleep(afterMs)
    try {
      return await deps.db.transaction((tx) => replaceTokens(deps, tx, accountId, used, renewed, scopes))
    } catch (error) {
      // An AppError: the account was deleted.
      if (error instanceof AppError || tried === STORE_AFTER_MS.length - 1) throw error
      deps.log.warn('Cannot store refreshed tokens; trying again.', {
        accountId,
        operation: 'accounts.tokens',
        error,
      })
    }
  }
  return false
}

async function replaceTokens(
  { db, sealer, tryAgain }: RefreshDeps,
  tx: Tx,
  accountId: string,
  used: string,
  oauth: OAuthSecrets,
  scopes: readonly string[],
): Promise<boolean> {
  const rows = accountStore(tx, db.dialect)
  const row = await rows.lock(accountId)
  const secrets = openSecrets(sealer, row)
  if (secrets.oauth?.refreshToken !== used) return false
  await rows.keepTokens(accountId, {
    secrets: sealSecrets(sealer, accountId, { ...secrets, oauth }),
    tokens: JSON.stringify(tokenSummary(oauth, scopes)),
  })
  // This process outlived its lease, and another one saw the old refresh token rejected before the new one was stored.
  if (row.status === 'auth_error') await tryAgain(tx, accountId)
  return true
}

/** What has tokens: an account, or a connection with the version of its credentials. */
type TokenOwner = Pick<AccountRow, 'id' | 'accessVersion'>

/** The accounts and connections whose provider failed to refresh their tokens, and is not asked again for now. */
export class RefreshPauses {
  readonly #pauses: LRUCache<string, { accessVersion: number; error: ProviderError }>

  constructor(clock: Clock) {
    this.#pauses = new LRUCache({
      ...atMost(10_000),
      ttlResolution: 0,
      perf: { now: () => clock.monotonic() },
    })
  }

  begin({ id, accessVersion }: TokenOwner, error: ProviderError, pauseMs: number): void {
    this.#pauses.set(id, { accessVersion, error }, { ttl: Math.max(1, pauseMs) })
  }

  end(id: string): void {
    this.#pauses.delete(id)
  }

  /** Why the tokens are not refreshed for now. New credentials are used at once. */
  findFailure({ id, accessVersion }: TokenOwner): ProviderError | undefined {
    const pause = this.#pauses.get(id)
    return pause?.accessVersion === accessVersion ? pause.error : undefined
  }
}
