import type { FastifyRequest } from 'fastify'
import * as Type from 'typebox'
import type { Db } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { timestamp } from '../../../platform/formats/json-schema.ts'
import { type App, done, type RouteLimits } from '../../../platform/http/index.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { AdminSessions } from './sessions.ts'
import { SIGN_IN_PATH } from './tokens.ts'

const view = Type.Object(
  {
    success: Type.Literal(true),
    username: Type.String(),
    csrfToken: Type.String({ description: 'Send it as X-CSRF-Token with everything but GET and HEAD.' }),
    expiresAt: timestamp('When the session ends without further requests.'),
  },
  { title: 'AdminSession' },
)

const credentials = Type.Object({
  username: Type.String({ maxLength: 200 }),
  password: Type.String({ maxLength: 1000 }),
})

interface AdminSessionRouteDeps {
  sessions: AdminSessions
  log: Log
  transaction: Db['transaction']
}

/** The sign-in of the portal. The routes are not in the OpenAPI document: applications use keys. */
export function adminSessionRoutes(app: App, { sessions, log, transaction }: AdminSessionRouteDeps): void {
  const { tokens } = sessions

  const limits: RouteLimits = {
    address: { limit: 20, windowMs: 60_000 },
    subject: {
      limit: 30,
      windowMs: 10 * 60_000,
      // A browser that signed in before has a bucket of its own, which no attacker can fill.
      of: ({ headers, body }) => tokens.find('browser', headers.cookie) ?? `user ${Object(body).username}`,
    },
  }

  app.post(
    SIGN_IN_PATH,
    {
      config: { access: 'public', rateLimit: limits, audit: { action: 'portal.signed_in', details: () => ({}) } },
      schema: { hide: true, summary: 'Sign in to the portal', body: credentials, response: { 200: view } },
    },
    async (request, reply) => {
      const { username, password } = request.body
      const session = await sessions.signIn(username, password, (tx) => {
        request.caller = sessions.caller
        return request.recordAudit(tx)
      })
      if (session === undefined) {
        const isKnownUser = sessions.isKnownUser(username)
        log.warn('Somebody could not sign in to the portal.', {
          operation: 'admin.sign_in',
          requestId: request.id,
          metadata: { address: request.ip, isKnownUser },
        })
        // Only these are limited over all addresses, so that nobody can fill the table. Another name may be a mistyped password.
        if (isKnownUser) {
          await transaction((tx) => request.recordAudit(tx, { action: 'portal.sign_in_failed', details: { username } }))
        }
        throw new AppError('unauthorized', { message: 'The user name or the password is wrong.' })
      }
      const browser = tokens.find('browser', request.headers.cookie) ?? tokens.generate('browser')
      reply.headers({
        'cache-control': 'no-store',
        'set-cookie': [tokens.cookie('session', session.token), tokens.cookie('browser', browser)],
      })
      return session.view
    },
  )

  app.get(
    SIGN_IN_PATH,
    {
      config: { access: 'key:read' },
      schema: { hide: true, summary: 'Get the session of the portal', response: { 200: view } },
    },
    async (request) => requireSession(request).view,
  )

  app.delete(
    SIGN_IN_PATH,
    {
      config: { access: 'key:read', audit: 'portal.signed_out' },
      schema: { hide: true, summary: 'Sign out of the portal', response: { 200: done } },
    },
    async (request, reply) => {
      await sessions.signOut(requireSession(request).token, (tx) => request.recordAudit(tx))
      reply.header('set-cookie', tokens.expiredCookie())
      return { success: true, message: 'You are signed out.' }
    },
  )

  app.delete(
    '/admin/sessions',
    {
      config: { access: 'key:admin', audit: 'portal.sessions_ended' },
      schema: { hide: true, summary: 'End all sessions of the portal', response: { 200: done } },
    },
    async (request, reply) => {
      await sessions.signOutEverywhere((tx) => request.recordAudit(tx))
      reply.header('set-cookie', tokens.expiredCookie())
      return { success: true, message: 'All sessions of the portal have ended.' }
    },
  )

  function requireSession(request: FastifyRequest) {
    const session = sessions.current(request)
    if (session === undefined) {
      throw new AppError('unauthorized', { message: 'This request needs a session of the portal, not an API key.' })
    }
    return session
  }
}
