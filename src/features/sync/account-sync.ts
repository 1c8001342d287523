import type { Tx } from '../../infra/db/index.ts'
import { AppError } from '../../lib/errors.ts'
import { type MailProvider, ProviderError } from '../../providers/contract/index.ts'
import { type Account, OwnershipLost, type WorkStatus } from '../accounts/index.ts'
import { cursorStore } from './cursor-store.ts'
import { DEFAULT_TIMING, type SyncDeps, type SyncTiming, syncLane } from './deps.ts'
import { FolderWork } from './folder-work.ts'
import type { Hosts } from './hosts.ts'
import { MailboxWork } from './mailbox-work.ts'
import type { Work } from './work.ts'

/**
 * One account while this process owns it: its status, what went wrong, and when it is its turn; how its mails are brought forward
 * is its `Work`. `run` is called by one job at a time; `close` at any moment, and then nothing more is written.
 */
export class AccountSync {
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #accountId: string
  readonly #epoch: number
  readonly #closed = new AbortController()
  readonly #hosts: Hosts
  #host: string | undefined
  #work: Work | undefined
  #failures = 0
  /** Monotonic; the provider asked to be left alone until then, whoever wakes us. */
  #restUntil = Number.NEGATIVE_INFINITY
  /** Whether all that happened so far is part of an announcement. */
  #isTold = true
  #isAnnouncing = false

  constructor(deps: SyncDeps, hosts: Hosts, accountId: string, epoch: number) {
    this.#hosts = hosts
    this.#deps = deps
    this.#timing = { ...DEFAULT_TIMING, ...deps.timing }
    this.#accountId = accountId
    this.#epoch = epoch
  }

  get epoch(): number {
    return this.#epoch
  }

  /** The account was paused, resumed, watched otherwise or given new credentials. */
  accountChanged(): void {
    this.#work?.accessChanged()
    this.#host = undefined
    this.lookEverywhere()
  }

  /** The next run looks at everything. */
  lookEverywhere(): void {
    this.#work?.lookEverywhere()
  }

  /** Somebody wants it tried now, whatever the provider said. */
  retry(): void {
    this.#restUntil = Number.NEGATIVE_INFINITY
    this.lookEverywhere()
  }

  /** Ends what stands open at once; a run under way fails at its next step. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the account is no longer worked on here'))
    await this.#work?.hangUp()
  }

  /** Brings the account forward. Throws what the queue shall try again after a backoff. */
  async run(jobSignal: AbortSignal): Promise<undefined | { nextRunInMs: number }> {
    const signal = AbortSignal.any([jobSignal, this.#closed.signal])
    try {
      const account = await this.#deps.accounts.get(this.#accountId)
      const mail = this.#deps.mail(account.provider)
      if (account.paused || account.status === 'auth_error' || mail === undefined) {
        await this.#work?.hangUp()
        await mail?.closeConnections(this.#accountId)
        return undefined
      }
      const restMs = this.#restUntil - this.#deps.clock.monotonic()
      if (restMs > 0) return { nextRunInMs: restMs }
      this.#work ??= this.#workOf(mail)
      return await this.#admitted(account, this.#work, signal)
    } catch (error) {
      this.lookEverywhere()
      if (!signal.aborted && !isNoLongerOurs(error)) return this.#failed(error)
      await this.#work?.hangUp()
      return undefined
    }
  }

  #workOf(mail: MailProvider): Work {
    const account = { accountId: this.#accountId, epoch: this.#epoch }
    return mail.kind === 'folders'
      ? new FolderWork(this.#deps, this.#timing, account, mail, () => this.#somethingHappened())
      : new MailboxWork(this.#deps, this.#timing, account, mail)
  }

  /** When the host of the account lets one more in, and tells it afterwards how it went. */
  async #admitted(account: Account, work: Work, signal: AbortSignal): Promise<{ nextRunInMs: number }> {
    this.#host ??= await this.#hostOf(account)
    const admission = this.#hosts.enter(this.#host, work.isOpen)
    if (!admission.admitted) {
      if (this.#hosts.failures(this.#host) >= this.#timing.stalledAfter && account.status !== 'error') {
        await this.#write((tx) => this.#setStatus(tx, 'error', 'the mail server cannot be reached'))
      }
      return { nextRunInMs: admission.waitMs }
    }
    try {
      const next = await this.#bringForward(account, work, signal)
      admission.leave('well')
      return next
    } catch (error) {
      const isDown =
        !work.isOpen &&
        error instanceof ProviderError &&
        error.kind === 'unavailable' &&
        error.retryAfterMs === undefined
      admission.leave(isDown && !signal.aborted ? 'down' : 'failed')
      throw error
    }
  }

  async #bringForward(account: Account, work: Work, signal: AbortSignal): Promise<{ nextRunInMs: number }> {
    await work.open(account, signal)
    if (account.status === 'connecting') await this.#write((tx) => this.#setStatus(tx, 'syncing', null))
    const everything = await work.bringForward(account, signal)
    if (everything || account.status !== 'connected') await this.#inStep(account, work)
    this.#failures = 0
    const nextRunInMs = work.nextRunInMs(account)
    if (!account.watch) {
      await work.hangUp()
      this.lookEverywhere()
    }
    return { nextRunInMs }
  }

  async #inStep(account: Account, work: Work): Promise<void> {
    await this.#write(async (tx) => {
      if (work.isInStep) await cursorStore(tx).inStep(this.#accountId, this.#deps.clock.now())
      await this.#deps.accounts.synced(tx, this.#accountId)
      if (account.status !== 'connected') await this.#setStatus(tx, 'connected', null)
    })
  }

  /** Wrong credentials are never tried again by themselves; everything else is, and is told when it lasts. */
  async #failed(error: unknown): Promise<undefined | { nextRunInMs: number }> {
    if (!(error instanceof ProviderError)) throw error
    await this.#work?.hangUp()
    this.#failures += 1
    if (error.kind === 'auth_expired') {
      await this.#write((tx) => this.#setStatus(tx, 'auth_error', error.message, this.#work?.triedAccess))
      return undefined
    }
    if (this.#failures >= this.#timing.stalledAfter) {
      await this.#write((tx) => this.#setStatus(tx, 'error', error.message))
    }
    // A pause of nothing is none: a date that has passed here already is one too, when clocks differ.
    const { retryAfterMs = 0 } = error
    if (retryAfterMs === 0) throw error
    const nextRunInMs = retryAfterMs * (1 + 0.2 * Math.random())
    const isResting = error.kind === 'rate_limited' && this.#work?.keepsRest === true
    if (isResting) this.#restUntil = this.#deps.clock.monotonic() + nextRunInMs
    return { nextRunInMs }
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

  /** Whoever shares this shares its troubles. */
  async #hostOf({ provider }: Account): Promise<string> {
    if (provider !== 'imap') return provider
    const { imap } = (await this.#deps.accounts.access(this.#accountId)).settings
    return imap === undefined ? provider : `${imap.host.toLowerCase()}:${imap.port}`
  }

  #somethingHappened(): void {
    if (this.#closed.signal.aborted) return
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
        const about = { accountId: this.#accountId, operation: 'sync.account' }
        log.warn('A change could not be announced; the next look finds it', { ...about, error })
      })
    }
    this.#isAnnouncing = false
  }
}

/** Taken over by another process, or deleted: before long `close` is called too. */
function isNoLongerOurs(error: unknown): boolean {
  return error instanceof OwnershipLost || (error instanceof AppError && error.code === 'not_found')
}
