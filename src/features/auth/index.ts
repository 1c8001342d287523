/**
 * Hosted authentication: single-use sessions, the pages that people see, and the accounts they link.
 * Opening a page changes nothing; a session is used up in the transaction that links its account.
 */
import './tables.ts'
import type { App, Idempotency, Outbound } from '../../infra/http/index.ts'
import type { DnsRecords } from '../../infra/net/index.ts'
import type { AuthScreen } from '../../ui/hosted/index.ts'
import { brand } from '../../ui/hosted/index.ts'
import { detection } from './detection/detection.ts'
import { type FlowDeps, flow } from './hosted/access.ts'
import { authorizeRoutes } from './hosted/routes.ts'
import { imapRoutes } from './imap/routes.ts'
import { consents, type Logins } from './oauth/consents.ts'
import { callbackRoutes } from './oauth/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { type AuthSessionsDeps, authSessions } from './sessions/service.ts'

export { type Logins, redirectUri } from './oauth/consents.ts'
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
