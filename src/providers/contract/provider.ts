import type { ConnectTarget } from '../../platform/net/index.ts'
import type { CalendarProvider } from './calendar.ts'
import type { ContactsProvider } from './contacts.ts'
import type { FolderMailProvider } from './folder-mailbox.ts'
import type { IdMailProvider } from './id-mailbox.ts'
import type { LoginProvider } from './login.ts'
import type { RemoteFolder } from './message.ts'
import type { PushProvider } from './push.ts'

/** In the order in which they are shown. */
export const PROVIDER_NAMES = ['gmail', 'microsoft', 'imap'] as const

export type ProviderName = (typeof PROVIDER_NAMES)[number]

/**
 * One kind of mailbox. A provider knows no database and no routes: it receives a `MailAccess`, returns this folder's types,
 * and fails with `ProviderError` only. Only its `map.ts`, and the files beside one, know both vocabularies.
 */
export interface Provider {
  readonly name: ProviderName
  readonly mail: MailProvider
  /** Absent for providers with password login. */
  readonly login?: LoginProvider
  readonly push?: PushProvider
  readonly calendar?: CalendarProvider
  readonly contacts?: ContactsProvider
}

export type MailProvider = FolderMailProvider | IdMailProvider

/** Members that both kinds of mail provider share. */
export interface MailProviderBase {
  /**
   * Connects, logs in, checks that the mailbox can be read, and disconnects. Throws `ProviderError`. At most 10 s. With
   * `keepConnection`, a provider with connections keeps this one for five seconds: `openSession` with the same settings and password uses it.
   */
  verify(
    access: MailAccess,
    signal: AbortSignal,
    options?: { keepConnection?: boolean },
  ): Promise<{ folders: RemoteFolder[] }>
  /**
   * Closes the request connections of an account (paused, deleted, password changed), or of all accounts. Requests in
   * progress fail; later ones connect again.
   */
  closeConnections(accountId?: string): Promise<void>
}

/** Everything needed to reach one mailbox. Holds plain secrets: never log it, never keep it longer than the call. */
export interface MailAccess {
  accountId: string
  email: string
  settings: MailSettings
  secrets: MailSecrets
  /**
   * Accounts that signed in by OAuth only: returns a token that is valid for at least a minute, refreshed and stored once for all replicas
   * when needed. `refused` is a token that the provider has just refused. Throws `ProviderError`: `auth_expired` when only a
   * new consent can help, else a temporary kind.
   */
  accessToken?(refused?: string): Promise<string>
  /** The token belongs to an application, so an administrator has to change what it may open. */
  isApplication?: boolean
}

/** Checks the settings and the password for a server beside the mail server. */
export interface ServerCheck {
  /** Signs in with what the user entered, completed with derived settings, and disconnects. Rejects with `ProviderError`. */
  verify(access: MailAccess, signal: AbortSignal): Promise<void>
}

/** How to reach a mailbox. */
export interface MailSettings {
  /** microsoft: the mailbox belongs to another user than the access token, or the token to an application. */
  graph?: GraphSettings
  /** gmail: the token belongs to a service account. */
  google?: GoogleSettings
  /** The user signed in by OAuth, so that access tokens take the place of the password. */
  oauth?: {
    /** Its name in OAUTH_PROVIDERS. */
    provider: string
  }
  imap?: ImapSettings
  /** The user's settings for sending. The rest is derived from the IMAP settings and probed at the first send. */
  smtp?: Partial<SmtpSettings>
  caldav?: CaldavSettings
  /** Absent: the contacts are beside the calendars. */
  carddav?: CaldavSettings
}

interface GraphSettings {
  /** The id or the address of the mailbox's user at Graph. */
  user: string
  /** The id of the inbox. Where the user is known by an address, another inbox means that the address has another owner. */
  inbox?: string
}

interface GoogleSettings {
  /** The domain of the service account's address, which names the Google project that requests count against. */
  project: string
}

export interface ImapSettings extends ConnectTarget {
  username: string
  /** `tls` from the first byte, or `starttls` on a plain port. */
  security: 'tls' | 'starttls'
  /** The user chose not to require TLS: with `starttls`, plain text is used where STARTTLS is missing and PRIVATE_TARGETS allows it. */
  allowPlain?: boolean
  allowSelfSigned: boolean
  /** Path of the folder to sync. */
  mailbox: string
}

export interface SmtpSettings extends ConnectTarget {
  username: string
  security: 'tls' | 'starttls'
  /** As in `ImapSettings`. */
  allowPlain?: boolean
}

export interface CaldavSettings {
  url: string
  /** Defaults to the IMAP username. */
  username?: string
}

export interface MailSecrets {
  password?: string
  /** Defaults to `password`. */
  smtpPassword?: string
  caldavPassword?: string
}
