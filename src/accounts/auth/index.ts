/**
 * Hosted authentication: single-use sessions, the pages that end users see, and the accounts that they link. `sessions`
 * holds the session's life, `hosted` decides access and renders, `imap` and `oauth` talk to mail servers and providers,
 * `shared` connects the shared mailboxes of a user, and `detection` finds the provider of an address.
 */

import type { App, Idempotency } from '../../platform/http/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { DnsRecords } from '../../platform/net/index.ts'
import type { Outbound } from '../../platform/outbound/index.ts'
import { type AuthScreen, brand as createBrand } from '../../ui/hosted/index.ts'
import { detection as createDetection, type DetectionDeps } from './detection/detection.ts'
import { mailSignIns as createMailSignIns } from './detection/mail-sign-ins.ts'
import { hostedAccess } from './hosted/access.ts'
import { hostedPages } from './hosted/pages.ts'
import { hostedRoutes } from './hosted/routes.ts'
import { imapForm as createImapForm } from './imap/form.ts'
import { type ImapRoutesDeps, imapRoutes } from './imap/routes.ts'
import { type ConsentsDeps, consents as createConsents } from './oauth/consents.ts'
import { type CallbackRoutesDeps, callbackRoutes } from './oauth/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { type AuthSessionsDeps, authSessions } from './sessions/service.ts'
import { pendingSignIns as createPendingSignIns } from './shared-mailboxes/pending-sign-in.ts'
import { sharedRoutes } from './shared-mailboxes/routes.ts'
import type {} from './tables.ts'

export { authFeature } from './feature.ts'
export { type Logins, redirectUri } from './oauth/consents.ts'

export interface AuthDeps
  extends Omit<AuthSessionsDeps, 'requireConfigured' | 'accounts'>,
    Omit<ConsentsDeps, 'accounts'>,
    Pick<ImapRoutesDeps, 'imap' | 'further' | 'verifications' | 'formPorts' | 'unreachableMs'>,
    Pick<CallbackRoutesDeps, 'mail'> {
  accounts: AuthSessionsDeps['accounts'] & ConsentsDeps['accounts'] & ImapRoutesDeps['accounts']
  log: Log
  /** Used to detect the provider of an address. */
  records: DnsRecords
  outbound: Outbound
  mailServers?: DetectionDeps['mailServers']
  idempotency: Idempotency
  /** `service.authScreen`. */
  authScreen: AuthScreen
  /** `contacts.enabled`. */
  contactsEnabled: boolean
}

/** Adds every route of the hosted flow. */
export function authRoutes(app: App, deps: AuthDeps): void {
  const brand = createBrand(deps.authScreen)
  const consents = createConsents(deps)
  const sessions = authSessions({ ...deps, requireConfigured: consents.requireConfigured })
  const detection = createDetection(deps)
  const mailSignIns = createMailSignIns(deps.logins.mail, detection)
  const access = hostedAccess({ ...deps, sessions })
  const pages = hostedPages({ ...deps, brand, ...access })
  const imapForm = createImapForm({ ...deps, pages, detection, mailSignIns })
  const pendingSignIns = createPendingSignIns(deps.sealer)
  const hosted = { ...deps, sessions, consents, detection, mailSignIns, access, pages, imapForm, pendingSignIns }
  sessionRoutes(app, hosted)
  hostedRoutes(app, hosted)
  imapRoutes(app, hosted)
  callbackRoutes(app, hosted)
  sharedRoutes(app, hosted)
  for (const prefix of ['/auth', '/providers/:providerName/callback']) pages.addErrorPages(app, prefix)
}
