import type { Tx } from '../../infra/db/index.ts'
import { AppError } from '../../lib/errors.ts'
import { type MailAccess, type MailProvider, ProviderError } from '../../providers/provider.ts'
import { type Account, OwnershipLost, type WorkStatus } from '../accounts/index.ts'
import { AccountFolders, type OpenMailbox } from './account-folders.ts'
import { cursorStore } from './cursor-store.ts'
import { DEFAULT_TIMING, type SyncDeps, type SyncTiming, syncLane } from './deps.ts'
import type { Hosts } from './hosts.ts'

interface Open extends OpenMailbox {
  accessVersion: number
}

/**
 * One account while this process owns it: its standing session, its status, and when it is its turn. `run` is called by one job
 * at a time; `close` at any moment, and then nothing more is written.
 *
 *   run ──► connect ──► every minute: list folders, STATUS each ──► sync what changed ──► delete what stayed away ──► watch
 *             ▲                                                           ▲
 *   onClose ──┘                                                onChange ──┘
 */
export class AccountSync {
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #accountId: string
  readonly #epoch: number
  readonly #closed = new AbortController()
  readonly #hosts: Hosts
  #host: string | undefined
  #open: Open | undefined
  #accessChanged = false
  /** Which credentials the last connection was tried with. */
  #triedAccess: number | undefined
  readonly #folders: AccountFolders
  #failures = 0
  /** Why the last connection ended, when a pause shall follow. */
  #pause: ProviderError | undefined
  /** Whether all that happened so far is part of an announcement. */
  #isTold = true
  #isAnnouncing = false

  constructor(deps: SyncDeps, hosts: Hosts, accountId: string, epoch: number) {
    this.#hosts = hosts
    this.#deps = deps
    this.#timing = { ...DEFAULT_TIMING, ...deps.timing }
    this.#accountId = accountId
    this.#epoch = epoch
    this.#folders = new AccountFolders(deps, this.#timing, accountId)
  }

  get epoch(): number {
    return this.#epoch
  }

  /** The account was paused, resumed, watched otherwise or given new credentials. */
  accountChanged(): void {
    this.#accessChanged = true
    this.#host = undefined
    this.#pause = undefined
    this.lookEverywhere()
  }

  /** Ends the session at once; a run under way fails at its next step. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the account is no longer worked on here'))
    await this.#hangUp()
  }

  /** Brings the account forward. Throws what the queue shall try again after a backoff. */
  async run(jobSignal: AbortSignal): Promise<undefined | { nextRunInMs: number }> {
    const signal = AbortSignal.any([jobSignal, this.#closed.signal])
    try {
      const account = await this.#deps.accounts.get(this.#accountId)
      const mail = this.#deps.mail(account.provider)
      if (account.paused || account.status === 'auth_error' || mail === undefined) {
        await this.#hangUp()
        await mail?.closeOperations(this.#accountId)
        return undefined
      }
      return await this.#admitted(account, mail, signal)
    } catch (error) {
      this.lookEverywhere()
      if (!signal.aborted && !isNoLongerOurs(error)) return this.#failed(error)
      await this.#hangUp()
      return undefined
    }
  }

  /** When the host of the account lets one more in, and tells it afterwards how it went. */
  async #admitted(account: Account, mail: MailProvider, signal: AbortSignal): Promise<{ nextRunInMs: number }> {
    this.#host ??= hostOf(account, await this.#deps.accounts.access(this.#accountId))
    const admission = this.#hosts.enter(this.#host, this.#open !== undefined)
    if (!admission.admitted) {
      if (this.#hosts.failures(this.#host) >= this.#timing.stalledAfter && account.status !== 'error') {
        await this.#write((tx) => this.#setStatus(tx, 'error', 'the mail server cannot be reached'))
      }
      return { nextRunInMs: admission.waitMs }
    }
    try {
      const next = await this.#bringForward(account, mail, signal)
      admission.leave('well')
      return next
    } catch (error) {
      const isDown =
        this.#open === undefined &&
        error instanceof ProviderError &&
        error.kind === 'unavailable' &&
        error.retryAfterMs === undefined
      admission.leave(isDown && !signal.aborted ? 'down' : 'failed')
      throw error
    }
  }

  async #bringForward(account: Account, mail: MailProvider, signal: AbortSignal): Promise<{ nextRunInMs: number }> {
    const open = await this.#connected(account, mail, signal)
    if (account.status === 'connecting') await this.#write((tx) => this.#setStatus(tx, 'syncing', null))
    const everything = this.#folders.isLookDue
    if (everything) await this.#folders.look(open, signal)
    const { own } = this.#folders
    // Before the first reading, so that what arrives during it is told.
    if (account.watch && own !== undefined) await open.session.watch(own.providerId)
    await this.#folders.bringInStep(open, signal)
    if (everything || account.status !== 'connected') await this.#inStep(account)
    this.#failures = 0
    if (!account.watch) {
      await this.#hangUp()
      this.lookEverywhere()
    }
    if (this.#folders.hasChanges) return { nextRunInMs: 0 }
    return { nextRunInMs: account.watch ? this.#folders.nextLookInMs : this.#timing.pollMs }
  }

  async #connected(account: Account, mail: MailProvider, signal: AbortSignal): Promise<Open> {
    if (this.#open !== undefined && !this.#accessChanged) return this.#open
    this.#accessChanged = false
    this.#throwPause()
    const access = await this.#deps.accounts.access(this.#accountId)
    this.#triedAccess = access.accessVersion
    if (this.#open?.accessVersion === access.accessVersion) return this.#open
    if (this.#open !== undefined) {
      await this.#hangUp()
      await mail.closeOperations(this.#accountId)
    }
    this.lookEverywhere()
    // The session may call back before it is returned, and an old one after it was replaced.
    let current = true
    const session = await mail.openSession(
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
    const { accessVersion } = access
    const mailbox = access.settings.imap?.mailbox ?? 'INBOX'
    const context = { accountId: this.#accountId, epoch: this.#epoch, provider: account.provider, mailbox }
    const isOpen = () => this.#open?.session === session
    const open = { session, mail, accessVersion, context, isOpen }
    if (signal.aborted || !current) {
      await session.close()
      throw new ProviderError('unavailable', 'the connection ended before it was used')
    }
    this.#open = open
    return open
  }

  /** A provider that asks for a pause gets one before the next connection; any other loss is repaired at once. */
  #lost(error: ProviderError | undefined): void {
    if (error?.retryAfterMs === undefined) return
    this.#pause = error
    this.#deps.log.warn(`The mail account pauses: ${error.message}.`, { ...this.#about(undefined), error })
  }

  #throwPause(): void {
    const pause = this.#pause
    this.#pause = undefined
    if (pause !== undefined) throw pause
  }

  async #inStep(account: Account): Promise<void> {
    await this.#write(async (tx) => {
      if (this.#folders.areInStep) await cursorStore(tx).inStep(this.#accountId, this.#deps.clock.now())
      await this.#deps.accounts.synced(tx, this.#accountId)
      if (account.status !== 'connected') await this.#setStatus(tx, 'connected', null)
    })
  }

  /** Wrong credentials are never tried again by themselves; everything else is, and is told when it lasts. */
  async #failed(error: unknown): Promise<undefined | { nextRunInMs: number }> {
    if (!(error instanceof ProviderError)) throw error
    await this.#hangUp()
    this.#failures += 1
    if (error.kind === 'auth_expired') {
      await this.#write((tx) => this.#setStatus(tx, 'auth_error', error.message, this.#triedAccess))
      return undefined
    }
    if (this.#failures >= this.#timing.stalledAfter) {
      await this.#write((tx) => this.#setStatus(tx, 'error', error.message))
    }
    if (error.retryAfterMs === undefined) throw error
    return { nextRunInMs: error.retryAfterMs * (1 + 0.2 * Math.random()) }
  }

  async #write(work: (tx: Tx) => Promise<void>): Promise<void> {
    await this.#deps.db.transaction(async (tx) => {
      await this.#deps.fence(tx, this.#accountId, this.#epoch)
      await work(tx)
    })
  }

  #setStatus(tx: Tx, status: WorkStatus, reason: string | null, accessVersion?: number): Promise<void> {
    return this.#deps.accounts.setStatus(tx, this.#accountId, status, reason, accessVersion)
  }

  #somethingHappened(path: string | undefined): void {
    if (this.#closed.signal.aborted) return
    if (path === undefined) this.lookEverywhere()
    else this.#folders.changed(path)
    this.#isTold = false
    if (!this.#isAnnouncing) void this.#announce()
  }

  /** One announcement at a time: of a mail program that empties a folder thousands of changes are heard in a second. */
  async #announce(): Promise<void> {
    const { queue, ownership, log } = this.#deps
    this.#isAnnouncing = true
    while (!this.#isTold && !this.#closed.signal.aborted) {
      this.#isTold = true
      await queue.add(syncLane(ownership.instanceId), this.#accountId).catch((error: unknown) => {
        log.warn('A change could not be announced; the next look finds it', { ...this.#about(undefined), error })
      })
    }
    this.#isAnnouncing = false
  }

  /** The next run looks at every folder. */
  lookEverywhere(): void {
    this.#folders.lookEverywhere()
  }

  async #hangUp(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.session.close()
  }

  #about(provider: string | undefined) {
    return { accountId: this.#accountId, provider, operation: 'sync.account' }
  }
}

/** Whoever shares this shares its troubles. */
function hostOf({ provider }: Account, { settings: { imap } }: MailAccess): string {
  return imap === undefined ? provider : `${imap.host.toLowerCase()}:${imap.port}`
}

/** Taken over by another process, or deleted: before long `close` is called too. */
function isNoLongerOurs(error: unknown): boolean {
  return error instanceof OwnershipLost || (error instanceof AppError && error.code === 'not_found')
}
