import type { FastifyRequest } from 'fastify'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import { sameText, textMatcher } from '../../../platform/crypto/signature.ts'
import type { Db, Tx } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { type Authenticator, type Caller, sentKey } from '../../../platform/http/index.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { isoTime } from '../../../platform/time/time.ts'
import { adminSessionStore } from './store.ts'
import type { AdminSessionRow } from './tables.ts'
import { type Credentials, type SessionTokens, sessionTokens } from './tokens.ts'

export interface AdminSessionsDeps {
  db: Db
  clock: Clock
  log: Log
  sealer: Sealer
  credentials: Credentials
  publicUrl: string
}

/** The portal's view of its own session. */
interface SessionView {
  success: true
  username: string
  csrfToken: string
  /** The end of the session without further requests. */
  expiresAt: string
}

type InTransaction = (tx: Tx) => Promise<void>

interface SignedIn {
  token: string
  view: SessionView
}

/** Sessions of the portal, an `Authenticator` beside the API keys. */
export interface AdminSessions extends Authenticator {
  readonly tokens: SessionTokens
  isKnownUser(username: string): boolean
  readonly caller: Caller
  /** Undefined for a wrong user name or password. `also` runs in the transaction, here and below. */
  signIn(username: string, password: string, also: InTransaction): Promise<SignedIn | undefined>
  /** The session of a request; undefined when it was authenticated in another way. */
  current(request: FastifyRequest): SignedIn | undefined
  signOut(token: string, also: InTransaction): Promise<void>
  signOutEverywhere(also: InTransaction): Promise<void>
  /** Waits for writes of `usedAt`. */
  stop(): Promise<void>
}

export const SESSION_MS = 12 * 60 * 60 * 1000
const IDLE_MS = 30 * 60 * 1000
const MARK_EVERY_MS = 60_000
const SCOPES = ['read', 'write', 'admin'] as const
const NEEDS_NO_TOKEN = ['GET', 'HEAD']

export function adminSessions(deps: AdminSessionsDeps): AdminSessions {
  const { db, clock, log, credentials, publicUrl } = deps
  const { username } = credentials
  const tokens = sessionTokens(credentials, publicUrl, deps.sealer)
  const isUsername = textMatcher(username)
  const isPassword = textMatcher(credentials.password)
  const caller: Caller = { owner: `admin:${username}`, scopes: SCOPES, isPortal: true }
  const current = new WeakMap<FastifyRequest, SignedIn>()
  const writes = new Set<Promise<void>>()

  const sessionEnd = ({ createdAt, usedAt }: AdminSessionRow) => Math.min(createdAt + SESSION_MS, usedAt + IDLE_MS)
  const toView = (token: string, row: AdminSessionRow): SessionView => ({
    success: true,
    username,
    csrfToken: tokens.csrfToken(token),
    expiresAt: isoTime(sessionEnd(row)),
  })

  function markUsed(row: AdminSessionRow): void {
    const nowMs = clock.now()
    if (nowMs - row.usedAt < MARK_EVERY_MS) return
    const write = db
      .statement((handle) => adminSessionStore(handle).markUsed(row.id, nowMs))
      .catch((error: unknown) => {
        log.debug('Cannot store when a session was used. The next request tries again.', {
          operation: 'admin.session',
          error,
        })
      })
      .finally(() => writes.delete(write))
    writes.add(write)
  }

  /** True when the cookie is enough, or the page that sent the request knows the CSRF token. */
  function isFromPortal({ method, headers }: FastifyRequest, token: string): boolean {
    const sent = headers['x-csrf-token']
    return NEEDS_NO_TOKEN.includes(method) || (typeof sent === 'string' && sameText(sent, tokens.csrfToken(token)))
  }

  return {
    tokens,
    isKnownUser: isUsername,
    caller,

    async authenticate(request, isUse) {
      const token = tokens.find('session', request.headers.cookie)
      if (token === undefined || sentKey(request) !== undefined) return undefined
      const row = await adminSessionStore(db.read).find(tokens.rowId(token))
      if (row === undefined || sessionEnd(row) <= clock.now()) return undefined
      if (!isFromPortal(request, token)) {
        // Where nobody needs a key, the operator is a guest like any other.
        if (!request.routeOptions.config.access?.startsWith('key:')) return undefined
        throw new AppError('csrf_failed', {
          message: 'Send the csrfToken of GET /admin/session in the header X-CSRF-Token.',
        })
      }
      const isBackground = request.headers['x-background'] === '1'
      if (isUse && !isBackground) markUsed(row)
      const nowMs = isBackground ? row.usedAt : Math.max(row.usedAt, clock.now())
      current.set(request, { token, view: toView(token, { ...row, usedAt: nowMs }) })
      return caller
    },

    async signIn(givenName, givenPassword, also) {
      // Both are compared, so that the time does not reveal which one is wrong.
      const isRight = [isUsername(givenName), isPassword(givenPassword)].every(Boolean)
      if (!isRight) return undefined
      const token = tokens.generate('session')
      const nowMs = clock.now()
      const row = { id: tokens.rowId(token), username, createdAt: nowMs, usedAt: nowMs }
      await db.transaction(async (tx) => {
        await adminSessionStore(tx).insert(row)
        await also(tx)
      })
      return { token, view: toView(token, row) }
    },

    current: (request) => current.get(request),

    signOut: (token, also) =>
      db.transaction(async (tx) => {
        await adminSessionStore(tx).delete(tokens.rowId(token))
        await also(tx)
      }),

    signOutEverywhere: (also) =>
      db.transaction(async (tx) => {
        await adminSessionStore(tx).deleteAll()
        await also(tx)
      }),

    async stop() {
      await Promise.all(writes)
    },
  }
}
