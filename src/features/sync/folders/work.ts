import { type FolderMailProvider, ProviderError } from '../../../providers/contract/index.ts'
import type { Account } from '../../accounts/index.ts'
import type { OwnedAccount, SyncDeps, SyncTiming } from '../deps.ts'
import type { AccountWork } from '../work.ts'
import { AccountFolders, type OpenMailbox } from './account-folders.ts'

interface Open extends OpenMailbox {
  accessVersion: number
}

/**
 * Syncs a mailbox that consists of folders (IMAP). A sync connection reports changes between the polls.
 *
 *   open ──► every minute: list folders, STATUS each ──► sync changed folders ──► delete missing messages ──► watch
 *     ▲                                                          ▲
 *   onClose                                                   onChange
 */
export class FolderWork implements AccountWork {
  readonly waitsOutRateLimits = false
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #account: Omit<OwnedAccount, 'provider'>
  readonly #mail: FolderMailProvider
  readonly #folders: AccountFolders
  readonly #onChange: () => void
  #open: Open | undefined
  #accessChanged = false
  #triedAccessVersion: number | undefined
  /** The error that ended the last connection and asked for a pause. The next `open` throws it. */
  #pauseError: ProviderError | undefined

  /** Calls `onChange` when a folder changed or the connection was lost, so that a run should follow. */
  constructor(
    deps: SyncDeps,
    timing: SyncTiming,
    account: Omit<OwnedAccount, 'provider'>,
    mail: FolderMailProvider,
    onChange: () => void,
  ) {
    this.#deps = deps
    this.#timing = timing
    this.#account = account
    this.#mail = mail
    this.#onChange = onChange
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
    this.#pauseError = undefined
  }

  requestFullSync(): void {
    this.#folders.requestFullSync()
  }

  async open(account: Account, signal: AbortSignal): Promise<void> {
    if (this.#open !== undefined && !this.#accessChanged) return
    this.#accessChanged = false
    const pauseError = this.#pauseError
    this.#pauseError = undefined
    if (pauseError !== undefined) throw pauseError
    const { accountId } = this.#account
    const access = await this.#deps.accounts.access(accountId)
    this.#triedAccessVersion = access.accessVersion
    if (this.#open?.accessVersion === access.accessVersion) return
    if (this.#open !== undefined) {
      await this.close()
      await this.#mail.closeConnections(accountId)
    }
    this.requestFullSync()
    // The session may call back before openSession returns, and a previous one after it was replaced.
    let isCurrent = true
    const session = await this.#mail.openSession(
      access,
      {
        onChange: (path) => {
          if (isCurrent) this.#changed(path)
        },
        onClose: (error) => {
          if (!isCurrent) return
          isCurrent = false
          this.#connectionLost(error)
          if (this.#open?.session === session) this.#open = undefined
          this.#changed(undefined)
        },
      },
      signal,
    )
    const mailbox = access.settings.imap?.mailbox ?? 'INBOX'
    const context = { ...this.#account, provider: account.provider, mailbox }
    const isOpen = () => this.#open?.session === session
    if (signal.aborted || !isCurrent) {
      await session.close()
      throw new ProviderError('unavailable', 'the connection ended before it was used')
    }
    this.#open = { session, mail: this.#mail, accessVersion: access.accessVersion, context, isOpen }
  }

  async sync(account: Account, signal: AbortSignal): Promise<boolean> {
    const open = this.#open
    if (open === undefined) throw new ProviderError('unavailable', 'the connection ended before it was used')
    const isFullSync = this.#folders.isFullSyncDue
    if (isFullSync) await this.#folders.checkAll(open, signal)
    const { main } = this.#folders
    // Watches before the folders are read, so that changes made meanwhile are reported.
    if (account.watch && main !== undefined) await open.session.watch(main.providerId)
    await this.#folders.syncChanged(open, signal)
    return isFullSync
  }

  nextRunInMs({ watch }: Account): number {
    if (this.#folders.hasChanges) return 0
    return watch ? this.#folders.nextFullSyncInMs : this.#timing.pollMs
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.session.close()
  }

  /** The next run reconnects at once, unless the server asked for a pause. */
  #connectionLost(error: ProviderError | undefined): void {
    if (error?.retryAfterMs === undefined) return
    this.#pauseError = error
    const { accountId } = this.#account
    this.#deps.log.warn(`The mail account pauses: ${error.message}.`, { accountId, operation: 'sync.account', error })
  }

  /** Without a path, any folder may have changed. */
  #changed(path: string | undefined): void {
    if (path === undefined) this.requestFullSync()
    else this.#folders.changed(path)
    this.#onChange()
  }
}
