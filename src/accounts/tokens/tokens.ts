import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { sleep } from '../../platform/concurrency/abort.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Log, LogFields } from '../../platform/log/index.ts'
import { atMost } from '../../platform/lru.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { LoginProvider, TokenSet } from '../../providers/contract/index.ts'
import { ProviderError, type ProviderName } from '../../providers/contract/index.ts'
import type { TokenSummary } from '../identity/account.ts'
import { type AccountRow, accountStore } from '../identity/store.ts'
import {
  LEAST_LIFE_MS,
  type OAuthSecrets,
  oauthSecrets,
  openSecrets,
  sealSecrets,
  tokenSummary,
} from './account-secrets.ts'
import { checkTokenUser } from './token-user.ts'

export interface TokensDeps {
  db: Db
  clock: Clock
  sealer: Sealer
  log: Log
  login?(provider: ProviderName): LoginProvider | undefined
  /** Allows one more refresh for an account in auth_error. */
  tryAgain(tx: Tx, accountId: string): Promise<unknown>
  /** Called after each refresh, for the metrics. `failed` may succeed later. */
  onRefresh?: ((provider: ProviderName, outcome: RefreshOutcome) => void) | undefined
  timing?: Partial<TokenTiming> | undefined
}

export type RefreshOutcome = 'succeeded' | 'failed' | 'refused'

export interface TokenTiming {
  /** The lease of one refresh: longer than two requests to the provider, of 10 s each, and the commit. */
  leaseMs: number
  /** How long other processes wait for the refreshed token. */
  waitMs: number
  /** Mean interval at which waiting processes read the row. */
  pollMs: number
}

const TIMING: TokenTiming = { leaseMs: 30_000, waitMs: 10_000, pollMs: 100 }
/** Pause after a temporary failure of the provider without `Retry-After`. */
const REST_MS = 2_000
const MAX_REST_MS = 60_000
/** Before each attempt to store refreshed tokens: a rotated token exists nowhere else. */
const STORE_AFTER_MS = [0, 200, 1000, 3000]

/**
 * Valid access tokens, refreshed once for all replicas:
 *
 *   token in the row valid ─────────────────────────────► return it
 *   else: take the lease ──► refresh ──► check the user ──► store ──► return it
 *         lease is held ──► read the row until the holder has stored its token
 *
 * Tokens are stored before they are used, and no transaction waits for the network. A process that dies in between leaves the
 * refresh token it used. Google's stays valid, Microsoft's for some time after its rotation, so the next refresh succeeds once
 * the lease has expired. A provider that invalidates the old token at once would need a new consent.
 */
export function tokens(deps: TokensDeps) {
  const { db, clock, sealer, log } = deps
  const timing = { ...TIMING, ...deps.timing }
  const reader = accountStore(db.read, db.dialect)
  const flights = new Map<string, Promise<string>>()
  const resting = new LRUCache<string, { accessVersion: number; error: ProviderError }>({
    ...atMost(10_000),
    ttlResolution: 0,
    perf: { now: () => clock.monotonic() },
  })

  /** The refreshes in this process, one per account, shared by concurrent callers. */
  function shared(accountId: string, refused: string | undefined): Promise<string> {
    const running = flights.get(accountId)
    if (running !== undefined) return running
    const flight = refreshed(accountId, refused).finally(() => flights.delete(accountId))
    flights.set(accountId, flight)
    return flight
  }

  async function refreshed(accountId: string, refused: string | undefined): Promise<string> {
    const giveUpAt = clock.monotonic() + timing.waitMs
    for (;;) {
      const { row, oauth, login } = await readTokens(accountId)
      if (isFresh(oauth, refused)) return oauth.accessToken
      const rest = resting.get(accountId)
      // New credentials are used at once.
      if (rest?.accessVersion === row.accessVersion) return fallback(oauth, refused, rest.error)
      const holder = randomUUID()
      const leased = await db.transaction((tx) =>
        accountStore(tx, db.dialect).takeTokenLease(accountId, holder, timing.leaseMs),
      )
      if (leased !== undefined) {
        const token = await underLease(leased, login, holder, refused)
        if (token !== undefined) return token
      } else {
        if (clock.monotonic() >= giveUpAt) {
          const late = new ProviderError('unavailable', 'another process did not finish refreshing the tokens', {
            timedOut: true,
          })
          return fallback(oauth, refused, late)
        }
        await sleep(timing.pollMs * (0.5 + Math.random()))
      }
    }
  }

  async function readTokens(accountId: string) {
    const row = await reader.get(accountId)
    const { oauth } = openSecrets(sealer, row)
    const login = deps.login?.(row.provider)
    if (oauth === undefined || login === undefined) {
      throw new ProviderError(
        'rejected',
        `Signing in with ${row.provider} is not configured: its OAuth client is missing`,
      )
    }
    if (row.status === 'auth_error') {
      throw new ProviderError('auth_expired', row.statusReason ?? 'the user must consent again')
    }
    return { row, oauth, login }
  }

  /** Returns the new token. Undefined when the tokens were replaced meanwhile; then read the row again. */
  async function underLease(
    leased: AccountRow,
    login: LoginProvider,
    holder: string,
    refused: string | undefined,
  ): Promise<string | undefined> {
    const { id } = leased
    const { oauth } = openSecrets(sealer, leased)
    const endLease = () => db.transaction((tx) => accountStore(tx, db.dialect).endTokenLease(id, holder))
    // The former holder stored a token after this process read the row.
    if (oauth === undefined || isFresh(oauth, refused)) {
      await endLease()
      return undefined
    }
    let current = oauth
    const startedMs = clock.monotonic()
    const about = () => ({
      accountId: id,
      provider: leased.provider,
      operation: 'accounts.tokens',
      durationMs: clock.monotonic() - startedMs,
    })
    try {
      const tokenSet = await login.refresh(oauth.refreshToken, grantedScopes(leased))
      await checkTokenUser(login, tokenSet, leased.providerUser).catch(async (error: unknown) => {
        current = await withRotated(leased, oauth, tokenSet, error)
        throw error
      })
      resting.delete(leased.id)
      const renewed = oauthSecrets(tokenSet, tokenSet.refreshToken ?? oauth.refreshToken, clock.now())
      if (await stored(leased, oauth.refreshToken, renewed, tokenSet.scopes)) {
        log.info('Refreshed the access token of an account.', about())
        deps.onRefresh?.(leased.provider, 'succeeded')
        return tokenSet.accessToken
      }
    } catch (error) {
      await endLease()
      if (!(error instanceof ProviderError)) throw error
      return failed(leased, current, refused, error, about())
    }
    await endLease()
    return undefined
  }

  /** Stores the rotated refresh token when the user could not be read. The access token stays unused. */
  async function withRotated(
    leased: AccountRow,
    oauth: OAuthSecrets,
    { refreshToken }: TokenSet,
    error: unknown,
  ): Promise<OAuthSecrets> {
    const isOtherUser = error instanceof ProviderError && error.kind === 'auth_expired'
    if (isOtherUser || refreshToken === undefined) return oauth
    const rotated = { ...oauth, refreshToken }
    await stored(leased, oauth.refreshToken, rotated, grantedScopes(leased) ?? [])
    return rotated
  }

  /** Undefined when the refresh failed for tokens that have been replaced in the row. */
  async function failed(
    leased: AccountRow,
    oauth: OAuthSecrets,
    refused: string | undefined,
    error: ProviderError,
    about: LogFields,
  ): Promise<string | undefined> {
    const now = openSecrets(sealer, await reader.get(leased.id)).oauth
    if (now?.refreshToken !== oauth.refreshToken) return undefined
    deps.onRefresh?.(leased.provider, error.kind === 'auth_expired' ? 'refused' : 'failed')
    // The sync or the request that needed the token reports it.
    if (error.kind === 'auth_expired') throw error
    const restMs = Math.min(error.retryAfterMs ?? REST_MS, MAX_REST_MS)
    const { accessVersion } = leased
    resting.set(leased.id, { accessVersion, error }, { ttl: Math.max(1, restMs) })
    log.warn(
      `Cannot refresh the access token of an account (${error.message}); trying again in ${Math.ceil(restMs / 1000)} s.`,
      { ...about, error },
    )
    return fallback(oauth, refused, error)
  }

  /** While the provider is failing, the old token is used until it expires. */
  function fallback(oauth: OAuthSecrets, refused: string | undefined, error: ProviderError): string {
    const works = oauth.accessToken !== refused && oauth.expiresAt - clock.now() >= LEAST_LIFE_MS
    if (works) return oauth.accessToken
    throw error
  }

  async function stored(
    leased: AccountRow,
    used: string,
    renewed: OAuthSecrets,
    scopes: readonly string[],
  ): Promise<boolean> {
    for (const [tried, afterMs] of STORE_AFTER_MS.entries()) {
      await sleep(afterMs)
      try {
        return await db.transaction((tx) => store(tx, leased.id, used, renewed, scopes))
      } catch (error) {
        // An AppError: the account was deleted.
        if (error instanceof AppError || tried === STORE_AFTER_MS.length - 1) throw error
        log.warn('Cannot store refreshed tokens; trying again.', {
          accountId: leased.id,
          operation: 'accounts.tokens',
          error,
        })
      }
    }
    return false
  }

  /** False when a new consent replaced the tokens meanwhile. */
  async function store(
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
    if (row.status === 'auth_error') await deps.tryAgain(tx, accountId)
    return true
  }

  const isFresh = (oauth: OAuthSecrets, refused: string | undefined) =>
    oauth.accessToken !== refused && clock.now() < oauth.refreshAt

  return {
    endPause: (accountId: string): void => void resting.delete(accountId),

    /** See `MailAccess.accessToken`. Throws not_found when the account was deleted. */
    async accessToken(accountId: string, refused?: string): Promise<string> {
      const { oauth } = openSecrets(sealer, await reader.get(accountId))
      if (oauth !== undefined && isFresh(oauth, refused)) return oauth.accessToken
      const token = await shared(accountId, refused)
      if (token !== refused) return token
      // The joined refresh began before this token was rejected.
      const next = await shared(accountId, refused)
      if (next !== refused) return next
      throw new ProviderError('unavailable', 'the provider issued a token that it rejects')
    },
  }
}

/** Undefined when they are unknown. */
function grantedScopes({ tokens }: AccountRow): string[] | undefined {
  const { scopes }: TokenSummary = JSON.parse(tokens)
  return scopes.length === 0 ? undefined : scopes
}
