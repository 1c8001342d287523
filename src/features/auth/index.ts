/**
 * Hosted authentication: single-use sessions, the pages that people see, and the accounts they link.
 * Opening a page changes nothing; a session is used up in the transaction that links its account.
 */
import './schema.ts'
import type { App, Idempotency, Outbound } from '../../infra/http/index.ts'
import type { DnsRecords } from '../../infra/net/index.ts'
import type { AuthScreen } from '../../ui/hosted/index.ts'
import { brand } from '../../ui/hosted/index.ts'
import { authorizeRoutes } from './authorize-routes.ts'
import { callbackRoutes } from './callback-routes.ts'
import { consents, type Logins } from './consent.ts'
import { detection } from './detection.ts'
import { type FlowDeps, flow } from './flow.ts'
import { imapRoutes } from './imap-routes.ts'
import { type AuthSessionsDeps, authSessions } from './service.ts'
import { sessionRoutes } from './session-routes.ts'

export { type Logins, redirectUri } from './consent.ts'
export { purgeAuthSessions } from './purge.ts'

export interface AuthDeps extends AuthSessionsDeps, Omit<FlowDeps, 'sessions' | 'brand' | 'consents' | 'detection'> {
  /** For finding out what an address belongs to. */
  records: DnsRecords
  outbound: Outbound
  /** How people sign in at the providers that are set up. */
  logins: Logins
  idempotency: Idempotency
  /** `service.authScreen`. */
  authScreen: AuthScreen
}

/** Adds every route of the hosted flow. */
export function authRoutes(app: App, deps: AuthDeps): void {
  const shared = flow({
    ...deps,
    sessions: authSessions(deps),
    brand: brand(deps.authScreen),
    consents: consents(deps),
    detection: detection(deps),
  })
  sessionRoutes(app, shared, deps.idempotency)
  authorizeRoutes(app, shared)
  imapRoutes(app, shared)
  callbackRoutes(app, shared)
}
