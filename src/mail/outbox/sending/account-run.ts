import { sleep } from '../../../platform/concurrency/abort.ts'
import { keepRenewing, LeaseLost, leasedRows, type RowLease } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { secretToken } from '../../../platform/ids.ts'
import type { OutboxRow } from '../tables.ts'
import { AccountSender } from './account-sender.ts'
import { afterSending } from './after-sending.ts'
import { Attempts, type AttemptTiming } from './attempts.ts'
import { type Claimed, OUTBOX } from './claims.ts'
import type { CopyGate } from './copy-gate.ts'
import type { CopyWaits } from './copy-keeper.ts'
import { sendToDeferred } from './send-to-deferred.ts'
import { type CopyDeps, saveCopies, type Uncopied } from './sent-copies.ts'
import { searchUncertain } from './uncertain.ts'

export interface SendRunDeps extends CopyDeps {
  timing: OutboxTiming
  messagesPerMinute: number
}

export interface OutboxTiming extends AttemptTiming {
  /** How long a message is waited for before the next one is sent beside it. */
  hungMs: number
  copyWaits: CopyWaits
  /** How long a silent run keeps its messages and its job; renewed while it works. */
  leaseMs: number
  /** How often due messages are queued again. */
  sweepMs: number
}

export const OUTBOX_TIMING: OutboxTiming = {
  searchPausesMs: [0, 5000, 30_000, 120_000, 600_000],
  hungMs: 4000,
  copyWaits: { unknownMs: 5000, serverMs: 120_000 },
  retry: { baseMs: 5000, capMs: 60 * 60_000 },
  leaseMs: 30_000,
  sweepMs: 15_000,
}

/** Messages that a run holds at once. */
const MAX_CLAIMED = 25
/** Copies wait for messages that are still to be sent, of any account: at most so many, and for so long. */
const MAX_COPIES = 200
const MAX_COPY_WAIT_MS = 5000
/** How often an account whose copies wait checks for new messages of its own. */
const COPY_TURN_MS = 200
/** Messages that hang at once. Each has a connection, and servers allow some ten of a user. */
const MAX_HUNG = 8
/** How often an account with messages that hang checks for new ones. */
const HUNG_TURN_MS = 500

interface RunContext {
  signal: AbortSignal
  stopping: AbortSignal
  /** By account, on the monotonic clock; shared by the runs of this process. */
  lastSentAt: Map<string, number>
  /** Shared by the runs of this process. */
  gate: CopyGate
}

/** Sends the messages of one account, one after the other, and saves their copies. */
export class AccountRun {
  readonly #deps: SendRunDeps
  readonly #accountId: string
  readonly #context: RunContext
  readonly #sender: AccountSender
  readonly #attempts: Attempts
  readonly #lease: RowLease
  readonly #stopRenewing: () => void
  /** The next messages. */
  #claimed: Claimed[] = []
  /** Sent messages that this run holds, whose copies are not known to exist yet, and since when the first of them waits. */
  #uncopied: Uncopied[] = []
  #uncopiedSince = 0
  #stopSending: (() => void) | undefined
  /** Work that goes on beside the next messages. It never rejects. */
  readonly #hung = new Set<Promise<void>>()
  #isCopying = false
  /** How work that had hung ended, if that ends the run. */
  #end: 'account has to wait' | { error: unknown } | undefined

  constructor(deps: SendRunDeps, accountId: string, context: RunContext) {
    const { db, log, timing } = deps
    this.#deps = deps
    this.#accountId = accountId
    this.#context = context
    this.#sender = new AccountSender(deps, accountId)
    this.#attempts = new Attempts(deps, this.#sender, context.signal)
    const lease = { token: secretToken(), forMs: timing.leaseMs }
    this.#lease = lease
    this.#stopRenewing = keepRenewing({
      log,
      operation: 'outbox.renew',
      lease,
      renew: () => db.statement((handle) => leasedRows(handle, db.dialect, OUTBOX).renew({ key: accountId }, lease)),
    })
  }

  get hasHung(): boolean {
    return this.#hung.size > 0
  }

  /** Does what is due for one message, or saves copies. False when nothing is due, or the account has to wait. */
  async next(): Promise<boolean> {
    if (typeof this.#end === 'object') throw this.#end.error
    if (this.#end !== undefined && !this.hasHung) return false
    try {
      return await this.#step()
    } catch (error) {
      if (error instanceof LeaseLost) return true
      if (isDeletedAccount(error)) return false
      throw error
    }
  }

  async #step(): Promise<boolean> {
    if (this.#mustCopy() && !(await this.#saveCopies())) return this.hasHung
    await this.#pace()
    if (this.#hung.size >= MAX_HUNG || this.#end !== undefined) {
      // Without any, the race would never end.
      if (this.hasHung) await Promise.race(this.#hung)
      return true
    }
    if (this.#claimed.length === 0) this.#claimed = await this.#claimNext()
    const claimed = this.#claimed.shift()
    if (claimed !== undefined) return this.#unlessHung(() => this.#work(claimed))
    this.#pauseSending()
    if (this.#uncopied.length > 0 && !this.#isCopying) return this.#copyWhenFree()
    if (!this.hasHung) return false
    await Promise.race([...this.#hung, sleep(HUNG_TURN_MS, this.#context.signal)])
    return true
  }

  /** Waits for the work, or lets it go on beside the next when it takes long. Returns whether the run may continue. */
  async #unlessHung(work: () => Promise<boolean>): Promise<boolean> {
    const working = work()
    const timer = new AbortController()
    // The more messages hang, the less the next one is waited for, so that those behind it do not wait for the sum.
    const waitMs = this.#deps.timing.hungMs / (1 + this.#hung.size)
    const isLong = sleep(waitMs, timer.signal).then((): typeof LONG => LONG)
    const first = await Promise.race([working, isLong]).finally(() => timer.abort())
    if (first !== LONG) return first
    const closeSender = this.#sender.setAside()
    this.#context.lastSentAt.set(this.#accountId, this.#deps.clock.monotonic())
    const ended = this.#recordEnd(working.finally(closeSender)).finally(() => this.#hung.delete(ended))
    this.#hung.add(ended)
    return true
  }

  /** Records how work that had hung ended. Never rejects. */
  async #recordEnd(working: Promise<boolean>): Promise<void> {
    try {
      if (!(await working)) this.#end ??= 'account has to wait'
    } catch (error) {
      if (error instanceof LeaseLost) return
      this.#end ??= isDeletedAccount(error) ? 'account has to wait' : { error }
    }
  }

  #pauseSending(): void {
    this.#stopSending?.()
    this.#stopSending = undefined
  }

  /** Saves the copies if no other account sends. Otherwise waits for a moment, after which the account may have another message. */
  async #copyWhenFree(): Promise<boolean> {
    const { gate, signal } = this.#context
    return (await gate.wait(COPY_TURN_MS, signal)) ? this.#saveCopies() : true
  }

  /** Gives back what it holds. */
  async close(): Promise<void> {
    const { db } = this.#deps
    try {
      await Promise.all(this.#hung)
      // Lost claims: another run saves the copies.
      if (this.#uncopied.length > 0 && !this.#context.signal.aborted) await this.#copyAll().catch(unlessLost)
      this.#stopRenewing()
      if (this.#claimed.length > 0 || this.#uncopied.length > 0) {
        const own = { key: this.#accountId }
        await db.transaction((tx) => leasedRows(tx, db.dialect, OUTBOX).release(own, this.#lease))
      }
    } finally {
      this.#pauseSending()
      this.#stopRenewing()
      await this.#sender.close()
    }
  }

  #claimNext(): Promise<Claimed[]> {
    const { clock, writer, messagesPerMinute } = this.#deps
    const limit = messagesPerMinute === 0 ? MAX_CLAIMED : 1
    return writer.claim({ accountId: this.#accountId, nowMs: clock.now(), limit }, this.#lease)
  }

  /** Waits until the account may send the next message. */
  async #pace(): Promise<void> {
    const { clock, messagesPerMinute } = this.#deps
    const { signal, stopping, lastSentAt } = this.#context
    const last = lastSentAt.get(this.#accountId)
    if (messagesPerMinute === 0 || last === undefined) return
    const waitMs = last + 60_000 / messagesPerMinute - clock.monotonic()
    if (waitMs > 0) {
      this.#pauseSending()
      if (this.#uncopied.length > 0 && !this.#isCopying) await this.#saveCopies()
      await sleep(waitMs, AbortSignal.any([stopping, signal]))
    } else lastSentAt.delete(this.#accountId)
  }

  async #work(claimed: Claimed): Promise<boolean> {
    const { row } = claimed
    if (row.status === 'cancelled') return this.#attempts.removeDraft(row)
    if (row.remaining === 'recipients' || row.remaining === 'resending') return this.#sendAgain(row)
    if (row.status === 'sent') return this.#finish(row, true)
    if (row.committedAt !== null) {
      const sent = await searchUncertain(this.#deps, this.#sender, row, this.#context.signal)
      return sent === undefined || this.#finish(sent, true)
    }
    return this.#send(claimed)
  }

  async #send(claimed: Claimed): Promise<boolean> {
    this.#stopSending ??= this.#context.gate.startSending()
    const attempt = await this.#attempts.send(claimed)
    this.#context.lastSentAt.set(this.#accountId, this.#deps.clock.monotonic())
    return attempt.sent === null ? attempt.mayContinue : this.#finish(attempt.sent, false)
  }

  async #sendAgain(row: OutboxRow): Promise<boolean> {
    this.#stopSending ??= this.#context.gate.startSending()
    const mayContinue = await sendToDeferred(this.#deps, this.#sender, row, this.#context.signal)
    this.#context.lastSentAt.set(this.#accountId, this.#deps.clock.monotonic())
    return mayContinue
  }

  /** Does what remains for a sent message, or puts it with those whose copies are saved together. */
  async #finish(row: OutboxRow, mayBeOwn: boolean): Promise<boolean> {
    if (row.remaining === 'draft') await afterSending(this.#deps).deleteDraft(row)
    // Another run has taken over a message that this one no longer holds.
    if (row.remaining !== 'copy' || row.lease !== this.#lease.token) return true
    if (this.#uncopied.length === 0) this.#uncopiedSince = this.#deps.clock.monotonic()
    this.#uncopied.push({ row, mayBeOwn })
    return true
  }

  #mustCopy(): boolean {
    if (this.#uncopied.length === 0 || this.#isCopying) return false
    if (this.hasHung) return true
    const waitedMs = this.#deps.clock.monotonic() - this.#uncopiedSince
    return this.#uncopied.length >= MAX_COPIES || waitedMs > MAX_COPY_WAIT_MS
  }

  /** Saves the copies that wait, which goes on beside the next messages when it takes long. False when the mailbox cannot be reached. */
  #saveCopies(): Promise<boolean> {
    return this.#unlessHung(() => this.#copyAll())
  }

  async #copyAll(): Promise<boolean> {
    const uncopied = this.#uncopied
    this.#uncopied = []
    this.#isCopying = true
    try {
      const mailbox = await this.#sender.copyMailbox()
      const { done, isReached } = await saveCopies(this.#deps, mailbox, uncopied, this.#context.signal)
      for (const row of done) if (row.remaining === 'draft') await afterSending(this.#deps).deleteDraft(row)
      return isReached
    } finally {
      this.#isCopying = false
    }
  }
}

const LONG: unique symbol = Symbol('takes long')

function isDeletedAccount(error: unknown): boolean {
  return error instanceof AppError && error.code === 'not_found'
}

function unlessLost(error: unknown): void {
  if (!(error instanceof LeaseLost)) throw error
}
