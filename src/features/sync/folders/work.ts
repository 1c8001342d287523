import { type FolderMailProvider, ProviderError } from '../../../providers/contract/index.ts'
import type { Account } from '../../accounts/index.ts'
import type { OwnedAccount, SyncDeps, SyncTiming } from '../deps.ts'
import type { AccountWork } from '../work.ts'
import { AccountFolders, type OpenMailbox } from './account-folders.ts'

interface Open extends OpenMailbox {
  accessVersion: number
}

/**
 * Mailboxes of folders, over a standing session that tells what happens: imap.
 *
 *   open ──► every minute: list folders, STATUS each ──► sync what changed ──► delete what stayed away ──► watch
 *     ▲                                                         ▲
 *   onClose                                                  onChange
 */
export class FolderWork implements AccountWork {
  readonly waitsOutRateLimits = false
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #account: Omit<OwnedAccount, 'provider'>
  readonly #mail: FolderMailProvider
  readonly #folders: AccountFolders
  readonly #onNews: () => void
  #open: Open | undefined
  #accessChanged = false
  #triedAccessVersion: number | undefined
  /** Why the last connection ended, when a pause shall follow. */
  #pause: ProviderError | undefined

  /** `onNews` is called when something happened that a run should look at. */
  constructor(
    deps: SyncDeps,
    timing: SyncTiming,
    account: Omit<OwnedAccount, 'provider'>,
    mail: FolderMailProvider,
    onNews: () => void,
  ) {
    this.#deps = deps
    this.#timing = timing
    this.#account = account
    this.#mail = mail
    this.#onNews = onNews
    this.#folders = new AccountFolders(deps, timing, account.accountId)
  }

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  get triedAccessVersion(): number | undefined {
    return this.#triedAccessVersion
  }

  get isInSync(): boolean {
    return this.#folders.areInSync
  }

  accessChanged(): void {
    this.#accessChanged = true
    this.#pause = undefined
  }

  requestFullSync(): void {
    this.#folders.requestFullSync()
  }

  async open(account: Account, signal: AbortSignal): Promise<void> {
    if (this.#open !== undefined && !this.#accessChanged) return
    this.#accessChanged = false
    this.#throwPause()
    const { accountId } = this.#account
    const access = await this.#deps.accounts.access(accountId)
    this.#triedAccessVersion = access.accessVersion
    if (this.#open?.accessVersion === access.accessVersion) return
    if (this.#open !== undefined) {
      await this.close()
      await this.#mail.closeConnections(accountId)
    }
    this.requestFullSync()
    // The session may call back before it is returned, and an old one after it was replaced.
    let current = true
    const session = await this.#mail.openSession(
      access,
      {
        onChange: (path) => {
          if (current) this.#somethingHappened(path)
        },
        onClose: (error) => {
          if (!current) return
          current = false
          this.#lost(error)
          if (this.#open?.session === session) this.#open = undefined
          this.#somethingHappened(undefined)
        },
      },
      signal,
    )
    const mailbox = access.settings.imap?.mailbox ?? 'INBOX'
    const context = { ...this.#account, provider: account.provider, mailbox }
    const isOpen = () => this.#open?.session === session
    if (signal.aborted || !current) {
      await session.close()
      throw new ProviderError('unavailable', 'the connection ended before it was used')
    }
    this.#open = { session, mail: this.#mail, accessVersion: access.accessVersion, context, isOpen }
  }

  /** A provider that asks for a pause gets one before the next connection; any other loss is repaired at once. */
  #lost(error: ProviderError | undefined): void {
    if (error?.retryAfterMs === undefined) return
    this.#pause = error
    const { accountId } = this.#account
    this.#deps.log.warn(`The mail account pauses: ${error.message}.`, { accountId, operation: 'sync.account', error })
  }

  #throwPause(): void {
    const pause = this.#pause
    this.#pause = undefined
    if (pause !== undefined) throw pause
  }

  async sync(account: Account, signal: AbortSignal): Promise<boolean> {
    const open = this.#open
    if (open === undefined) throw new ProviderError('unavailable', 'the connection ended before it was used')
    const everything = this.#folders.isLookDue
    if (everything) await this.#folders.look(open, signal)
    const { own } = this.#folders
    // Before the first reading, so that what arrives during it is told.
    if (account.watch && own !== undefined) await open.session.watch(own.providerId)
    await this.#folders.syncFolders(open, signal)
    return everything
  }

  nextRunInMs({ watch }: Account): number {
    if (this.#folders.hasChanges) return 0
    return watch ? this.#folders.nextLookInMs : this.#timing.pollMs
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.session.close()
  }

  #somethingHappened(path: string | undefined): void {
    if (path === undefined) this.requestFullSync()
    else this.#folders.changed(path)
    this.#onNews()
  }
}
