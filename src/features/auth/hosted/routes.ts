import type { FastifyReply } from 'fastify'
import type { App } from '../../../infra/http/index.ts'
import { invalid } from '../../../lib/errors.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { consentPage, continuePage, emailPage, type FormFaults, NO_FAULTS } from '../../../ui/hosted/index.ts'
import { authorizeBody, authorizeQuery } from '../api.ts'
import { imapStep } from '../imap/step.ts'
import { wantsHtml } from './accept.ts'
import { type Admitted, bodyOf, type Flow } from './access.ts'
import { PROVIDER_NAMES } from './provider-names.ts'

const EMAIL = /^[^\s@<>"(),;:\\]+@[^\s@<>"(),;:\\]+$/
const MAX_EMAIL = 320

/** The pages of the flow before the mail server is asked: the link itself, and the address or provider. */
export function authorizeRoutes(app: App, flow: Flow): void {
  const { sessions, states, sendPage } = flow
  const tags = ['Hosted authentication']

  /** The first page: the address, or the form of the one provider that the application asked for. */
  function firstPage(
    reply: FastifyReply,
    admitted: Pick<Admitted, 'code' | 'state' | 'session'>,
    faults?: FormFaults,
    email?: string,
  ) {
    const { code, state, session } = admitted
    return sendPage(reply, (context) =>
      emailPage(context, {
        action: `${flow.publicUrl}/auth/authorize`,
        session: code,
        state,
        email: email ?? session.email ?? '',
        choices:
          flow.connectable.length > 1
            ? flow.connectable.map((provider) => ({ provider, label: `Continue with ${PROVIDER_NAMES[provider]}` }))
            : [],
        faults: faults ?? NO_FAULTS,
      }),
    )
  }

  /** The first page when the application asked for a provider with a consent page of its own. */
  function onlyPage(
    reply: FastifyReply,
    { code, state, session }: Pick<Admitted, 'code' | 'state' | 'session'>,
    provider: string,
  ) {
    const action = `${flow.publicUrl}/auth/authorize`
    return sendPage(reply, (context) =>
      consentPage(context, { action, session: code, state, email: session.email ?? '', provider }),
    )
  }

  app.get(
    '/auth/authorize',
    {
      ...flow.route,
      config: { access: 'public', rateLimit: { address: { limit: 300, windowMs: 60_000 } } },
      schema: {
        tags,
        summary: 'The hosted screen; opening it changes nothing',
        produces: ['text/html'],
        querystring: authorizeQuery,
      },
    },
    async (request, reply) => {
      const { session: code } = request.query
      const session = await sessions.open(code)
      const state = request.query.state || states.mint(code)
      flow.allowPost(request, reply, code, session, state)
      const page = { code, state, session }
      const { provider, providerFixed } = session
      if (provider === 'imap') return imapStep(flow, reply, page, { fields: { email: session.email ?? '' } })
      return providerFixed && provider !== null && flow.consents.has(provider)
        ? onlyPage(reply, page, PROVIDER_NAMES[provider])
        : firstPage(reply, page)
    },
  )

  app.post(
    '/auth/authorize',
    {
      ...flow.route,
      attachValidation: true,
      config: { access: 'public', form: true, rateLimit: { address: { limit: 120, windowMs: 60_000 } } },
      schema: {
        tags,
        summary: 'The next step for an address or a provider',
        produces: ['text/html'],
        body: authorizeBody,
      },
    },
    async (request, reply) => {
      const body = bodyOf(request)
      const admitted = await flow.admit(request, body)
      const { code, session, state, returned, fromPage } = admitted
      const email = typeof body.email === 'string' ? body.email.trim() : ''
      flow.allowPost(request, reply, code, session, state)
      const choice = await chosen(admitted, body.provider, email)
      if (choice.fault !== undefined) {
        if (!wantsHtml(request.headers.accept)) throw invalid('body.email', choice.fault.message)
        return firstPage(reply, admitted, { fields: { email: choice.fault.text } }, email)
      }
      const { provider } = choice
      flow.demandAllowed(session, provider)
      if (!flow.consents.has(provider)) return imapStep(flow, reply, admitted, { fields: { email } })
      const asked = { code, session, email: email || session.email, pageState: state, returned, fromPage }
      const href = await flow.consents.begin(provider, asked)
      return sendPage(reply, (context) =>
        continuePage(context, {
          title: `Continue with ${PROVIDER_NAMES[provider]}`,
          text: 'You are being taken there to sign in.',
          href,
          label: 'Continue',
          done: false,
        }),
      )
    },
  )

  type Choice = { provider: ProviderName; fault?: undefined } | { fault: { message: string; text: string } }

  /** The provider for what was sent: the session's own, the one picked, or the one behind the address. */
  async function chosen({ session }: Admitted, picked: unknown, email: string): Promise<Choice> {
    if (email !== '' && (!EMAIL.test(email) || email.length > MAX_EMAIL)) {
      return fault('must be an email address', 'That is not an email address. It looks like name@example.com.')
    }
    if (typeof picked === 'string' && picked !== '') {
      const provider = flow.connectable.find((name) => name === picked)
      if (provider === undefined) throw invalid('body.provider', `must be one of ${flow.connectable.join(', ')}`)
      return { provider }
    }
    if (session.providerFixed && session.provider !== null) return { provider: session.provider }
    if (email === '') {
      if (flow.connectable.length === 1) return fault('is required', 'Enter your email address.')
      return fault('or body.provider is required', 'Enter your email address, or choose your provider.')
    }
    const detected = await flow.detection.providerOf(email)
    return { provider: flow.connectable.includes(detected) ? detected : 'imap' }
  }
}

function fault(message: string, text: string) {
  return { fault: { message, text } }
}
