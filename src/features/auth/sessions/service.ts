import type { Static } from 'typebox'
import type { Db, Tx } from '../../../infra/db/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { type Ids, secretToken } from '../../../lib/ids.ts'
import { cleanText } from '../../../lib/text.ts'
import { isoTime } from '../../../lib/time.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import {
  type Account,
  type Accounts,
  countAccounts,
  type LicenceCheck,
  type LinkAccount,
} from '../../accounts/index.ts'
import type { newSessionBody } from '../api.ts'
import { redirectTarget } from './redirect.ts'
import { type AuthSession, sessionView } from './session.ts'
import { authSessionStore } from './store.ts'

export interface AuthSessionsDeps {
  db: Db
  clock: Clock
  ids: Ids
  accounts: Pick<Accounts, 'link'>
  publicUrl: string
  /** `service.app.redirectUrl`. */
  redirectUrl: string | undefined
  licence?: LicenceCheck | undefined
}

export type NewAuthSession = Static<typeof newSessionBody>

/** What a request gives of a try: a state binds the session's JSON calls, the rest is kept. */
export interface Try {
  jsonState?: string | undefined
  provider?: ProviderName | undefined
  email?: string | undefined
}

export type AuthSessions = ReturnType<typeof authSessions>

const DEFAULT_EXPIRY_MINUTES = 30
const MINUTE_MS = 60_000
/** Failed sign-ins per session: enough for people, too few for guessing. */
const MAX_ATTEMPTS = 10

/** The life of sessions: made by the application, tried by people, used up by the account they link. */
export function authSessions(deps: AuthSessionsDeps) {
  const { db, clock } = deps
  /** The session, whatever became of it. Throws not_found. */
  const find = async (code: string) => {
    const session = await authSessionStore(db.read).find(code, clock.now())
    if (session === undefined) throw new AppError('not_found', { message: 'There is no session with this code.' })
    return session
  }

  /** The session, still to be used. Throws not_found, session_used, session_expired. */
  async function open(code: string): Promise<AuthSession> {
    const session = await find(code)
    if (session.status === 'completed') throw new AppError('session_used')
    if (session.status === 'expired') throw new AppError('session_expired')
    return session
  }

  return {
    find,
    open,

    /** Throws redirect_missing and licence_limit. The code is in the answer and nowhere else. */
    async create(tx: Tx, input: NewAuthSession) {
      const nowMs = clock.now()
      const redirectUri = redirectTarget(input.redirectUri ?? undefined, deps.redirectUrl)
      await deps.licence?.check(tx, () => countAccounts(tx))
      const code = secretToken()
      const provider = input.provider ?? null
      const email = input.email ?? null
      const expiresAt = nowMs + Math.round((input.expiresInMinutes ?? DEFAULT_EXPIRY_MINUTES) * MINUTE_MS)
      const session = {
        id: deps.ids('ses'),
        provider,
        providerFixed: provider !== null,
        email,
        customUserId: input.customUserId == null ? null : cleanText(input.customUserId),
        redirectUri,
        forceConsent: input.forceConsent ?? false,
        expiresAt,
      }
      await authSessionStore(tx).insert(session, code, nowMs)
      return { code, authUrl: authorizeUrl(deps.publicUrl, code), expiresAt: isoTime(expiresAt), provider, email }
    },

    /** What became of it; the code may be used up. Throws not_found. */
    async view(code: string) {
      return sessionView(await find(code))
    },

    /** Marks the session as started. Throws csrf_failed when its JSON calls began with another state. */
    async begin(code: string, session: AuthSession, given: Try): Promise<void> {
      const { jsonState, provider, email } = given
      const kept = { ...(provider !== undefined && { provider }), ...(email !== undefined && { email }) }
      const begun = await db.transaction(async (tx) => {
        const store = authSessionStore(tx)
        const bound = jsonState === undefined || (await store.bindState(session.id, jsonState, clock.now()))
        return bound && (await store.begin(session.id, kept, clock.now()))
      })
      if (begun) return
      await open(code)
      throw new AppError('csrf_failed', { message: 'This session was begun with another state.' })
    },

    /** Counts a sign-in that is about to be made. Throws rate_limited when too many failed. */
    async takeAttempt(code: string, session: AuthSession): Promise<void> {
      const nowMs = clock.now()
      if (await db.transaction((tx) => authSessionStore(tx).takeAttempt(session.id, MAX_ATTEMPTS, nowMs))) return
      await open(code)
      throw new AppError('rate_limited', {
        message: 'Too many failed attempts with this link. Ask for a new one.',
        headers: { 'retry-after': String(Math.max(1, Math.ceil((session.expiresAt - nowMs) / 1000))) },
      })
    },

    /** The sign-in worked, so it does not count. */
    async giveAttemptBack(session: AuthSession): Promise<void> {
      await db.transaction((tx) => authSessionStore(tx).giveAttemptBack(session.id))
    },

    /** The try failed; the session stays open for another. */
    async fail(session: AuthSession, failureCode: string): Promise<void> {
      await db.transaction((tx) => authSessionStore(tx).fail(session.id, failureCode, clock.now()))
    },

    /**
     * Links the account and uses the session up, in one transaction: of several at once one links. Throws session_used,
     * session_expired, licence_limit.
     */
    async link(code: string, session: AuthSession, input: Omit<LinkAccount, 'customUserId'>): Promise<Account> {
      const account = await db.transaction(async (tx) => {
        const store = authSessionStore(tx)
        if (!(await store.complete(session.id, clock.now()))) return undefined
        const linked = await deps.accounts.link(tx, { ...input, customUserId: session.customUserId })
        await store.setAccount(session.id, linked)
        return linked
      })
      if (account !== undefined) return account
      await open(code)
      throw new AppError('session_used')
    },
  }
}

/** The hosted page of a session. */
export function authorizeUrl(publicUrl: string, code: string, state?: string): string {
  const query = new URLSearchParams({ session: code, ...(state !== undefined && { state }) })
  return `${publicUrl}/auth/authorize?${query}`
}
