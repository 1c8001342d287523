import type { Tx } from '../../infra/db/index.ts'
import { AppError } from '../../lib/errors.ts'
import {
  type FolderStep,
  type MailAccess,
  type MailProvider,
  type MailSession,
  ProviderError,
} from '../../providers/provider.ts'
import { type Account, OwnershipLost, type WorkStatus } from '../accounts/index.ts'
import { type LabelRow, labelStore } from '../labels/index.ts'
import { messageStore } from '../messages/index.ts'
import { cursorStore } from './cursor-store.ts'
import { DEFAULT_TIMING, type SyncDeps, type SyncTiming, syncLane } from './deps.ts'
import { eventBodies } from './event-bodies.ts'
import { planFolders } from './folder-plan.ts'
import { syncFolder } from './folder-sync.ts'
import { type FoldersContext, storeFolders } from './folders.ts'
import { deleteGone, forgetFolder } from './gone.ts'
import type { Hosts } from './hosts.ts'
import { recogniseRenames } from './rename.ts'

/** Looks at what changed while it was looked at; then others get their turn first. */
const MAX_ROUNDS = 10
const SETTLE_ROUNDS = 3
/** A folder was listed and is gone: look again, but not in a loop if the server contradicts itself. */
const VANISHED_MS = 5_000

interface Open {
  session: MailSession
  mail: MailProvider
  accessVersion: number
  context: FoldersContext
}

/**
 * One account while this process owns it: its standing session, and what is to be looked at. `run` is called by one job
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
  /** Paths of folders in which something happened. */
  #dirty = new Set<string>()
  /** Monotonic; when every folder is to be looked at again. */
  #pollAt = Number.NEGATIVE_INFINITY
  /** The folders kept in step, the account's own first. */
  #folders: LabelRow[] = []
  /** Folders that could not be brought in step since the last look at everything. */
  readonly #behind = new Set<string>()
  #failures = 0
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
    this.#accessChanged = true
    this.#host = undefined
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
      const isDown = this.#open === undefined && error instanceof ProviderError && error.kind === 'unavailable'
      admission.leave(isDown && !signal.aborted ? 'down' : 'failed')
      throw error
    }
  }

  async #bringForward(account: Account, mail: MailProvider, signal: AbortSignal): Promise<{ nextRunInMs: number }> {
    const open = await this.#connected(account, mail, signal)
    if (account.status === 'connecting') await this.#write((tx) => this.#setStatus(tx, 'syncing', null))
    const everything = this.#now() >= this.#pollAt
    if (everything) await this.#lookAtFolders(open, signal)
    const [own] = this.#folders
    // Before the first reading, so that what arrives during it is told.
    if (account.watch && own !== undefined) await open.session.watch(own.providerId)
    await this.#syncChanged(open, signal)
    await this.#settle(open, signal)
    if (everything || account.status !== 'connected') await this.#inStep(account)
    this.#failures = 0
    if (!account.watch) {
      await this.#hangUp()
      this.lookEverywhere()
    }
    const pollInMs = account.watch ? this.#pollAt - this.#now() : this.#timing.pollMs
    return { nextRunInMs: this.#dirty.size > 0 ? 0 : Math.max(0, pollInMs) }
  }

  async #connected(account: Account, mail: MailProvider, signal: AbortSignal): Promise<Open> {
    if (this.#open !== undefined && !this.#accessChanged) return this.#open
    this.#accessChanged = false
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
        onClose: () => {
          if (!current) return
          current = false
          if (this.#open?.session === session) this.#open = undefined
          this.#somethingHappened(undefined)
        },
      },
      signal,
    )
    const { accessVersion } = access
    const mailbox = access.settings.imap?.mailbox ?? 'INBOX'
    const context = { accountId: this.#accountId, epoch: this.#epoch, provider: account.provider, mailbox }
    const open = { session, mail, accessVersion, context }
    if (signal.aborted || !current) {
      await session.close()
      throw new ProviderError('unavailable', 'the connection ended before it was used')
    }
    this.#open = open
    return open
  }

  /** Folders as they are now: new, renamed and vanished ones; then those in which something changed. */
  async #lookAtFolders({ session, context }: Open, signal: AbortSignal): Promise<void> {
    const pollAt = this.#now() + this.#timing.pollMs * (0.9 + 0.2 * Math.random())
    this.#behind.clear()
    const folders = await session.listFolders()
    // Every mailbox has an INBOX: an empty list is a server in trouble, not a mailbox without mail.
    if (folders.length === 0) throw new ProviderError('unavailable', 'the server listed no folders')
    const labels = labelStore(this.#deps.db.read)
    const named = planFolders(await labels.all(this.#accountId), folders)
    const plan = await recogniseRenames(this.#deps, session, named, signal)
    await storeFolders(this.#deps, context, plan)
    for (const label of plan.vanished) await forgetFolder(this.#deps, context, label)
    const kept = (await labels.all(this.#accountId)).filter((label) => label.syncedAs !== null)
    this.#folders = kept.sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)))
    for (const path of await this.#changedFolders(session)) this.#dirty.add(path)
    this.#pollAt = pollAt
    if (this.#folders[0] === undefined || !isOwn(this.#folders[0])) {
      throw new ProviderError('not_found', `there is no folder "${context.mailbox}" on the server`)
    }
  }

  async #changedFolders(session: MailSession): Promise<string[]> {
    const cursors = await cursorStore(this.#deps.db.read).all(this.#accountId)
    const asked = this.#folders.map((label) => ({
      path: label.providerId,
      cursor: cursors.get(label.id)?.cursor ?? null,
    }))
    const unfinished = this.#folders.filter((label) => {
      const position = cursors.get(label.id)
      return position === undefined || position.cursor === null || position.announceAfter !== null
    })
    return [...(await session.changedFolders(asked)), ...unfinished.map((label) => label.providerId)]
  }

  async #syncChanged(open: Open, signal: AbortSignal): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS && this.#dirty.size > 0; round += 1) {
      const dirty = this.#dirty
      this.#dirty = new Set()
      for (const label of this.#folders) {
        if (dirty.has(label.providerId)) await this.#syncOne(open, label, signal)
      }
    }
  }

  async #syncOne({ session, mail, context }: Open, label: LabelRow, signal: AbortSignal): Promise<void> {
    const bodies = (step: FolderStep) => eventBodies(this.#deps, mail, this.#accountId, label, step)
    try {
      const isThere = await syncFolder(this.#deps, { ...context, session, label, bodies, signal })
      this.#behind.delete(label.id)
      if (!isThere) this.#pollAt = Math.min(this.#pollAt, this.#now() + VANISHED_MS)
    } catch (error) {
      // A folder that the server will not open, or has no second connection for, must not keep the others from their mail.
      const isOver = this.#open === undefined || signal.aborted || isOwn(label)
      if (isOver || !(error instanceof ProviderError) || error.kind === 'auth_expired') throw error
      this.#behind.add(label.id)
      this.#deps.log.warn('A folder cannot be brought in step; the others go on', {
        ...this.#about(context.provider),
        error,
        metadata: { labelId: label.id },
      })
    }
  }

  /** Rows that vanished are deleted once a look at every folder, begun afterwards, has not found them elsewhere. */
  async #settle(open: Open, signal: AbortSignal): Promise<void> {
    const store = messageStore(this.#deps.db.read)
    for (let round = 0; round < SETTLE_ROUNDS; round += 1) {
      const begunAt = this.#deps.clock.now()
      if ((await store.gone(this.#accountId, Number.MAX_SAFE_INTEGER, 1)).length === 0) return
      await this.#lookAtFolders(open, signal)
      await this.#syncChanged(open, signal)
      if (this.#behind.size > 0) return
      if (await this.#stillThere(open.session)) await deleteGone(this.#deps, open.context, begunAt)
    }
  }

  /** A folder that was renamed while the others were looked at may hold what they miss. */
  async #stillThere(session: MailSession): Promise<boolean> {
    const paths = new Set((await session.listFolders()).map((folder) => folder.path))
    return this.#folders.every((label) => paths.has(label.providerId))
  }

  async #inStep(account: Account): Promise<void> {
    await this.#write(async (tx) => {
      if (this.#behind.size === 0) await cursorStore(tx).inStep(this.#accountId, this.#deps.clock.now())
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
    else this.#dirty.add(path)
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
    this.#pollAt = Number.NEGATIVE_INFINITY
  }

  async #hangUp(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.session.close()
  }

  #now(): number {
    return this.#deps.clock.monotonic()
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

function isOwn(label: LabelRow): boolean {
  return label.syncedAs?.startsWith('main:') === true
}
