import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import { AppError, type ErrorCode, type ErrorDetail, invalid } from '../../../platform/errors/app-error.ts'
import { refuseMisspelledMembers, sentKey } from '../../../platform/http/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { AuthSessions } from '../sessions/service.ts'
import type { AuthSession } from '../sessions/store.ts'
import { failureUrl, successUrl } from '../sessions/urls.ts'
import { csrfCookies } from './csrf.ts'

interface HostedAccessDeps {
  sessions: AuthSessions
  clock: Clock
  sealer: Sealer
  publicUrl: string
}

/** A page of a session: the link's code and the state its form carries. */
export interface SessionPage {
  code: string
  state: string
  session: AuthSession
}

/** A request body before validation: an object with unknown members. */
export type Body = Readonly<Record<string, unknown>>

/** A post that may act on its session. */
export interface AdmittedPost extends SessionPage {
  body: Body
  /** Posted by a page of the service, not by a screen of the application. */
  isForm: boolean
  /** The state to return in the redirect. Undefined unless the application chose it. */
  applicationState: string | undefined
}

export type HostedAccess = ReturnType<typeof hostedAccess>

const MAX_STATE_CHARS = 2048
/** Case-insensitive: a script on another site can send any spelling without a CORS preflight. */
const FORM_TYPE = /^application\/x-www-form-urlencoded/i

/**
 * Decides which requests may act on a session. A form post needs the cookie of the page it came from. A JSON post needs
 * none, because browsers do not send JSON across sites; its state must equal that of the session's first JSON call. A
 * request for a consent page needs the key or the cookie, however it is posted.
 */
export function hostedAccess({ sessions, clock, ...deps }: HostedAccessDeps) {
  const csrf = csrfCookies(deps)
  /** The page that a request is for, so that the page of its error needs no second query. */
  const admitted = new WeakMap<FastifyRequest, SessionPage>()
  const applicationState = (code: string, state: string) => (csrf.isMinted(code, state) ? undefined : state)
  const isFromThisBrowser = (request: FastifyRequest, code: string, state: string) =>
    csrf.isValid(code, state, request.headers.cookie)

  return {
    isFromThisBrowser,

    /** Makes a state for a link that came without one. */
    mintState: (code: string) => csrf.mint(code),

    /** The redirect of a user who returns without a mailbox. */
    returnUrl: ({ code, state, session }: SessionPage, error: ErrorCode): string =>
      failureUrl(session.redirectUri, code, error, state === '' ? undefined : applicationState(code, state)),

    /**
     * The page that a failed request belongs to, judged by its code. Undefined when the code is unknown, and when the
     * request was limited before it was admitted: a flood must not reach the database.
     */
    async findPage(request: FastifyRequest, error: ErrorCode): Promise<SessionPage | undefined> {
      const admittedPage = admitted.get(request)
      if (admittedPage !== undefined || error === 'rate_limited' || error === 'database_unavailable')
        return admittedPage
      const { session: code, state } = request.method === 'POST' ? asRecord(request.body) : asRecord(request.query)
      if (typeof code !== 'string' || code === '') return undefined
      const session = await sessions.get(code).catch(ignoreUnknown)
      return (
        session && { code, session, state: typeof state === 'string' && state.length <= MAX_STATE_CHARS ? state : '' }
      )
    },

    /** Sets the cookie that the form on this page needs. */
    allowPost(request: FastifyRequest, reply: FastifyReply, { code, state, session }: SessionPage): void {
      const lifetimeMs = session.expiresAt - clock.now()
      reply.header('set-cookie', csrf.set(code, state, lifetimeMs, request.headers.cookie))
    },

    /** Removes the cookie of a page whose session is completed. */
    revokePost(reply: FastifyReply, code: string, state: string): void {
      reply.header('set-cookie', csrf.clear(code, state))
    },

    /**
     * Admits a post and starts an attempt of its session. JSON with a misspelled member is refused first, as on other
     * routes; forms are ours. Throws validation_failed, not_found, session_used, session_expired, csrf_failed.
     */
    async admit(request: FastifyRequest): Promise<AdmittedPost> {
      const isForm = FORM_TYPE.test(request.headers['content-type'] ?? '')
      if (!isForm) refuseMisspelledMembers(request.routeOptions.schema?.body, request.body)
      const body = asRecord(request.body)
      const { code, state } = requireCodeAndState(body)
      const session = await sessions.getOpen(code)
      admitted.set(request, { code, state, session })
      if (isForm && !isFromThisBrowser(request, code, state)) throw new AppError('csrf_failed')
      await sessions.start(code, session, isForm ? {} : { jsonState: state })
      return { body, isForm, code, state, session, applicationState: applicationState(code, state) }
    },

    /**
     * Admits a request for a consent page: by the key, or by the cookie of the hosted page. Otherwise the holder of a link
     * could have another person consent, and get that person's mailbox. Returns true when the callback must have the
     * cookie, too. Throws unauthorized.
     */
    requireConsentAccess(request: FastifyRequest, code: string, state: string): boolean {
      if (request.caller?.scopes.includes('write')) return false
      if (isFromThisBrowser(request, code, state)) return true
      throw new AppError('unauthorized', {
        message: 'Send the API key, or continue in the browser that opened the hosted page.',
        headers: { 'www-authenticate': sentKey(request) === undefined ? 'Bearer' : 'Bearer error="invalid_token"' },
      })
    },

    /**
     * The redirect of a completed session, for the browser that completed it. A second submit, or a submit whose
     * response got lost, continues there. Undefined for any other request.
     */
    async completedUrl(request: FastifyRequest): Promise<string | undefined> {
      const { session: code, state } = asRecord(request.body)
      if (typeof code !== 'string' || typeof state !== 'string') return undefined
      if (!isFromThisBrowser(request, code, state)) return undefined
      const { accountId: id, provider, email, redirectUri } = await sessions.get(code)
      if (id === null || provider === null || email === null) return undefined
      return successUrl(redirectUri, code, { id, provider, email }, applicationState(code, state))
    },
  }
}

function asRecord(body: unknown): Body {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : {}
}

function ignoreUnknown(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error
}

function requireCodeAndState({ session: code, state }: Body): { code: string; state: string } {
  const details: ErrorDetail[] = []
  if (typeof code !== 'string' || code === '') details.push({ path: 'body.session', message: 'must not be empty' })
  if (typeof state !== 'string' || state === '') details.push({ path: 'body.state', message: 'must not be empty' })
  if (typeof code !== 'string' || typeof state !== 'string' || details.length > 0) {
    throw new AppError('validation_failed', { details, message: 'body.session and body.state are required.' })
  }
  if (state.length > MAX_STATE_CHARS) throw invalid('body.state', `must have at most ${MAX_STATE_CHARS} characters`)
  return { code, state }
}
