import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { invalid } from '../../../platform/errors/app-error.ts'
import { type App, wantsHtml } from '../../../platform/http/index.ts'
import { authorizeBody, authorizeQuery } from '../api.ts'
import { type AuthSessions, requireProvider } from '../sessions/service.ts'
import type { HostedAccess } from './access.ts'
import { type ChoiceDeps, chooseProvider, findReconnected, requireConnectable } from './choice.ts'
import { hostedLimits } from './limits.ts'
import {
  DISPLAY_NAMES,
  findMailSignIn,
  renderConsentPage,
  renderContinuePage,
  renderEmailPage,
  renderSignIn,
  type StartPagesDeps,
} from './start-pages.ts'

interface HostedRoutesDeps extends ChoiceDeps, StartPagesDeps {
  sessions: AuthSessions
  access: HostedAccess
}

/** The first step of the hosted flow: open the link, then choose an address or a provider. */
export function hostedRoutes(app: App, deps: HostedRoutesDeps): void {
  const { pages } = deps
  const tags = ['Hosted authentication']

  app.get(
    '/auth/authorize',
    {
      ...pages.route,
      config: {
        access: 'public',
        rateLimit: hostedLimits('query', 'session', { perMinute: 300, perSession: 120 }),
      },
      schema: {
        tags,
        operationId: 'openHostedPage',
        errors: [410],
        summary: 'Open the hosted page',
        description: 'The link of a session leads here. Opening it changes nothing.',
        produces: ['text/html'],
        querystring: authorizeQuery,
      },
    },
    (request, reply) => openPage(deps, request, reply, request.query),
  )

  app.post(
    '/auth/authorize',
    {
      ...pages.route,
      attachValidation: true,
      config: { access: 'session', form: true, rateLimit: hostedLimits('body', 'session') },
      schema: {
        tags,
        operationId: 'chooseProvider',
        errors: [410],
        summary: 'Choose the provider',
        description:
          'Returns the next page: the form for a mail server, or the way to the consent page of the provider. Without a provider, the service finds the one of the address. A form needs the cookie of the page. JSON that leads to a consent page needs the API key or that cookie; with the cookie, the consent must end in the same browser.',
        produces: ['text/html'],
        body: authorizeBody,
      },
    },
    (request, reply) => submitChoice(deps, request, reply),
  )
}

/** Shows the page where the user begins, which depends on what the session already says. */
async function openPage(
  deps: HostedRoutesDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  query: Static<typeof authorizeQuery>,
): Promise<string> {
  const { sessions, access, consents } = deps
  const { session: code } = query
  const session = await sessions.getOpen(code)
  const page = { code, session, state: query.state || access.mintState(code) }
  access.allowPost(request, reply, page)
  const mailbox = await findReconnected(deps, session)
  if (mailbox?.provider === 'imap') return renderSignIn(deps, reply, page, mailbox.email, { mailbox })
  const { providerFixed, email } = session
  const provider = mailbox?.provider ?? session.provider
  if (provider === 'imap' && email !== null) return renderSignIn(deps, reply, page, email)
  if (provider === null || provider === 'imap' || !(providerFixed || mailbox)) {
    return renderEmailPage(deps, reply, page, email ?? '')
  }
  requireConnectable(consents, provider)
  return renderConsentPage(deps, reply, page, { provider, email: email ?? '', mailbox })
}

/** Shows the page that follows from the address or the provider that the user chose. */
async function submitChoice(deps: HostedRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const { access, consents } = deps
  const post = await access.admit(request)
  const { body, code, session, state, applicationState } = post
  const mailbox = await findReconnected(deps, session)
  const email = mailbox?.email ?? ((typeof body.email === 'string' && body.email.trim()) || (session.email ?? ''))
  access.allowPost(request, reply, post)
  if (body.edit === 'address' && mailbox === undefined) return renderEmailPage(deps, reply, post, email)
  const choice = mailbox ?? (await chooseProvider(deps, session, body.provider, email))
  if ('error' in choice) {
    if (!wantsHtml(request.headers.accept)) throw invalid('body.email', choice.error.message)
    return renderEmailPage(deps, reply, post, email, { error: choice.error.text })
  }
  const { provider } = choice
  requireProvider(session, provider)
  if (provider === 'imap') {
    if (email === '') return renderEmailPage(deps, reply, post, email, { provider })
    const isEditing = body.edit === 'server'
    const wantsForm = isEditing || body.edit === 'password'
    const signIn = body.signIn === 'oauth' ? await findMailSignIn(deps, email, mailbox) : undefined
    if (signIn === undefined) return renderSignIn(deps, reply, post, email, { mailbox, wantsForm, isEditing })
    return beginConsent(signIn.name, signIn.label)
  }
  requireConnectable(consents, provider)
  return beginConsent(provider, DISPLAY_NAMES[provider])

  async function beginConsent(name: string, label: string): Promise<string> {
    const href = await consents.begin(name, {
      code,
      session,
      email: email || null,
      pageState: state,
      applicationState,
      fromPage: access.requireConsentAccess(request, code, state),
    })
    return renderContinuePage(deps, reply, post, label, href)
  }
}
