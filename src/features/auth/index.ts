/**
 * Hosted authentication: single-use sessions, the pages that people see, and the accounts they link.
 * Opening a page changes nothing; a session is used up in the transaction that links its account.
 */
import './schema.ts'
import type { App, Idempotency } from '../../infra/http/index.ts'
import type { AuthScreen } from '../../ui/hosted/index.ts'
import { brand } from '../../ui/hosted/index.ts'
import { authorizeRoutes } from './authorize-routes.ts'
import { type FlowDeps, flow } from './flow.ts'
import { imapRoutes } from './imap-routes.ts'
import { type AuthSessionsDeps, authSessions } from './service.ts'
import { sessionRoutes } from './session-routes.ts'

export { purgeAuthSessions } from './purge.ts'

export interface AuthDeps extends AuthSessionsDeps, Omit<FlowDeps, 'sessions' | 'brand'> {
  idempotency: Idempotency
  /** `service.authScreen`. */
  authScreen: AuthScreen
}

/** Adds every route of the hosted flow. */
export function authRoutes(app: App, deps: AuthDeps): void {
  const shared = flow({ ...deps, sessions: authSessions(deps), brand: brand(deps.authScreen) })
  sessionRoutes(app, shared, deps.idempotency)
  authorizeRoutes(app, shared)
  imapRoutes(app, shared)
}
