import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type App, asAppError } from '../../../infra/http/index.ts'
import { AppError, type ErrorCode } from '../../../lib/errors.ts'
import { ProviderError, type ProviderName } from '../../../providers/contract/index.ts'
import { errorPage } from '../../../ui/hosted/index.ts'
import { type Account, checkMailbox, RefreshTokenMissing } from '../../accounts/index.ts'
import { wantsHtml } from '../hosted/accept.ts'
import type { Flow } from '../hosted/access.ts'
import { pageOf } from '../hosted/pages.ts'
import { authorizeUrl } from '../sessions/service.ts'
import type { AuthSession } from '../sessions/session.ts'
import { type ConsentFacts, redirectUri } from './consents.ts'

/** Where providers send the browser back to. */
export function callbackRoutes(app: App, flow: Flow): void {
  const { consents, sessions, states, log } = flow

  app.get(
    '/providers/:providerName/callback',
    {
      // It uses the state up, which nothing that only looks may do.
      exposeHeadRoute: false,
      onRequest: flow.route.onRequest,
      errorHandler,
      config: { access: 'public', rateLimit: { address: { limit: 120, windowMs: 60_000 } } },
      schema: {
        tags: ['Hosted authentication'],
        summary: 'Where providers send the browser back to',
        params: Type.Object({ providerName: Type.String() }),
        response: {
          302: Type.Null({ description: 'To the redirect URI of the session. A failure is an error page, 400.' }),
        },
      },
    },
    async (request, reply) => {
      const provider = flow.connectable.find((name) => name === request.params.providerName)
      if (provider === undefined || provider === 'imap') {
        throw new AppError('route_not_found', { message: 'There is no such provider.' })
      }
      const came = new URL(request.url, flow.publicUrl)
      // Retries lead back to the page, with the application's own state.
      let retryHref: string | undefined
      try {
        const facts = await consents.find(provider, came.searchParams.get('state'))
        if (facts.fromPage && !states.isOpenedBy(facts.code, facts.pageState, request.headers.cookie)) {
          throw new AppError('csrf_failed')
        }
        const session = await sessions.open(facts.code)
        retryHref = authorizeUrl(flow.publicUrl, facts.code, facts.returned)
        const { href, isLinked } = await completed(request, provider, came, facts, session)
        if (facts.fromPage && isLinked) reply.header('set-cookie', states.ended(facts.code, facts.pageState))
        return reply.redirect(href, 302)
      } catch (error) {
        throw new CallbackFailure(asAppError(error), retryHref)
      }
    },
  )

  /** Where to go: to the application, or once more to the provider. */
  async function completed(
    request: FastifyRequest,
    provider: ProviderName,
    came: URL,
    facts: ConsentFacts,
    session: AuthSession,
  ): Promise<{ href: string; isLinked: boolean }> {
    const state = came.searchParams.get('state') ?? ''
    await consents.use(state)
    try {
      if (came.searchParams.get('error') === 'access_denied') throw new AppError('consent_denied')
      const account = await linked(provider, came, state, facts, session)
      return { href: flow.returnUrl(facts.code, facts.returned, session, account), isLinked: true }
    } catch (error) {
      if (error instanceof RefreshTokenMissing && facts.again !== true) {
        return { href: await consents.begin(provider, { ...facts, session, again: true }), isLinked: false }
      }
      const failure = failureOf(error)
      log.info('a sign-in at a provider failed', {
        operation: 'auth.callback',
        provider,
        requestId: request.id,
        error: failure.cause ?? failure,
        metadata: { code: failure.code },
      })
      await sessions.fail(session, failure.code)
      throw failure
    }
  }

  async function linked(
    provider: ProviderName,
    came: URL,
    state: string,
    { code, codeVerifier }: ConsentFacts,
    session: AuthSession,
  ): Promise<Account> {
    const sent = { redirectUri: redirectUri(flow.publicUrl, provider), state, codeVerifier }
    const { tokens, user } = await consents.login(provider).exchange(came, sent)
    const mail = flow.mail(provider)
    if (mail !== undefined) await checkMailbox(mail, user.email, tokens).catch(refusedMailbox)
    return sessions.link(code, session, {
      ...{ provider, email: user.email, providerUser: user.id, tokens },
      settings: {},
      secrets: {},
    })
  }

  /** Every failure that people can do something about is a page with status 400 and a way on. */
  async function errorHandler(thrown: Error, request: FastifyRequest, reply: FastifyReply): Promise<string> {
    if (!(thrown instanceof CallbackFailure)) return flow.route.errorHandler(thrown, request, reply)
    const { error, retryHref } = thrown
    if (error.status >= 500 || !wantsHtml(request.headers.accept)) {
      return flow.route.errorHandler(error, request, reply)
    }
    const action =
      retryHref === undefined || HOPELESS.has(error.code) ? undefined : { href: retryHref, label: 'Try again' }
    return flow.sendPage(reply, (context) => errorPage(context, pageOf(error, request.id, action)), 400)
  }
}

/** Another try would end the same way. */
const HOPELESS: ReadonlySet<ErrorCode> = new Set([
  'session_used',
  'session_expired',
  'licence_limit',
  'consent_refused',
])

/** With where to try again, when there is such a place. */
class CallbackFailure extends Error {
  override name = 'CallbackFailure'
  readonly error: AppError
  readonly retryHref: string | undefined
  constructor(error: AppError, retryHref: string | undefined) {
    super(error.message, { cause: error })
    this.error = error
    this.retryHref = retryHref
  }
}

function refusedMailbox(error: unknown): never {
  if (!(error instanceof ProviderError) || error.missingScope) throw error
  throw new AppError('mailbox_refused', { cause: error })
}

/** Whose fault it was, by a code. */
function failureOf(error: unknown): AppError {
  if (error instanceof RefreshTokenMissing) return new AppError('consent_failed', { cause: error })
  if (!(error instanceof ProviderError)) return asAppError(error)
  if (error.missingScope) return new AppError('consent_incomplete', { cause: error })
  // The code ran out or was used, or the user is asked for something more.
  if (error.kind === 'auth_expired') return new AppError('consent_used', { cause: error })
  return new AppError(error.kind === 'rejected' ? 'consent_refused' : 'consent_failed', { cause: error })
}
