import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../../infra/log/index.ts'
import type { AddressGuard } from '../../../infra/net/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError, type ErrorDetail, invalid } from '../../../lib/errors.ts'
import type { Sealer } from '../../../lib/seal.ts'
import type { MailProvider, ProviderName } from '../../../providers/contract/index.ts'
import type { Brand } from '../../../ui/hosted/index.ts'
import type { Account } from '../../accounts/index.ts'
import type { Detection } from '../detection/detection.ts'
import { passwordTokens } from '../imap/form.ts'
import type { Consents } from '../oauth/consents.ts'
import { successUrl } from '../sessions/redirect.ts'
import type { AuthSessions } from '../sessions/service.ts'
import type { AuthSession } from '../sessions/session.ts'
import { pageState } from './csrf.ts'
import { hostedRoute, pageSender } from './pages.ts'

export interface FlowDeps {
  sessions: AuthSessions
  clock: Clock
  sealer: Sealer
  log: Log
  brand: Brand
  publicUrl: string
  guard: AddressGuard
  imap: Pick<MailProvider, 'verify'>
  /** The mail side of a provider that people sign in at; undefined: it is not looked at. */
  mail(provider: ProviderName): Pick<MailProvider, 'verify' | 'closeConnections'> | undefined
  consents: Consents
  detection: Detection
}

export type Flow = ReturnType<typeof flow>

/** What the routes of the hosted flow share: who may go on, what is shown, where it leads. */
export function flow(deps: FlowDeps) {
  const { sessions, publicUrl, consents } = deps
  const states = pageState(deps)
  const sendPage = pageSender(deps.brand, publicUrl)
  /** Where the browser goes when the account is linked. */
  function linkedUrl(code: string, state: string, session: AuthSession, account: LinkedAccount): string {
    return returnUrl(code, states.isMinted(code, state) ? undefined : state, session, account)
  }

  function returnUrl(code: string, returned: string | undefined, session: AuthSession, account: LinkedAccount): string {
    const { id: accountId, provider, email } = account
    return successUrl(session.redirectUri, { accountId, provider, email, session: code, state: returned })
  }

  async function leadsTo(request: FastifyRequest): Promise<string | undefined> {
    const { session: code, state } = bodyOf(request)
    if (typeof code !== 'string' || typeof state !== 'string') return undefined
    if (!states.isOpenedBy(code, state, request.headers.cookie)) return undefined
    const session = await sessions.find(code)
    const { accountId: id, provider, email } = session
    if (id === null || provider === null || email === null) return undefined
    return linkedUrl(code, state, session, { id, provider, email })
  }

  return {
    ...deps,
    states,
    sendPage,
    route: hostedRoute(sendPage, leadsTo),
    linkedUrl,
    returnUrl,
    tokens: passwordTokens(deps.sealer),
    connectable: PROVIDERS.filter((name) => name === 'imap' || consents.has(name)),

    /** Sets what the form of this page needs to be posted. */
    allowPost(request: FastifyRequest, reply: FastifyReply, code: string, session: AuthSession, state: string): void {
      const lifeMs = session.expiresAt - deps.clock.now()
      reply.header('set-cookie', states.cookies(code, state, lifeMs, request.headers.cookie))
    },

    /**
     * The open session of a post that may go on: a form with the cookie of its page, or JSON, which browsers do not
     * send across sites. A try begins with it. Throws not_found, session_used, session_expired, csrf_failed,
     * validation_failed.
     */
    async admit(request: FastifyRequest, body: Body): Promise<Admitted> {
      const { session: code, state } = body
      const faults: ErrorDetail[] = []
      for (const [name, value] of Object.entries({ session: code, state })) {
        if (typeof value !== 'string' || value === '')
          faults.push({ path: `body.${name}`, message: 'must not be empty' })
      }
      if (typeof code !== 'string' || typeof state !== 'string' || faults.length > 0) {
        throw new AppError('validation_failed', {
          details: faults,
          message: 'body.session and body.state are required.',
        })
      }
      if (state.length > MAX_STATE) throw invalid('body.state', `must have at most ${MAX_STATE} characters`)
      const session = await sessions.open(code)
      const isForm = FORM.test(request.headers['content-type'] ?? '')
      if (isForm && !states.isOpenedBy(code, state, request.headers.cookie)) throw new AppError('csrf_failed')
      await sessions.begin(code, session, isForm ? {} : { jsonState: state })
      return { code, state, session, fromPage: isForm, returned: states.isMinted(code, state) ? undefined : state }
    },

    /** Refuses a provider that the application did not ask for. */
    demandAllowed(session: AuthSession, provider: ProviderName): void {
      if (session.providerFixed && session.provider !== provider) {
        throw invalid('body.provider', `must be ${session.provider}: the session was made for it`)
      }
    },
  }
}

/** In the order in which they are offered. */
const PROVIDERS: readonly ProviderName[] = ['gmail', 'microsoft', 'imap']
const MAX_STATE = 2048
/** In any case: a script of another site may spell it as it likes and the browser sends it along. */
const FORM = /^application\/x-www-form-urlencoded/i

type LinkedAccount = Pick<Account, 'id' | 'provider' | 'email'>

/** A body as it arrives: nothing about it is known but that it is an object. */
export type Body = Readonly<Record<string, unknown>>

export function bodyOf(request: FastifyRequest): Body {
  const { body } = request
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : {}
}

/** A post that may go on. */
export interface Admitted {
  code: string
  state: string
  session: AuthSession
  /** The state to hand back in the redirect: only one that the application chose. */
  returned: string | undefined
  fromPage: boolean
}
