import type { FastifyReply, FastifyRequest } from 'fastify'
import * as Type from 'typebox'
import { AppError, type ErrorCode } from '../../../platform/errors/app-error.ts'
import { type App, asAppError, wantsHtml } from '../../../platform/http/index.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { type MailProvider, ProviderError, type ProviderName } from '../../../providers/contract/index.ts'
import type { MailOAuthProvider } from '../../../providers/mail-oauth/index.ts'
import { type Account, type Accounts, oauthMailboxes, RefreshTokenMissing } from '../../index.ts'
import type { HostedAccess, SessionPage } from '../hosted/access.ts'
import { hostedLimits } from '../hosted/limits.ts'
import type { ErrorPageOptions, HostedPages } from '../hosted/pages.ts'
import type { AuthSessions } from '../sessions/service.ts'
import type { AuthSession } from '../sessions/store.ts'
import { authorizeUrl, successUrl } from '../sessions/urls.ts'
import { renderSharedPage, type SharedPageDeps } from '../shared-mailboxes/page.ts'
import type { PendingSignIn } from '../shared-mailboxes/pending-sign-in.ts'
import { canChooseShared, canLeaveOutOwn } from '../shared-mailboxes/routes.ts'
import { type ConsentFacts, type Consents, redirectUri } from './consents.ts'

export interface CallbackRoutesDeps extends SharedPageDeps {
  accounts: Pick<Accounts, 'findLinked'>
  sessions: AuthSessions
  access: HostedAccess
  pages: HostedPages
  consents: Consents
  /** The mail side of a provider. When undefined, the mailbox is not checked. */
  mail(provider: ProviderName): Pick<MailProvider, 'verify' | 'closeConnections'> | undefined
  clock: Clock
  log: Log
}

/** Where the browser goes, or the sign-in whose user chooses further mailboxes first. */
interface Completed {
  href: string
  isLinked: boolean
  pending?: PendingSignIn
}

/** A callback that belongs to an open session. */
interface Callback {
  provider: ProviderName
  /** The name in the callback address: the provider, or one of OAUTH_PROVIDERS. */
  name: string
  /** For one of OAUTH_PROVIDERS. */
  mail: MailOAuthProvider | undefined
  /** The URL that the browser came back to. */
  url: URL
  state: string
  facts: ConsentFacts
  session: AuthSession
}

/** Providers send more. The values are read from the URL as the provider sent it. */
const callbackQuery = Type.Object({
  state: Type.Optional(Type.String({ description: 'The state that the service sent to the provider. Valid once.' })),
  code: Type.Optional(Type.String({ description: 'The authorization code. Absent after an error.' })),
  error: Type.Optional(Type.String({ description: 'Such as access_denied, when the user refused.' })),
})

/** A new attempt would fail in the same way. */
const FINAL_CODES: ReadonlySet<ErrorCode> = new Set([
  'session_used',
  'session_expired',
  'licence_limit',
  'consent_refused',
])

/** The provider sends the browser back here, with a code or an error. */
export function callbackRoutes(app: App, deps: CallbackRoutesDeps): void {
  const { sessions, access, pages, consents, publicUrl, clock, log } = deps

  app.get(
    '/providers/:providerName/callback',
    {
      ...pages.route,
      // The request uses up the state, which a HEAD request must not do.
      exposeHeadRoute: false,
      // A state belongs to one session.
      config: { access: 'public', rateLimit: hostedLimits('query', 'state') },
      schema: {
        tags: ['Hosted authentication'],
        operationId: 'completeProviderSignIn',
        summary: 'Complete a sign-in at a provider',
        description: 'The provider sends the browser of the user here. Applications do not call it.',
        params: Type.Object({
          providerName: Type.String({ description: 'gmail, microsoft, or a name in OAUTH_PROVIDERS.' }),
        }),
        querystring: callbackQuery,
        response: {
          302: Type.Null({
            description:
              'Redirects to the redirect URI of the session. With `sharedMailboxes`, the page that asks for shared mailboxes comes first, with status 200. A failure is an error page with status 400, or 403 at the cap of the licence.',
          }),
        },
      },
    },
    async (request, reply) => {
      const name = request.params.providerName
      const signIn = consents.findSignIn(name)
      if (signIn === undefined) {
        throw new AppError('route_not_found', { message: 'This provider does not exist or is not configured.' })
      }
      const url = new URL(request.url, publicUrl)
      const state = url.searchParams.get('state') ?? ''
      let open: { facts: ConsentFacts; session: AuthSession } | undefined
      try {
        const facts = await consents.get(name, state)
        const { code, pageState, fromPage } = facts
        if (fromPage && !access.isFromThisBrowser(request, code, pageState)) throw new AppError('csrf_failed')
        const session = await sessions.getOpen(code)
        open = { facts, session }
        const { href, isLinked, pending } = await complete(request, {
          provider: signIn.provider,
          name,
          mail: signIn.mail,
          url,
          state,
          facts,
          session,
        })
        if (pending !== undefined)
          return await chooseShared(request, reply, { code, state: pageState, session }, pending)
        if (fromPage && isLinked) access.revokePost(reply, code, pageState)
        return reply.redirect(href, 302)
      } catch (thrown) {
        const error = asAppError(thrown)
        if (error.status >= 500 || !wantsHtml(request.headers.accept)) throw error
        // The schema covers only the redirect, so the page needs the untyped reply.
        const untyped: FastifyReply = reply
        const status = error.code === 'licence_limit' ? 403 : 400
        untyped.send(pages.renderError(request, reply, error, { status, ...(open && errorOptions(error.code, open)) }))
        return reply
      }
    },
  )

  /** Shows the choice of shared mailboxes in place of the redirect. */
  async function chooseShared(
    request: FastifyRequest,
    reply: FastifyReply,
    page: SessionPage,
    signIn: PendingSignIn,
  ): Promise<FastifyReply> {
    access.allowPost(request, reply, page)
    const canLeaveOut = await canLeaveOutOwn(deps, page.session, signIn)
    return reply.send(renderSharedPage(deps, reply, page, signIn, { canLeaveOut }))
  }

  /** An error page leads to another attempt, unless it would fail again, and to the application. */
  function errorOptions(
    error: ErrorCode,
    { facts, session }: { facts: ConsentFacts; session: AuthSession },
  ): ErrorPageOptions {
    const { code, applicationState } = facts
    return {
      retryHref: FINAL_CODES.has(error) ? undefined : authorizeUrl(publicUrl, code, applicationState),
      page: { code, session, state: applicationState ?? '' },
    }
  }

  /** Returns where to send the browser: to the application, or to the provider for a second consent. */
  async function complete(request: FastifyRequest, callback: Callback): Promise<Completed> {
    const { provider, name, url, state, facts, session } = callback
    await consents.use(state)
    const startedMs = clock.monotonic()
    try {
      if (url.searchParams.get('error') === 'access_denied') throw new AppError('consent_denied')
      const linked = await link(callback)
      if ('user' in linked) return { href: '', isLinked: false, pending: linked }
      const account = linked
      log.info('A user signed in at the provider.', {
        accountId: account.id,
        provider,
        operation: 'auth.callback',
        requestId: request.id,
        durationMs: clock.monotonic() - startedMs,
      })
      return { href: successUrl(session.redirectUri, facts.code, account, facts.applicationState), isLinked: true }
    } catch (error) {
      if (error instanceof RefreshTokenMissing && facts.isRepeat !== true) {
        return { href: await consents.begin(name, { ...facts, session, isRepeat: true }), isLinked: false }
      }
      const failure = toConsentError(error)
      log.info(`Sign-in at a provider failed: ${failure.code}`, {
        operation: 'auth.callback',
        provider,
        requestId: request.id,
        durationMs: clock.monotonic() - startedMs,
        error: failure.cause ?? failure,
        metadata: { code: failure.code },
      })
      await sessions.fail(session, failure.code)
      throw failure
    }
  }

  /** Exchanges the code for tokens, checks that the mailbox opens, and links the account, unless the user may choose further ones. */
  async function link({
    provider,
    name,
    mail: mailOAuth,
    url,
    state,
    facts,
    session,
  }: Callback): Promise<Account | PendingSignIn> {
    const { tokens, user } = await consents.login(name).exchange(url, {
      redirectUri: redirectUri(publicUrl, name),
      state,
      codeVerifier: facts.codeVerifier,
      loginHint: facts.email,
    })
    const mail = deps.mail(provider)
    if (mailOAuth !== undefined) {
      if (mail === undefined) throw new AppError('consent_refused')
      const signIn = { provider: mailOAuth, email: user.email, tokens }
      const verified = await oauthMailboxes.verifyAtMailServer(mail, signIn).catch(throwMailLoginRefused)
      return sessions.link(facts.code, session, verified)
    }
    const mailbox = { email: user.email, settings: {}, accessToken: async () => tokens.accessToken }
    if (mail !== undefined) await oauthMailboxes.check(mail, mailbox).catch(throwMailboxRefused)
    const own = { provider, email: user.email, providerUser: user.id, tokens, settings: {}, secrets: {} }
    if (facts.fromPage && provider === 'microsoft' && canChooseShared(session, tokens)) {
      await sessions.requireExpected(session, own)
      return { tokens, user, ready: [] }
    }
    return sessions.link(facts.code, session, own)
  }
}

function throwMailboxRefused(error: unknown): never {
  if (!(error instanceof ProviderError) || error.missingScope) throw error
  throw new AppError('mailbox_refused', { cause: error })
}

/** The mail server decides whether the tokens are for the mailbox. */
function throwMailLoginRefused(error: unknown): never {
  if (!(error instanceof ProviderError) || error.kind === 'unavailable' || error.kind === 'rate_limited') throw error
  throw new AppError('mailbox_refused', { cause: error })
}

/** The error code shows whether the user, the operator or the provider must act. */
function toConsentError(error: unknown): AppError {
  if (error instanceof RefreshTokenMissing) return new AppError('consent_failed', { cause: error })
  if (!(error instanceof ProviderError)) return asAppError(error)
  if (error.missingScope) return new AppError('consent_incomplete', { cause: error })
  // The authorization code expired or was already used, or the provider requires the user to sign in again.
  if (error.kind === 'auth_expired') return new AppError('consent_used', { cause: error })
  return new AppError(error.kind === 'rejected' ? 'consent_refused' : 'consent_failed', { cause: error })
}
