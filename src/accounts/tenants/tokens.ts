import { randomUUID } from 'node:crypto'
import { sleep } from '../../platform/concurrency/abort.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type AppToken,
  ProviderError,
  type ProviderName,
  type TenantCredentials,
  type TenantProvider,
  type TenantProviderName,
  type TokenPurpose,
} from '../../providers/contract/index.ts'
import { isFresh, refreshTime } from '../tokens/account-secrets.ts'
import { fallBack, type RefreshDeps, RefreshPauses } from '../tokens/refresh.ts'
import type { TokenTiming } from '../tokens/tokens.ts'
import { isRefusalOfMailbox } from './refusal.ts'
import { openCredentials, openToken, type StoredToken, sealToken } from './secrets.ts'
import { connectionStore } from './store.ts'
import type { ConnectionRow } from './tables.ts'
import { connectionTokenStore } from './token-store.ts'

export interface ConnectionTokensDeps {
  db: Db
  clock: Clock
  sealer: Sealer
  log: Log
  tenants: Tenants
  /** Allows one more attempt for the accounts of a connection whose credentials work again. May run again after a crash. */
  retryAccounts(connectionId: string): Promise<void>
  onRefresh?: RefreshDeps['onRefresh']
  timing?: Partial<TokenTiming> | undefined
}

export type Tenants = { readonly [Name in TenantProviderName]: TenantProvider<Name> }

/** A connection, and what its token shall open. */
export interface TokenRequest {
  connectionId: string
  provider: ProviderName
  purpose: TokenPurpose
  /** The directory has just said that the address is that of the user. */
  isConfirmed?: boolean
  /** The mailbox has no account yet, so a refusal may be that of an address in another domain. */
  isTrial?: boolean
}

/**
 * A request of 10 s and its commit end before the lease, so that no other process requests the same token meanwhile. Processes wait longer
 * than the lease, and take it over from one that died.
 */
const TIMING: TokenTiming = { leaseMs: 15_000, waitMs: 20_000, pollMs: 100 }
/** After a failure the provider is asked again at the earliest after these pauses, by each process. */
const REFUSED_PAUSE_MS = 60_000
const FAILED_PAUSE_MS = 2_000
const MAX_PAUSE_MS = 60_000

export type ConnectionTokens = ReturnType<typeof connectionTokens>

/**
 * Access tokens of connections, each requested once for all replicas, and at Microsoft for all accounts:
 *
 *   stored token valid ──────────────────────────────► return it
 *   else: take the lease ──► request ──► store ──────► return it
 *         lease is held ──► read the row until the holder has stored its token
 *
 * No transaction waits for the network. A process that dies in between leaves a lease that expires; nothing else is lost, because
 * the credentials stay valid.
 */
export function connectionTokens(deps: ConnectionTokensDeps) {
  const { db, clock, sealer } = deps
  const timing = { ...TIMING, ...deps.timing }
  const pauses = new RefreshPauses(clock)
  const flights = new Map<string, Promise<string>>()

  async function readToken(id: string): Promise<StoredToken | undefined> {
    const row = await connectionTokenStore(db.read, db.dialect).find(id)
    return row && openToken(sealer, row)
  }

  /** The key of its row, its flight and its pause. The next owner of an address must not get the token of the one before. */
  function tokenId({ connectionId, provider, purpose }: TokenRequest): string {
    if (provider === 'imap' || !deps.tenants[provider].hasTokenPerMailbox) return connectionId
    return `${connectionId}:${purpose === 'directory' ? purpose : (purpose.userId ?? purpose.mailbox.toLowerCase())}`
  }

  function shared(request: TokenRequest, refused: string | undefined): Promise<string> {
    const id = tokenId(request)
    const running = flights.get(id)
    if (running !== undefined) return running
    const flight = requestOrWait(id, request, refused).finally(() => flights.delete(id))
    flights.set(id, flight)
    return flight
  }

  async function requestOrWait(
    id: string,
    { connectionId, purpose, isConfirmed = false, isTrial = false }: TokenRequest,
    refused: string | undefined,
  ): Promise<string> {
    const giveUpAt = clock.monotonic() + timing.waitMs
    let mayBeLost = !isConfirmed
    for (;;) {
      const connection = await findConnection(deps, connectionId)
      const stored = await readToken(id)
      if (stored !== undefined && isFresh(stored, refused, clock.now())) return stored.accessToken
      const failure = findFailure(isConfirmed ? connection.id : id, connection)
      if (failure !== undefined) return fallBackTo(stored, refused, failure)
      const lost = mayBeLost ? await findLostAddress(connection, purpose) : undefined
      mayBeLost = false
      if (lost !== undefined) {
        pauses.begin(pausedAs(id, connection), lost, REFUSED_PAUSE_MS)
        return fallBackTo(stored, refused, lost)
      }
      const holder = randomUUID()
      const row = { id, connectionId }
      const leased = await db.transaction((tx) =>
        connectionTokenStore(tx, db.dialect).takeLease(row, holder, timing.leaseMs),
      )
      if (leased !== undefined) {
        const current = openToken(sealer, leased)
        const token = await requestUnderLease({ id, connection, purpose, isTrial, holder, refused, current })
        if (token !== undefined) return token
      } else {
        if (clock.monotonic() >= giveUpAt) {
          const why = 'another process did not finish requesting the token'
          return fallBackTo(stored, refused, new ProviderError('unavailable', why, { timedOut: true }))
        }
        await sleep(timing.pollMs * (0.5 + Math.random()))
      }
    }
  }

  /** Where a token names its mailbox by the address: why the address is no longer that of the user. Unknown without the directory. */
  async function findLostAddress(
    { id: connectionId, provider }: ConnectionRow,
    purpose: TokenPurpose,
  ): Promise<ProviderError | undefined> {
    if (!deps.tenants[provider].hasTokenPerMailbox || purpose === 'directory' || purpose.userId === undefined) return
    const request: TokenRequest = { connectionId, provider, purpose: 'directory' }
    const access = { connectionId, accessToken: (old?: string) => accessToken(request, old) }
    try {
      const user = await deps.tenants[provider].findUser(access, purpose.userId)
      return user?.email.toLowerCase() === purpose.mailbox.toLowerCase() ? undefined : lostAddress(user?.email)
    } catch (error) {
      rethrowProgrammingError(error)
      return undefined
    }
  }

  /** Undefined when the token or the credentials were replaced meanwhile; then read the row again. */
  async function requestUnderLease(leased: LeasedRequest): Promise<string | undefined> {
    const { id, connection, purpose, isTrial, holder, refused, current } = leased
    const { provider } = connection
    const endLease = () => db.transaction((tx) => connectionTokenStore(tx, db.dialect).endLease(id, holder))
    // The former holder stored a token after this process read the row.
    if (current !== undefined && isFresh(current, refused, clock.now())) {
      await endLease()
      return undefined
    }
    const startedMs = clock.monotonic()
    const about = () => ({
      provider,
      operation: 'connections.tokens',
      durationMs: clock.monotonic() - startedMs,
      metadata: { connectionId: connection.id },
    })
    try {
      const { accessToken, expiresAt } = await requestFrom(deps.tenants, openCredentials(sealer, connection), purpose)
      const token = { accessToken, expiresAt, refreshAt: refreshTime(expiresAt, clock.now()) }
      pauses.end(id)
      pauses.end(connection.id)
      if (!(await storeToken(leased, token))) return undefined
      deps.log.info('Requested an access token of a connection.', about())
      deps.onRefresh?.(provider, 'succeeded')
      return accessToken
    } catch (error) {
      await endLease()
      if (!(error instanceof ProviderError)) throw error
      const isRefused = error.kind === 'auth_expired'
      deps.onRefresh?.(provider, isRefused ? 'refused' : 'failed')
      const pauseMs = isRefused ? REFUSED_PAUSE_MS : Math.min(error.retryAfterMs ?? FAILED_PAUSE_MS, MAX_PAUSE_MS)
      const { hasTokenPerMailbox } = deps.tenants[provider]
      const isOfConnection = isRefused && !isRefusalOfMailbox(error, { isTrial, hasTokenPerMailbox })
      pauses.begin(pausedAs(isOfConnection ? connection.id : id, connection), error, pauseMs)
      const paused = `trying again in ${Math.ceil(pauseMs / 1000)} s at the earliest`
      deps.log.warn(`Cannot request an access token of a connection (${error.message}); ${paused}.`, {
        ...about(),
        error,
      })
      if (isRefused) {
        const { version } = await findConnection(deps, connection.id)
        if (version !== connection.version) return undefined
        if (isOfConnection) await markRefused(connection, error)
      }
      return fallBackTo(current, refused, error)
    }
  }

  /** Before the token is stored, because the next request may be an hour away: a crash in between repeats this. */
  async function storeToken({ id, connection, holder }: LeasedRequest, token: StoredToken): Promise<boolean> {
    const { status } = connection
    if (status === 'auth_error') await deps.retryAccounts(connection.id)
    const kept = { token: sealToken(sealer, id, token), expiresAt: token.expiresAt }
    return db.transaction(async (tx) => {
      const isKept = await connectionTokenStore(tx, db.dialect).keep(id, holder, kept)
      if (isKept && status === 'auth_error') {
        await connectionStore(tx, db.dialect).setStatus(connection, 'connected', null, clock.now())
      }
      return isKept
    })
  }

  async function markRefused(connection: ConnectionRow, { message }: ProviderError): Promise<void> {
    if (connection.status === 'auth_error' && connection.statusReason === message) return
    await db.transaction((tx) =>
      connectionStore(tx, db.dialect).setStatus(connection, 'auth_error', message, clock.now()),
    )
  }

  function findFailure(id: string, connection: ConnectionRow): ProviderError | undefined {
    return pauses.findFailure(pausedAs(connection.id, connection)) ?? pauses.findFailure(pausedAs(id, connection))
  }

  function fallBackTo(stored: StoredToken | undefined, refused: string | undefined, error: ProviderError): string {
    if (stored === undefined) throw error
    return fallBack(stored, refused, error, clock.now())
  }

  /** See `MailAccess.accessToken`. Throws `ProviderError`: `auth_expired` when the provider refuses the credentials. */
  async function accessToken(request: TokenRequest, refused?: string): Promise<string> {
    const stored = await readToken(tokenId(request))
    if (stored !== undefined && isFresh(stored, refused, clock.now())) return stored.accessToken
    const token = await shared(request, refused)
    if (token !== refused) return token
    // The joined request began before this token was rejected.
    const next = await shared(request, refused)
    if (next !== refused) return next
    throw new ProviderError('unavailable', 'the provider issued a token that it rejects')
  }

  return {
    endPause(request: TokenRequest): void {
      pauses.end(request.connectionId)
      pauses.end(tokenId(request))
    },
    accessToken,
  }
}

/** The address may belong to somebody else by now, whose messages must not be read as those of this user. */
function lostAddress(email: string | undefined): ProviderError {
  const why =
    email === undefined
      ? 'the domain has no user any more to whom this mailbox belonged'
      : `the address of the user is ${email} now. Connect the mailbox by it (POST /accounts): the account stays the same`
  return new ProviderError('auth_expired', why, { credential: 'email', isOfApplication: true })
}

interface LeasedRequest {
  /** The id of the token. */
  id: string
  purpose: TokenPurpose
  isTrial: boolean
  connection: ConnectionRow
  holder: string
  refused: string | undefined
  current: StoredToken | undefined
}

/** New credentials are used at once, whatever the old ones led to. */
function pausedAs(id: string, { version }: ConnectionRow) {
  return { id, accessVersion: version }
}

function requestFrom(tenants: Tenants, credentials: TenantCredentials, purpose: TokenPurpose): Promise<AppToken> {
  return credentials.provider === 'gmail'
    ? tenants.gmail.requestToken(credentials, purpose)
    : tenants.microsoft.requestToken(credentials, purpose)
}

async function findConnection({ db }: ConnectionTokensDeps, id: string): Promise<ConnectionRow> {
  const found = await connectionStore(db.read, db.dialect).find(id)
  if (found !== undefined) return found
  throw new ProviderError('auth_expired', 'the connection of this account was deleted', { isOfApplication: true })
}
