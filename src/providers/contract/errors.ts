import type { ConnectionProblem } from '../../platform/errors/connection-problems.ts'

export type ProviderErrorKind =
  | 'auth_expired'
  | 'rate_limited'
  | 'not_found'
  /** Another folder has the name, or an event the id. */
  | 'exists'
  /** The item is no longer the version that the change was based on. */
  | 'conflict'
  | 'unavailable'
  | 'rejected'
  | 'cursor_expired'
  | 'tls'
  /** The server sent more than it may, or took too long for one piece of work. It will probably do so again. */
  | 'limit_exceeded'

/** Why a mail server does not make a change. Each is a code of the error catalogue, except for the name. */
export type Refusal = 'quota_exceeded' | 'folder_read_only' | 'not_permitted' | 'invalid_name'

/** A credential of a tenant, by its name in the API. */
export type TenantCredential =
  | 'tenantId'
  | 'clientId'
  | 'clientSecret'
  | 'certificate'
  | 'serviceAccountKey'
  /** The address of the mailbox, so that other mailboxes are not concerned. */
  | 'email'

interface ProviderErrorOptions {
  /** How long the provider asked us to wait. */
  retryAfterMs?: number
  timedOut?: boolean
  /** The server responds, and refuses for now: too many connections, or an outage behind it. */
  busy?: boolean
  /** imap: the connection or the folder could not be opened, so that no message is at fault. */
  notBegun?: boolean
  /** The server that failed. */
  host?: string | undefined
  /** With `tls` and `auth_expired`: why the server cannot be used, if it or its certificate shows it. */
  problem?: ConnectionProblem | undefined
  /** With `auth_expired`: the mail server refused the access token. A fresh one may work. */
  tokenRefused?: boolean
  /** With `rejected`: the user did not grant the scope that the request needs. */
  missingScope?: boolean
  /** With `missingScope` and `auth_expired`: the token is that of an application. An administrator repairs it, and no user can. */
  isOfApplication?: boolean
  /** With `rejected`: the refresh token was issued to another OAuth client. */
  foreignToken?: boolean
  /** With `rejected`: access to the item is refused (403), whatever the request is. */
  denied?: boolean
  /** With `rejected`: the server refused the password. Sent again and again, it may lock the account. */
  passwordRefused?: boolean
  /** With `rejected`: the provider cannot do this with the event or the calendar. The message says why, and what to do instead. */
  unsupported?: boolean
  /** With `rejected`: why, if the server says so. */
  refusal?: Refusal | undefined
  /** With the refusal `invalid_name`: the server's words, cleaned and shortened, for the person who chose the name. */
  nameProblem?: string | undefined
  /** With `rejected`: a limit of the account was reached, so the same request may succeed in some hours. */
  maySucceedLater?: boolean
  /** With `auth_expired`: the credential of a tenant that is at fault, if the provider says so. */
  credential?: TenantCredential | undefined
  cause?: unknown
}

/** The only error that a provider throws. `message` may be logged and shown: it holds no secrets and no words of the server. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly kind: ProviderErrorKind
  readonly retryAfterMs: number | undefined
  readonly timedOut: boolean
  readonly busy: boolean
  readonly notBegun: boolean
  readonly host: string | undefined
  readonly problem: ConnectionProblem | undefined
  readonly tokenRefused: boolean
  readonly missingScope: boolean
  readonly isOfApplication: boolean
  readonly foreignToken: boolean
  readonly denied: boolean
  readonly passwordRefused: boolean
  readonly unsupported: boolean
  readonly refusal: Refusal | undefined
  readonly nameProblem: string | undefined
  readonly maySucceedLater: boolean
  readonly credential: TenantCredential | undefined

  constructor(kind: ProviderErrorKind, message: string, options: ProviderErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.retryAfterMs = options.retryAfterMs
    this.timedOut = options.timedOut ?? false
    this.busy = options.busy ?? false
    this.notBegun = options.notBegun ?? false
    this.host = options.host
    this.problem = options.problem
    this.tokenRefused = options.tokenRefused ?? false
    this.missingScope = options.missingScope ?? false
    this.isOfApplication = options.isOfApplication ?? false
    this.foreignToken = options.foreignToken ?? false
    this.denied = options.denied ?? false
    this.passwordRefused = options.passwordRefused ?? false
    this.unsupported = options.unsupported ?? false
    this.refusal = options.refusal
    this.nameProblem = options.nameProblem
    this.maySucceedLater = options.maySucceedLater ?? false
    this.credential = options.credential
  }
}
