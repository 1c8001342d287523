import { invalid } from '../../../platform/errors/app-error.ts'
import type { App, Idempotency } from '../../../platform/http/index.ts'
import { isoTime } from '../../../platform/time/time.ts'
import { authSession, authSessionStatus, codeParams, newSessionBody, startBody, startedSession } from '../api.ts'
import type { HostedAccess } from '../hosted/access.ts'
import { hostedLimits } from '../hosted/limits.ts'
import type { HostedPages } from '../hosted/pages.ts'
import type { Consents } from '../oauth/consents.ts'
import { type AuthSessions, requireProvider } from './service.ts'
import { authorizeUrl } from './urls.ts'

interface SessionRoutesDeps {
  sessions: AuthSessions
  access: HostedAccess
  pages: Pick<HostedPages, 'jsonRoute'>
  consents: Consents
  idempotency: Idempotency
  publicUrl: string
}

/** The application's side: create a session, read its status, and start it from a screen of its own. */
export function sessionRoutes(
  app: App,
  { sessions, access, pages, consents, idempotency, publicUrl }: SessionRoutesDeps,
): void {
  const tags = ['Hosted authentication']

  app.post(
    '/auth/sessions',
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        operationId: 'createAuthSession',
        summary: 'Create a session',
        description:
          'Returns a single-use link, `authUrl`. Open it in the browser of the user, who connects a mailbox there. The browser then goes to `redirectUri` with `status=success`, `accountId`, `provider`, `email` and `session`. If the user cancels or cannot go on, it has `status=cancelled` or `status=error`, `error` (a code) and `session`.',
        body: newSessionBody,
        response: { 200: authSession },
      },
    },
    idempotency.writing(
      async ({ body }) =>
        (tx) =>
          sessions.create(tx, body),
    ),
  )

  app.get(
    '/auth/sessions/:code',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getAuthSession',
        summary: 'Get the status of a session',
        params: codeParams,
        response: { 200: authSessionStatus },
      },
    },
    async (request) => {
      const { expiresAt, ...session } = await sessions.get(request.params.code)
      const { status, provider, email, accountId, failureCode, failureReason } = session
      return { status, provider, email, accountId, failureCode, failureReason, expiresAt: isoTime(expiresAt) }
    },
  )

  app.post(
    '/auth/sessions/:code/start',
    {
      ...pages.jsonRoute,
      config: { access: 'session', rateLimit: hostedLimits('params', 'code') },
      schema: {
        tags,
        operationId: 'startAuthSession',
        errors: [410],
        summary: 'Start a session at one provider',
        description:
          'Returns the URL to open in the browser, for applications that let users choose the provider on a page of their own. Needs the API key, or the cookie of the hosted page (GET /auth/authorize) for this session and state. With the cookie, the consent must end in the same browser.',
        params: codeParams,
        body: startBody,
        response: { 200: startedSession },
      },
    },
    async (request) => {
      const { code } = request.params
      const { provider, state } = request.body
      const fromPage = access.requireConsentAccess(request, code, state)
      const session = await sessions.getOpen(code)
      const email = request.body.email ?? session.email
      requireProvider(session, provider)
      if (!consents.connectable.includes(provider)) {
        throw invalid(
          'body.provider',
          `must be one of: ${consents.connectable.join(', ')}; no other provider is set up`,
        )
      }
      await sessions.start(code, session, { jsonState: state, provider, email: email ?? undefined })
      const url =
        provider === 'imap'
          ? authorizeUrl(publicUrl, code, state)
          : await consents.begin(provider, {
              code,
              session,
              email,
              pageState: state,
              applicationState: state,
              fromPage,
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
