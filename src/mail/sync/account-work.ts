import type { Account } from '../../accounts/index.ts'
import type { ProviderError } from '../../providers/contract/index.ts'

/** `idle` and `push`: the server reports changes within moments. `poll`: the service asks for them. */
export type Watch = 'idle' | 'push' | 'poll'

/**
 * Syncs the messages of one account. There is one implementation per kind of mailbox: `folders/` (IMAP) and `id-mailbox/` (Gmail and
 * Microsoft, whose messages have ids). Pending work survives `close`. `open` and `sync` are never called concurrently; everything
 * else may be called at any moment.
 */
export interface AccountWork {
  /** Whether the session is open. A failure is then about a request, not about reaching the provider. */
  readonly isOpen: boolean
  /** How the account learns of changes now. Undefined while its session is not open, and before it is watched. */
  readonly watch: Watch | undefined
  /** Whether a pause that the provider asks for applies to the account, so that no run may start before it ends. */
  readonly waitsOutPauses: boolean
  /** Whether a server may refuse valid credentials, so that a refused login is repeated. */
  readonly repeatsRefusedLogins: boolean
  /** Version of the credentials used last. */
  readonly triedAccessVersion: number | undefined
  /** False when a folder could not be read since the last full sync began. */
  readonly isInSync: boolean
  /** Why the folder that the account is for, its inbox as a rule, cannot be read, although others can. */
  readonly failure: ProviderError | undefined
  /** The credentials may have changed: `open` reads them again. */
  accessChanged(): void
  /** Makes the next `sync` check every folder. */
  requestFullSync(): void
  /** Lets the next requests be sent at once, whatever pause the provider asked for. */
  endPause(): void
  /** The next `open` connects anew, where there is a connection: the present one may be dead. */
  reconnect(): void
  /** Closes the connection if a sync in progress receives nothing for some seconds; the sync then fails. */
  closeIfSilent(signal: AbortSignal): Promise<void>
  /** Opens the session unless it is open. Throws `ProviderError`. */
  open(account: Account, signal: AbortSignal): Promise<void>
  /** Stores what changed. Returns whether it checked every folder. Throws `ProviderError` and `OwnershipLost`. */
  sync(account: Account, signal: AbortSignal): Promise<boolean>
  /** Delay of the next poll after a successful run. */
  nextRunInMs(account: Account): number
  /** Closes the session. `open` may be called again. */
  close(): Promise<void>
}
