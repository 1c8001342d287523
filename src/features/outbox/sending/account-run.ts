import { LeaseLost, type RowLease } from '../../../infra/db/index.ts'
import type { Run } from '../../../infra/queue/index.ts'
import { sleep } from '../../../lib/abort.ts'
import { AppError } from '../../../lib/errors.ts'
import { secretToken } from '../../../lib/ids.ts'
import type { OutboxRow } from '../tables.ts'
import { afterSending } from './after-sending.ts'
import { type AttemptDeps, Attempts, type AttemptTiming } from './attempts.ts'
import { type Claimed, nextDue, releaseClaims, renewClaims } from './claims.ts'
import { CopyGate } from './copy-gate.ts'
import { sendToDeferred } from './send-again.ts'

export interface SendRunDeps extends AttemptDeps {
  timing: OutboxTiming
  messagesPerMinute: number
}

export interface OutboxTiming extends AttemptTiming {
  /** How long a silent run keeps its messages and its job; renewed while it works. */
  leaseMs: number
  /** How often due messages are queued again. */
  sweepMs: number
}

export const OUTBOX_TIMING: OutboxTiming = {
  searchPausesMs: [0, 5000, 30_000, 120_000, 600_000],
  retry: { baseMs: 5000, capMs: 60 * 60_000 },
  leaseMs: 30_000,
  sweepMs: 15_000,
}

/** After this long the account goes to the back of the queue, so that other accounts get a worker. */
const MAX_RUN_MS = 60_000
/** Messages that a run holds at once. */
const CLAIMS = 25
/** Copies wait for messages that are still to be sent, of any account: at most so many, and for so long. */
const MAX_COPIES = 200
const MAX_COPY_WAIT_MS = 5000
/** How often an account whose copies wait checks for new messages of its own. */
const COPY_TURN_MS = 200

/**
 * The run of the queue `send`, whose job keys are account ids:
 *
 *     claim ─▶ queued: send ──▶ refused for now ──▶ queued again, later
 *                      │   └──▶ refused ──────────▶ failed, event
 *                      ├──────▶ no reply, crash ──▶ uncertain
 *                      └──────▶ accepted ─────────▶ sent, copy pending
 *           ─▶ uncertain: search in Sent ─▶ sent, or a later search, or event
 *           ─▶ sent: save the copy, then delete the draft (`after-sending.ts`), then send it to those refused for now (`send-again.ts`)
 *           ─▶ cancelled: remove the draft that an attempt has left at the provider
 *
 * `attempts.ts` has what happens to one message.
 */
export function sendRun(deps: SendRunDeps, stopping: AbortSignal): Run {
  const lastSentAt = new Map<string, number>()
  const gate = new CopyGate(deps.clock)
  return async (accountId, { signal }) => {
    const run = new AccountRun(deps, accountId, { signal, stopping, lastSentAt, gate })
    const endsAt = deps.clock.monotonic() + MAX_RUN_MS
    try {
      for (let worked = true; worked && !stopping.aborted && !signal.aborted; ) {
        if (deps.clock.monotonic() > endsAt) return { nextRunInMs: 0 }
        worked = await run.next()
      }
    } finally {
      await run.close()
    }
    const dueAt = await nextDue(deps.db, accountId)
    return dueAt === undefined ? undefined : { nextRunInMs: Math.max(0, dueAt - deps.clock.now()) }
  }
}

interface RunContext {
  signal: AbortSignal
  stopping: AbortSignal
  /** By account, on the monotonic clock; shared by the runs of this process. */
  lastSentAt: Map<string, number>
  /** Of this process. */
  gate: CopyGate
}

class AccountRun {
  readonly #deps: SendRunDeps
  readonly #accountId: string
  readonly #context: RunContext
  readonly #attempts: Attempts
  readonly #lease: RowLease
  readonly #renewal: NodeJS.Timeout
  /** The next messages. */
  #claimed: Claimed[] = []
  /** Messages that this run has sent and still holds, whose copies do not exist yet. */
  #uncopied: OutboxRow[] = []
  #stopSending: (() => void) | undefined

  constructor(deps: SendRunDeps, accountId: string, context: RunContext) {
    const { db, timing } = deps
    this.#deps = deps
    this.#accountId = accountId
    this.#context = context
    this.#attempts = new Attempts(deps, accountId, context.signal)
    this.#lease = { token: secretToken(), forMs: timing.leaseMs }
    this.#renewal = setInterval(() => {
      // A renewal that fails makes the commit fail, so nothing is sent twice.
      db.transaction((tx) => renewClaims(tx, db.dialect, accountId, this.#lease)).catch(() => {})
    }, timing.leaseMs / 3)
  }

  /** Does what is due for one message, or saves copies. False when nothing is due, or the account has to wait. */
  async next(): Promise<boolean> {
    try {
      return await this.#step()
    } catch (error) {
      if (error instanceof LeaseLost) return true
      if (error instanceof AppError && error.code === 'not_found') return false
      throw error
    }
  }

  async #step(): Promise<boolean> {
    if (this.#mustCopy() && !(await this.#saveCopies())) return false
    await this.#pace()
    if (this.#claimed.length === 0) this.#claimed = await this.#claimNext()
    const claimed = this.#claimed.shift()
    if (claimed !== undefined) return this.#work(claimed)
    this.#pauseSending()
    return this.#uncopied.length > 0 && this.#copyWhenFree()
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
      // Lost claims: another run saves the copies.
      if (this.#uncopied.length > 0 && !this.#context.signal.aborted) await this.#saveCopies().catch(unlessLost)
      if (this.#claimed.length > 0 || this.#uncopied.length > 0) {
        await db.transaction((tx) => releaseClaims(tx, this.#accountId, this.#lease))
      }
    } finally {
      this.#pauseSending()
      clearInterval(this.#renewal)
      await this.#attempts.close()
    }
  }

  #claimNext(): Promise<Claimed[]> {
    const { clock, writer, messagesPerMinute } = this.#deps
    const limit = messagesPerMinute === 0 ? CLAIMS : 1
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
      await this.#saveCopies()
      await sleep(waitMs, AbortSignal.any([stopping, signal]))
    } else lastSentAt.delete(this.#accountId)
  }

  async #work(claimed: Claimed): Promise<boolean> {
    const { row } = claimed
    if (row.status === 'cancelled') return this.#attempts.removeDraft(row)
    if (row.remaining === 'recipients' || row.remaining === 'resending') return this.#sendAgain(row)
    if (row.status === 'sent') return this.#finish([row], true)
    if (row.committedAt !== null) {
      const sent = await this.#attempts.search(row)
      return sent === undefined || this.#finish([sent], true)
    }
    return this.#send(claimed)
  }

  async #send(claimed: Claimed): Promise<boolean> {
    this.#stopSending ??= this.#context.gate.startSending()
    const attempt = await this.#attempts.send(claimed)
    this.#context.lastSentAt.set(this.#accountId, this.#deps.clock.monotonic())
    if (attempt.sent === null) return attempt.mayContinue
    if (attempt.sent.remaining !== 'copy') return this.#finish([attempt.sent], false)
    if (attempt.sent.lease === this.#lease.token) this.#uncopied.push(attempt.sent)
    return true
  }

  async #sendAgain(row: OutboxRow): Promise<boolean> {
    this.#stopSending ??= this.#context.gate.startSending()
    const mayContinue = await sendToDeferred(this.#deps, this.#attempts, row, this.#context.signal)
    this.#context.lastSentAt.set(this.#accountId, this.#deps.clock.monotonic())
    return mayContinue
  }

  #mustCopy(): boolean {
    const [oldest] = this.#uncopied
    if (oldest === undefined) return false
    return this.#uncopied.length >= MAX_COPIES || this.#deps.clock.now() - oldest.updatedAt > MAX_COPY_WAIT_MS
  }

  async #saveCopies(): Promise<boolean> {
    const rows = this.#uncopied
    this.#uncopied = []
    return rows.length === 0 || this.#finish(rows, false)
  }

  /** Does what remains for sent messages. False when the mailbox cannot be reached. */
  async #finish(sent: readonly OutboxRow[], mayExist: boolean): Promise<boolean> {
    const steps = afterSending(this.#deps)
    const uncopied = sent.filter(({ remaining }) => remaining === 'copy')
    const { done, isComplete } = await steps.saveCopies(uncopied, (row, content) =>
      this.#attempts.saveCopy({ row, content, mayExist }),
    )
    for (const row of [...sent, ...done]) if (row.remaining === 'draft') await steps.deleteDraft(row)
    return isComplete
  }
}

function unlessLost(error: unknown): void {
  if (!(error instanceof LeaseLost)) throw error
}
