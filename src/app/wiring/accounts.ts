import { authRoutes } from '../../accounts/auth/index.ts'
import { ownership as createOwnership } from '../../accounts/cluster/index.ts'
import {
  accountRoutes,
  accounts as createAccounts,
  openConnections,
  requestErasure,
  VerificationLimit,
} from '../../accounts/index.ts'
import { labelStore } from '../../mail/labels/index.ts'
import type { App as HttpServer } from '../../platform/http/index.ts'
import type { Features } from '../features.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { mailProviders } from '../mail-providers.ts'
import { authScreen } from '../settings.ts'
import { findLogin, signIn } from '../sign-in.ts'
import type { Part } from '../start-stop.ts'
import type { Operations } from './operations.ts'
import type { FeatureOptions } from './options.ts'
import type { Shared } from './shared.ts'

export type Accounts = ReturnType<typeof openAccounts>

/** The providers, the accounts at them, and which instance runs each account. */
export function openAccounts(
  { presence }: Infrastructure,
  shared: Shared,
  { gmailUnits, licence, metrics }: Operations,
  options: FeatureOptions,
) {
  const { config, clock, queue } = shared
  const logins = signIn(config, clock)
  const login = (name: string) => findLogin(logins, name)
  const mailboxes = mailProviders({
    ...shared,
    logins,
    onGmailUnits(units) {
      metrics.onGmailUnits(units)
      gmailUnits.add(units)
    },
    ...(options.imapLimits && { imapLimits: options.imapLimits }),
    ...(options.mail && { replacement: options.mail }),
  })
  const { tenants } = mailboxes
  const connections = openConnections({ ...shared, tenants, accounts: () => accounts, onRefresh: metrics.onRefresh })
  const accounts = createAccounts({
    ...shared,
    licence,
    login,
    connectionTokens: connections.tokens,
    onLinked: (accountId) => void ownership.claim(accountId),
    onRefresh: metrics.onRefresh,
    onRemove: requestErasure(queue),
  })
  const ownership = createOwnership({
    ...shared,
    presence,
    onInstanceDead: (dead) => queue.releaseInstance(dead),
    ...(options.ownership && { timing: options.ownership }),
  })

  const providerParts: readonly Part[] = [{ stop: () => mailboxes.close(), stopsWith: 'connections' }]
  const ownershipParts: readonly Part[] = [
    { start: () => ownership.start(), stop: () => ownership.stop(), stopsWith: 'ownership' },
  ]
  return {
    logins,
    login,
    mailboxes,
    accounts,
    connections,
    ownership,
    providerParts,
    ownershipParts,
  }
}

export function accountsRoutes(server: HttpServer, shared: Shared, features: Features): void {
  const { config, db, log } = shared
  const { accounts, connections, idempotency, licence, login, logins, mailboxes } = features
  const verifications = new VerificationLimit()
  authRoutes(server, {
    ...shared,
    idempotency,
    accounts,
    licence,
    logins,
    verifications,
    imap: mailboxes.imap,
    further: mailboxes.further,
    mail: mailboxes.mail,
    publicUrl: config.publicUrl,
    redirectUrl: config.redirectUrl,
    formPorts: config.formPorts,
    authScreen: authScreen(config),
    contactsEnabled: config.contactsEnabled,
  })
  accountRoutes(server, {
    db,
    accounts,
    idempotency,
    log,
    login,
    verifications,
    mail: mailboxes.mail,
    further: mailboxes.further,
    connections,
    mailLogins: logins.mail,
    listFolders: (accountId) => labelStore(db.read).selectable(accountId),
  })
}
