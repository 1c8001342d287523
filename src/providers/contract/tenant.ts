import type { RemoteFolder } from './message.ts'
import type { MailSettings } from './provider.ts'

/** How an organisation's application is known at Microsoft. `thumbprint` belongs to a certificate. No secrets. */
export interface MicrosoftTenantSettings {
  tenantId: string
  clientId: string
  /** Of the certificate that signs requests, in hexadecimal: SHA-1 or SHA-256. Null with a client secret. */
  thumbprint: string | null
}

/** One of both. Never log them. */
interface MicrosoftTenantSecrets {
  clientSecret?: string
  /** PEM. */
  privateKey?: string
}

/** How a service account is known at Google. No secrets. */
export interface GoogleTenantSettings {
  serviceAccountEmail: string
  /** The number that an administrator enters in the admin console. Null when the key file has none. */
  clientId: string | null
  keyId: string
  /** An administrator of the domain, for its directory. */
  adminEmail: string | null
}

/** Never log them. */
interface GoogleTenantSecrets {
  /** PEM. */
  privateKey: string
}

export type TenantCredentialsOf<Provider extends TenantProviderName> = Extract<
  TenantCredentials,
  { provider: Provider }
>

/** What an organisation gave its application for all of its mailboxes. Holds secrets: never log it, never keep it longer than the call. */
export type TenantCredentials =
  | { provider: 'microsoft'; settings: MicrosoftTenantSettings; secrets: MicrosoftTenantSecrets }
  | { provider: 'gmail'; settings: GoogleTenantSettings; secrets: GoogleTenantSecrets }

export type TenantProviderName = 'microsoft' | 'gmail'

/** What a token of a tenant opens. */
export type TokenPurpose = MailboxPurpose | 'directory'

interface MailboxPurpose {
  /** Its address. */
  mailbox: string
  /** The provider's id of its user, where it is known. */
  userId?: string
}

/** An access token of an application. */
export interface AppToken {
  accessToken: string
  /** Milliseconds. */
  expiresAt: number
}

/** Reads the directory of a tenant with its own token. */
export interface DirectoryAccess {
  /** Identifies the connection, for limits of the rate. */
  connectionId: string
  /** As in `MailAccess`. */
  accessToken(refused?: string): Promise<string>
}

export interface DirectoryUser {
  /** The provider's id of the user. */
  id: string
  email: string
  name: string
}

export interface DirectoryPage {
  users: DirectoryUser[]
  /** Continues the list. Null at its end. */
  next: string | null
}

export interface DirectoryQuery {
  /** The beginning of a name or an address. */
  q: string | undefined
  limit: number
  /** `next` of the page before. A caller may have forged it. */
  next: string | undefined
}

/**
 * The mailboxes of a whole organisation, opened with the credentials of an application in place of each user's consent. Methods take at
 * most 20 s and throw `ProviderError`: `auth_expired` when the provider refuses the credentials, with a message that says why and what
 * to do; `rejected` with `missingScope` when the application has no permission for the directory.
 */
export interface TenantProvider<Provider extends TenantProviderName = TenantProviderName> {
  /** False: one token opens every mailbox, and the directory. */
  readonly hasTokenPerMailbox: boolean
  /** How a mailbox is reached with a token. `user` is the id or the address of its user. */
  mailboxSettings(user: string, settings: TenantCredentialsOf<Provider>['settings']): MailSettings
  /** Adds to the settings what identifies the mailbox, as far as its folders show it. */
  identifiedBy(settings: MailSettings, folders: readonly RemoteFolder[]): MailSettings
  /** Requests a token for nobody in particular. Throws `auth_expired` when the provider refuses the credentials. */
  verify(credentials: TenantCredentialsOf<Provider>): Promise<void>
  requestToken(credentials: TenantCredentialsOf<Provider>, purpose: TokenPurpose): Promise<AppToken>
  listUsers(access: DirectoryAccess, query: DirectoryQuery): Promise<DirectoryPage>
  /** The user with this address or id. Undefined when the directory has none. */
  findUser(access: DirectoryAccess, emailOrId: string): Promise<DirectoryUser | undefined>
}
