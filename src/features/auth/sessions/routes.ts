import { type App, errorSchema, type Idempotency } from '../../../infra/http/index.ts'
import { invalid } from '../../../lib/errors.ts'
import { isoTime } from '../../../lib/time.ts'
import { authSession, authSessionStatus, codeParams, newSessionBody, startBody, startedSession } from '../api.ts'
import type { Flow } from '../hosted/access.ts'
import { authorizeUrl } from './service.ts'

/** What an application calls: make a session, ask what became of it, start it from a screen of its own. */
export function sessionRoutes(app: App, flow: Flow, idempotency: Idempotency): void {
  const { sessions } = flow

  app.post(
    '/auth/sessions',
    {
      config: { access: 'key:write' },
      schema: {
        tags: ['Hosted authentication'],
        summary: 'Create a session: a single-use link through which a mailbox is connected',
        body: newSessionBody,
        response: { 200: authSession, '4xx': errorSchema },
      },
    },
    idempotency.writing(async (request) => {
      const { body } = request
      return (tx) => sessions.create(tx, body)
    }),
  )

  app.get(
    '/auth/sessions/:code',
    {
      config: { access: 'key:read' },
      schema: {
        tags: ['Hosted authentication'],
        summary: 'What became of a session',
        params: codeParams,
        response: { 200: authSessionStatus, '4xx': errorSchema },
      },
    },
    async (request) => sessions.view(request.params.code),
  )

  app.post(
    '/auth/sessions/:code/start',
    {
      config: { access: 'session', rateLimit: { address: { limit: 120, windowMs: 60_000 } } },
      schema: {
        tags: ['Hosted authentication'],
        summary: 'Start a session for one provider and get the address to send the browser to',
        params: codeParams,
        body: startBody,
        response: { 200: startedSession, '4xx': errorSchema },
      },
    },
    async (request) => {
      const { code } = request.params
      const { provider, state } = request.body
      const session = await sessions.open(code)
      const email = request.body.email ?? session.email
      flow.demandAllowed(session, provider)
      if (provider !== 'imap' && !flow.consents.has(provider)) {
        throw invalid('body.provider', `must be one of ${flow.connectable.join(', ')}: no other is set up here`)
      }
      await sessions.begin(code, session, { jsonState: state, provider, email: email ?? undefined })
      const url =
        provider === 'imap'
          ? authorizeUrl(flow.publicUrl, code, state)
          : await flow.consents.begin(provider, {
              ...{ code, session, email, pageState: state, returned: state },
              fromPage: false,
            })
      return {
        success: true,
        provider,
        authorizationUrl: url,
        state: new URL(url).searchParams.get('state') ?? state,
        expiresAt: isoTime(session.expiresAt),
      }
    },
  )
}
