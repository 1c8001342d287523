import { randomUUID } from 'node:crypto'
import { sleep } from '../../platform/concurrency/abort.ts'
import { type LoginProvider, ProviderError } from '../../providers/contract/index.ts'
import { accountStore } from '../identity/store.ts'
import { isFresh, openSecrets } from './account-secrets.ts'
import { loginName } from './login-name.ts'
import { fallBack, type RefreshDeps, RefreshPauses, refreshUnderLease } from './refresh.ts'

export interface TokensDeps extends RefreshDeps {
  /** By `loginName`. */
  login?(name: string): LoginProvider | undefined
  timing?: Partial<TokenTiming> | undefined
}

export interface TokenTiming {
  /** The lease of one refresh: longer than two requests to the provider, of 10 s each, and the commit. */
  leaseMs: number
  /** How long other processes wait for the refreshed token. */
  waitMs: number
  /** Mean interval at which waiting processes read the row. */
  pollMs: number
}

const TIMING: TokenTiming = { leaseMs: 30_000, waitMs: 10_000, pollMs: 100 }

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
  const pauses = new RefreshPauses(deps.clock)
  const flights = new Map<string, Promise<string>>()

  /** The refreshes in this process, one per account, shared by concurrent callers. */
  function shared(accountId: string, refused: string | undefined): Promise<string> {
    const running = flights.get(accountId)
    if (running !== undefined) return running
    const flight = refreshOrWait(deps, pauses, accountId, refused).finally(() => flights.delete(accountId))
    flights.set(accountId, flight)
    return flight
  }

  return {
    endPause: (accountId: string): void => pauses.end(accountId),

    /** See `MailAccess.accessToken`. Throws not_found when the account was deleted. */
    async accessToken(accountId: string, refused?: string): Promise<string> {
      const { db, clock, sealer } = deps
      const { oauth } = openSecrets(sealer, await accountStore(db.read, db.dialect).get(accountId))
      if (oauth !== undefined && isFresh(oauth, refused, clock.now())) return oauth.accessToken
      const token = await shared(accountId, refused)
      if (token !== refused) return token
      // The joined refresh began before this token was rejected.
      const next = await shared(accountId, refused)
      if (next !== refused) return next
      throw new ProviderError('unavailable', 'the provider issued a token that it rejects')
    },
  }
}

/** Refreshes the tokens, or waits for the process that holds the lease. */
async function refreshOrWait(
  deps: TokensDeps,
  pauses: RefreshPauses,
  accountId: string,
  refused: string | undefined,
): Promise<string> {
  const { db, clock } = deps
  const timing = { ...TIMING, ...deps.timing }
  const giveUpAt = clock.monotonic() + timing.waitMs
  for (;;) {
    const { row, oauth, login } = await readTokens(deps, accountId)
    if (isFresh(oauth, refused, clock.now())) return oauth.accessToken
    const failure = pauses.findFailure(row)
    if (failure !== undefined) return fallBack(oauth, refused, failure, clock.now())
    const holder = randomUUID()
    const leased = await db.transaction((tx) =>
      accountStore(tx, db.dialect).takeTokenLease(accountId, holder, timing.leaseMs),
    )
    if (leased !== undefined) {
      const token = await refreshUnderLease(deps, pauses, { leased, login, holder, refused })
      if (token !== undefined) return token
    } else {
      if (clock.monotonic() >= giveUpAt) {
        const late = new ProviderError('unavailable', 'another process did not finish refreshing the tokens', {
          timedOut: true,
        })
        return fallBack(oauth, refused, late, clock.now())
      }
      await sleep(timing.pollMs * (0.5 + Math.random()))
    }
  }
}

/** Throws `ProviderError` when the tokens cannot be refreshed until a person does something. */
async function readTokens({ db, sealer, login: findLogin }: TokensDeps, accountId: string) {
  const row = await accountStore(db.read, db.dialect).get(accountId)
  const { oauth } = openSecrets(sealer, row)
  const name = loginName(row)
  const login = findLogin?.(name)
  if (oauth === undefined || login === undefined) {
    throw new ProviderError('rejected', `Signing in with ${name} is not configured: its OAuth client is missing`)
  }
  if (row.status === 'auth_error') {
    throw new ProviderError('auth_expired', row.statusReason ?? 'the user must consent again')
  }
  return { row, oauth, login }
}
