import type { Account } from '../accounts/index.ts'

/**
 * How the mails of one account are brought forward; one implementation per way a provider names its mails. What is to be done
 * outlives sessions, and everything but `open` and `sync` may be called at any moment.
 */
export interface AccountWork {
  /** Whether a failure is about what is asked, not about reaching the provider. */
  readonly isOpen: boolean
  /** Whether a limit is the account's own: then it is left alone until the limit is over, whoever wakes it. */
  readonly waitsOutRateLimits: boolean
  /** Which credentials were tried last. */
  readonly triedAccessVersion: number | undefined
  /** False while some folder could not be read in the last look at everything. */
  readonly isInSync: boolean
  /** Credentials may have been replaced: look before the next use. */
  accessChanged(): void
  /** The next run looks at everything. */
  requestFullSync(): void
  /** Makes ready what the run needs. Throws `ProviderError`. */
  open(account: Account, signal: AbortSignal): Promise<void>
  /** Stores what changed; answers whether everything was looked at. Throws `ProviderError` and `OwnershipLost`. */
  sync(account: Account, signal: AbortSignal): Promise<boolean>
  /** When to come back after a run that ended well, if nothing happens before. */
  nextRunInMs(account: Account): number
  /** Ends what stands open; `open` begins anew. */
  close(): Promise<void>
}
