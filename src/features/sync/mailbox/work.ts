import {
  ENTIRE_MAILBOX,
  type IdMailProvider,
  type MailAccess,
  type MailboxSession,
  type MailboxStep,
  ProviderError,
} from '../../../providers/contract/index.ts'
import type { Account } from '../../accounts/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import { messageStore } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps, SyncTiming } from '../deps.ts'
import { mailboxBodies } from '../event-bodies.ts'
import { planFolders, storeFolders } from '../folder-listing.ts'
import { deleteFolder, deleteMissing } from '../folders/deletion.ts'
import { type CursorRow, cursorStore } from '../store.ts'
import type { AccountWork } from '../work.ts'
import { forgetLabel } from './deletion.ts'
import { positionOf } from './step.ts'
import { syncScope } from './sync.ts'

interface Open {
  session: MailboxSession
  access: MailAccess & { accessVersion: number }
  context: OwnedAccount
}

/** Even one who wakes us again and again gets the labels listed no more often. */
const LISTING_GAP_MS = 10_000
/** A folder was listed and is gone: look again, but not in a loop if the provider contradicts itself. */
const VANISHED_MS = 5_000

/**
 * Mailboxes whose mails have ids of their own, asked now and then over plain requests: gmail (one scope), microsoft (one per folder).
 *
 *   list folders ──► each scope that changed ──► delete what vanished before the last run and turned up in no scope
 */
export class MailboxWork implements AccountWork {
  /** Nothing stands open: every failure is about what is asked. */
  readonly isOpen = true
  readonly waitsOutRateLimits = true
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #account: Omit<OwnedAccount, 'provider'>
  readonly #mail: IdMailProvider
  #open: Open | undefined
  #accessChanged = false
  #triedAccessVersion: number | undefined
  /** Every label of the last listing, by the provider's id. */
  #labels: ReadonlyMap<string, LabelRow> = new Map()
  #scopes: readonly string[] = []
  /** Monotonic. */
  #listedAt = Number.NEGATIVE_INFINITY
  #isListingWanted = false
  /** What mails named and no listing has shown. */
  readonly #unknown = new Set<string>()
  /** Scopes that could not be brought forward, and those that were gone, in the last run. */
  readonly #behind = new Set<string>()
  readonly #vanished = new Set<string>()
  #hasGone = false
  /** When the last complete look at every folder began; the store knows no infinity. */
  #lookedAt = 0
  /** Folders that vanished, whose mails may still turn up elsewhere. */
  #leaving: readonly LabelRow[] = []

  constructor(deps: SyncDeps, timing: SyncTiming, account: Omit<OwnedAccount, 'provider'>, mail: IdMailProvider) {
    this.#deps = deps
    this.#timing = timing
    this.#account = account
    this.#mail = mail
  }

  get triedAccessVersion(): number | undefined {
    return this.#triedAccessVersion
  }

  get isInSync(): boolean {
    return this.#behind.size === 0
  }

  accessChanged(): void {
    this.#accessChanged = true
  }

  requestFullSync(): void {
    this.#isListingWanted = true
  }

  async open({ provider }: Account): Promise<void> {
    if (this.#open !== undefined && !this.#accessChanged) return
    this.#accessChanged = false
    const access = await this.#deps.accounts.access(this.#account.accountId)
    this.#triedAccessVersion = access.accessVersion
    if (this.#open?.access.accessVersion === access.accessVersion) return
    if (this.#open !== undefined) {
      await this.close()
      await this.#mail.closeConnections(this.#account.accountId)
    }
    this.#open = { session: this.#mail.openSession(access), access, context: { ...this.#account, provider } }
  }

  async sync(_account: Account, signal: AbortSignal): Promise<boolean> {
    const open = this.#open
    if (open === undefined) throw new ProviderError('unavailable', 'the mailbox was closed before it was used')
    const begunAt = this.#deps.clock.now()
    this.#behind.clear()
    this.#vanished.clear()
    if (this.#isListingDue) await this.#list(open)
    const changed = await this.#changedScopes(open, signal)
    for (const scope of this.#scopes) if (changed.has(scope)) await this.#syncOne(open, scope, signal)
    await this.#settle(open, begunAt)
    return true
  }

  nextRunInMs({ watch }: Account): number {
    const pollMs = this.#pollMs(watch)
    const soonMs = Math.min(
      this.#hasGone ? this.#timing.moveGraceMs : pollMs,
      this.#vanished.size > 0 ? VANISHED_MS : pollMs,
    )
    return Math.min(soonMs, pollMs) * (0.9 + 0.2 * Math.random())
  }

  #pollMs(watch: boolean): number {
    if (!watch) return this.#timing.pollMs
    if (this.#deps.push?.isPushed(this.#account.accountId) && this.isInSync) return this.#timing.pushedMs
    return this.#open?.session.pollIntervalMs ?? this.#timing.pollMs
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.session.close()
  }

  get #isWhole(): boolean {
    return this.#scopes.includes(ENTIRE_MAILBOX)
  }

  /** Where each folder is a scope, one that is not known would be one whose mail is missed. */
  get #isListingDue(): boolean {
    const sinceMs = this.#deps.clock.monotonic() - this.#listedAt
    if (!this.#isWhole || sinceMs >= this.#timing.foldersMs) return true
    return this.#isListingWanted && sinceMs >= LISTING_GAP_MS
  }

  /** Labels as they are now: new, renamed and vanished ones. */
  async #list({ session, context }: Open): Promise<void> {
    const listedAt = this.#deps.clock.monotonic()
    const folders = await session.listFolders()
    // Every mailbox has an inbox: an empty list is a provider in trouble, not a mailbox without mail.
    if (folders.length === 0) throw new ProviderError('unavailable', 'the provider listed no folders')
    const labels = labelStore(this.#deps.db.read)
    const plan = planFolders(await labels.all(context.accountId), folders)
    this.#scopes = session.scopes(folders)
    const syncedAs = new Map(folders.map((folder) => [folder, 'mailbox']))
    await storeFolders(this.#deps, context, plan, { syncedAs, hasCursorPerFolder: !this.#isWhole })
    const rows = await labels.all(context.accountId)
    this.#labels = new Map(rows.map((label) => [label.providerId, label]))
    for (const label of plan.vanished) {
      if (this.#isWhole) await forgetLabel(this.#deps, context, label, rows)
      else await deleteFolder(this.#deps, context, label)
    }
    this.#leaving = this.#isWhole ? [] : plan.vanished
    this.#listedAt = listedAt
    this.#isListingWanted = false
    this.#unknown.clear()
  }

  async #changedScopes({ session, context }: Open, signal: AbortSignal): Promise<ReadonlySet<string>> {
    if (session.changedScopes === undefined) return new Set(this.#scopes)
    const positions = await cursorStore(this.#deps.db.read).all(context.accountId)
    const asked = this.#scopes.map((scope) => {
      const position = positions.get(this.#positionIdOf(context, scope))
      return { scope, cursor: position?.cursor ?? null, isUnfinished: position?.announceAfter != null }
    })
    const changed = await session.changedScopes(
      asked.map(({ scope, cursor }) => ({ scope, cursor })),
      signal,
    )
    return new Set([...changed, ...asked.filter((one) => one.isUnfinished).map((one) => one.scope)])
  }

  #positionIdOf(context: OwnedAccount, scope: string): string {
    return positionOf({ ...context, scope: this.#labels.get(scope) })
  }

  async #syncOne(open: Open, path: string, signal: AbortSignal): Promise<void> {
    const { session, context } = open
    const scope = this.#labels.get(path)
    if (path !== ENTIRE_MAILBOX && scope === undefined) return
    const bodies = (step: MailboxStep, position: CursorRow | undefined) =>
      mailboxBodies(this.#deps, this.#mail, open.access, step, position, this.#account.syncedAt())
    const labels = (paths: readonly string[]) => this.#labelsWith(open, paths)
    try {
      if (!(await syncScope(this.#deps, { ...context, session, scope, labels, bodies, signal })))
        this.#vanished.add(path)
    } catch (error) {
      // A folder that the provider will not show must not keep the others from their mail.
      const isOver = scope === undefined || signal.aborted
      if (isOver || !(error instanceof ProviderError) || error.kind !== 'rejected') throw error
      this.#behind.add(path)
      this.#deps.log.warn('A folder cannot be brought in step; the others go on', {
        ...{ accountId: context.accountId, provider: context.provider, operation: 'sync.account', error },
        metadata: { labelId: scope.id },
      })
    }
  }

  /** A mail may carry a label that was made after the last listing; one that a fresh listing does not show is passed over. */
  async #labelsWith(open: Open, paths: readonly string[]): Promise<ReadonlyMap<string, LabelRow>> {
    const isUnknown = (path: string) => !this.#labels.has(path) && !this.#unknown.has(path)
    if (paths.some(isUnknown)) {
      await this.#list(open)
      for (const path of paths.filter(isUnknown)) this.#unknown.add(path)
    }
    return this.#labels
  }

  /**
   * What vanished before two looks at every folder, the listing included, and turned up in neither is deleted. One is not enough: a
   * mail may move, while it is looked for, from a folder still to be read to one that was, and the provider may tell late.
   */
  async #settle({ context }: Open, begunAt: number): Promise<void> {
    this.#hasGone = false
    if (this.#isWhole) return
    const store = messageStore(this.#deps.db.read)
    const findGone = () => store.missing(context.accountId, Number.MAX_SAFE_INTEGER, 1)
    const isAnyGone = (await findGone()).length > 0
    if (this.#behind.size === 0 && this.#vanished.size === 0) {
      const settledMs = this.#deps.clock.now() - this.#timing.moveGraceMs
      // A transaction that deletes nothing would still write the account's row.
      if (isAnyGone) await deleteMissing(this.#deps, context, Math.min(this.#lookedAt, begunAt, settledMs))
      this.#lookedAt = begunAt
    }
    for (const label of this.#leaving) await deleteFolder(this.#deps, context, label)
    this.#hasGone = (isAnyGone || this.#leaving.length > 0) && (await findGone()).length > 0
  }
}
