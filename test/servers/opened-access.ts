import type { MailAccess, MailSettings, TenantProvider } from '../../src/providers/contract/index.ts'
import type { Google } from './google.ts'
import type { Microsoft } from './microsoft.ts'

/** Who a fixture's token belongs to: the user, or an application for the whole tenant. */
export type TokenOwner = 'user' | 'tenant'

/** How a mailbox is opened, and how that ends. */
export interface OpenedAccess {
  access: MailAccess
  /** The access tokens expire. */
  expireTokens(): void
  /** Consent is withdrawn. */
  revoke(): void
}

/** The users of a fake, as OAuth knows them. */
interface Users {
  grant(user: string, scopes: string[]): Promise<{ accessToken: string }>
  expireAccessTokens(user: string): void
  revokeGrants(user: string): void
}

/** A mailbox opened with a token of its user, which nobody refreshes. */
export async function userAccess(users: Users, user: string, scopes: string[]): Promise<OpenedAccess> {
  const { accessToken } = await users.grant(user, scopes)
  return {
    access: {
      accountId: 'acc_user',
      email: user,
      settings: {},
      secrets: {},
      accessToken: async () => accessToken,
    },
    expireTokens: () => users.expireAccessTokens(user),
    revoke: () => users.revokeGrants(user),
  }
}

export const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const ROLES = ['Mail.ReadWrite', 'Mail.Send', 'Calendars.ReadWrite', 'Contacts.ReadWrite']
const SCOPES = ['gmail.modify', 'calendar.events', 'calendar.readonly', 'contacts']

/** A mailbox of a tenant at Microsoft, opened with an app-only token below `/users/{id}`. */
export function microsoftTenantAccess(
  graph: Microsoft,
  user: string,
  tenant: TenantProvider<'microsoft'>,
): OpenedAccess {
  const granted = graph.applications.consent(TENANT, { roles: ROLES })
  const settings = { tenantId: TENANT, clientId: graph.client.id, thumbprint: null }
  const credentials = { provider: 'microsoft' as const, settings, secrets: { clientSecret: granted.secret } }
  const expireTokens = () => graph.expireAccessTokens()
  return {
    access: withTokens(user, tenant.mailboxSettings(user, settings), () =>
      tenant.requestToken(credentials, { mailbox: user }),
    ),
    expireTokens,
    revoke() {
      granted.isUnknown = true
      expireTokens()
    },
  }
}

/** A mailbox of a tenant at Google, opened by a service account with delegated authority. */
export function googleTenantAccess(google: Google, user: string, tenant: TenantProvider<'gmail'>): OpenedAccess {
  const workspace = google.delegation.authorise(user.split('@')[1] ?? '', { scopes: SCOPES })
  const { client_email = '', client_id = '', private_key_id = '', private_key = '' } = google.delegation.keyFile()
  const settings = { serviceAccountEmail: client_email, clientId: client_id, keyId: private_key_id, adminEmail: null }
  const credentials = { provider: 'gmail' as const, settings, secrets: { privateKey: private_key } }
  const expireTokens = () => google.expireAccessTokens()
  return {
    access: withTokens(user, tenant.mailboxSettings(user, settings), () =>
      tenant.requestToken(credentials, { mailbox: user }),
    ),
    expireTokens,
    revoke() {
      workspace.scopes = []
      expireTokens()
    },
  }
}

function withTokens(
  email: string,
  settings: MailSettings,
  requestToken: () => Promise<{ accessToken: string }>,
): MailAccess {
  let current: string | undefined
  return {
    accountId: 'acc_tenant',
    email,
    settings,
    secrets: {},
    async accessToken(refused) {
      if (current === undefined || current === refused) current = (await requestToken()).accessToken
      return current
    },
  }
}
