import type { Static } from 'typebox'
import type { Db, Tx } from '../../../platform/db/index.ts'
import { AppError, type DetailCode, type ErrorCode, invalid } from '../../../platform/errors/app-error.ts'
import { cleanText } from '../../../platform/formats/text.ts'
import { type Ids, secretToken } from '../../../platform/ids.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { isoTime } from '../../../platform/time/time.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import {
  type Account,
  type Accounts,
  accountQueries,
  type accounts,
  type LinkAccount,
  type LinkedMailbox,
  type oauthMailboxes,
} from '../../index.ts'
import { DEFAULT_EXPIRY_MINUTES, type newSessionBody } from '../api.ts'
import { type AuthSession, authSessionStore } from './store.ts'
import { authorizeUrl, redirectTarget } from './urls.ts'

export interface AuthSessionsDeps {
  db: Db
  clock: Clock
  ids: Ids
  accounts: Pick<Accounts, 'link' | 'findMailboxes'>
  publicUrl: string
  /** `service.app.redirectUrl`. */
  redirectUrl: string | undefined
  licence?: Parameters<typeof accounts>[0]['licence']
  /** Throws validation_failed, naming the settings, for a provider that is not configured. */
  requireConfigured(provider: ProviderName): void
}

type SharedMailbox = ReturnType<typeof oauthMailboxes.toShared>

type NewAuthSession = Static<typeof newSessionBody>

/** The part of an attempt that comes from the request. `jsonState` binds the session's JSON calls; the rest is stored. */
export interface Attempt {
  jsonState?: string | undefined
  provider?: ProviderName | undefined
  email?: string | undefined
}

export type AuthSessions = ReturnType<typeof authSessions>

const MINUTE_MS = 60_000
/** Failed sign-ins per session: enough for users, too few to guess a password. */
const MAX_ATTEMPTS = 10

/** The life of a session: the application creates it, the user makes attempts, and linking the account uses it up. */
export function authSessions(deps: AuthSessionsDeps) {
  const { db, clock } = deps

  /** Returns the session in any status. Throws not_found. */
  async function get(code: string): Promise<AuthSession> {
    const session = await authSessionStore(db.read).find(code, clock.now())
    if (session === undefined) throw new AppError('not_found', { message: 'There is no session with this code.' })
    return session
  }

  /** Returns the session if it can still be used. Throws not_found, session_used, session_expired. */
  async function getOpen(code: string): Promise<AuthSession> {
    const session = await get(code)
    if (session.status === 'completed') throw new AppError('session_used')
    if (session.status === 'expired') throw new AppError('session_expired')
    return session
  }

  /**
   * The mailboxes that the session is for, because the application named the address of a connected one and its user. The
   * session then connects no other. Empty when it connects any mailbox.
   */
  async function reconnects(session: AuthSession): Promise<LinkedMailbox[]> {
    const { invitedEmail, customUserId, provider, providerFixed } = session
    if (invitedEmail === null) return []
    const connected = await deps.accounts.findMailboxes(customUserId, invitedEmail)
    return providerFixed ? connected.filter((mailbox) => mailbox.provider === provider) : connected
  }

  /** Throws mailbox_mismatch when the session is for another mailbox. */
  async function requireExpected(
    session: AuthSession,
    { provider, providerUser }: Pick<LinkAccount, 'provider' | 'providerUser'>,
  ): Promise<void> {
    const expected = await reconnects(session)
    const isExpected = (mailbox: LinkedMailbox) =>
      mailbox.provider === provider && mailbox.providerUser === providerUser
    if (expected.length > 0 && !expected.some(isExpected)) throw new AppError('mailbox_mismatch')
  }

  return {
    get,
    getOpen,
    reconnects,
    requireExpected,

    /** Throws redirect_missing, validation_failed and licence_limit. Only the return value contains the code. */
    async create(tx: Tx, input: NewAuthSession) {
      const nowMs = clock.now()
      const redirectUri = redirectTarget(input.redirectUri ?? undefined, deps.redirectUrl)
      const provider = input.provider ?? null
      const email = input.email ?? null
      const customUserId = input.customUserId == null ? null : cleanText(input.customUserId)
      if (provider !== null) deps.requireConfigured(provider)
      try {
        await deps.licence?.check(tx, () => accountQueries(tx).count())
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        // At the cap, existing accounts can still be connected again. Linking checks what is not known yet.
        if (!(await accountQueries(tx).mayBeLinked({ provider, customUserId, email }))) throw error
      }
      const code = secretToken()
      const expiresAt = nowMs + Math.round((input.expiresInMinutes ?? DEFAULT_EXPIRY_MINUTES) * MINUTE_MS)
      const session = {
        id: deps.ids('ses'),
        provider,
        providerFixed: provider !== null,
        email,
        invitedEmail: email,
        customUserId,
        redirectUri,
        forceConsent: input.forceConsent ?? false,
        sharedMailboxes: input.sharedMailboxes ?? false,
        locale: input.locale ?? null,
        expiresAt,
      }
      await authSessionStore(tx).insert(session, code, nowMs)
      return { code, authUrl: authorizeUrl(deps.publicUrl, code), expiresAt: isoTime(expiresAt), provider, email }
    },

    /** Starts an attempt. Throws csrf_failed when earlier JSON calls used another state. */
    async start(code: string, session: AuthSession, attempt: Attempt): Promise<void> {
      const { jsonState, provider, email } = attempt
      const hints = { ...(provider !== undefined && { provider }), ...(email !== undefined && { email }) }
      const started = await db.transaction(async (tx) => {
        const store = authSessionStore(tx)
        const isBound = jsonState === undefined || (await store.bindState(session.id, jsonState, clock.now()))
        return isBound && (await store.start(session.id, hints, clock.now()))
      })
      if (started) return
      await getOpen(code)
      throw new AppError('csrf_failed', {
        message: 'This session was started with a different state. Send that state, or create a new session.',
      })
    },

    /** Counts a sign-in before it runs. Throws rate_limited after too many failures. */
    async takeAttempt(code: string, session: AuthSession): Promise<void> {
      const nowMs = clock.now()
      if (await db.transaction((tx) => authSessionStore(tx).takeAttempt(session.id, MAX_ATTEMPTS, nowMs))) return
      await getOpen(code)
      throw new AppError('rate_limited', {
        message: 'Too many sign-ins failed with this link. Ask for a new one.',
        headers: { 'retry-after': String(Math.max(1, Math.ceil((session.expiresAt - nowMs) / 1000))) },
      })
    },

    /** Only failed sign-ins count, so a successful one returns its attempt. */
    async returnAttempt(session: AuthSession): Promise<void> {
      await db.transaction((tx) => authSessionStore(tx).returnAttempt(session.id))
    },

    /** Records why the attempt failed. The session stays open for another one. */
    async fail(session: AuthSession, failureCode: ErrorCode, failureReason?: DetailCode): Promise<void> {
      const failure = { failureCode, failureReason: failureReason ?? null }
      await db.transaction((tx) => authSessionStore(tx).fail(session.id, failure, clock.now()))
    },

    /**
     * Links the account, with the mailboxes that others share with its user, and uses up the session in one transaction. Of several concurrent calls, one succeeds. Throws
     * session_used, session_expired, licence_limit, and mailbox_mismatch when the session is for another mailbox.
     */
    async link(
      code: string,
      session: AuthSession,
      input: Omit<LinkAccount, 'customUserId'>,
      shared: readonly SharedMailbox[] = [],
    ): Promise<Account> {
      await requireExpected(session, input)
      const { customUserId } = session
      const account = await db.transaction(async (tx) => {
        const store = authSessionStore(tx)
        if (!(await store.complete(session.id, clock.now()))) return undefined
        const linked = await deps.accounts.link(tx, { ...input, customUserId })
        for (const mailbox of shared) await deps.accounts.link(tx, { ...mailbox, customUserId, sharedWith: linked.id })
        await store.setAccount(session.id, linked)
        return linked
      })
      if (account !== undefined) return account
      await getOpen(code)
      throw new AppError('session_used')
    },
  }
}

/** Throws validation_failed when the application limited the session to another provider. */
export function requireProvider(session: AuthSession, provider: ProviderName): void {
  if (session.providerFixed && session.provider !== provider) {
    throw invalid('body.provider', `must be ${session.provider}, because this session is limited to it`)
  }
}
