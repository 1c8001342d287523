import type { Recorder } from '../../events/index.ts'
import type { Tx } from '../../infra/db/index.ts'
import type { Run } from '../../infra/queue/index.ts'
import { sleep } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'
import { secretToken } from '../../lib/ids.ts'
import { backoffMs } from '../../lib/retry.ts'
import { cleanJson } from '../../lib/text.ts'
import {
  ProviderError,
  type ProviderName,
  type QueuedMessage,
  type Sender,
  type SendOutcome,
  type SendProvider,
  type SendSteps,
} from '../../providers/contract/index.ts'
import { messageIdOf, messageStore, releaseReserved, reserveMessage } from '../messages/index.ts'
import { type AfterSendingDeps, afterSending, next, RELEASED } from './after-sending.ts'
import { envelopeOf, type OutboxError } from './api.ts'
import {
  ClaimLost,
  claimDue,
  commitClaim,
  delayWaiting,
  nextDue,
  recordDraft,
  renewClaim,
  updateHeld,
} from './claims.ts'
import { sendFailedEvent } from './failed-event.ts'
import { contentOf, knownServer, outboxStore, rememberServer } from './store.ts'
import type { OutboxRow } from './tables.ts'

export interface SendRunDeps extends AfterSendingDeps {
  events: Recorder
  sending(provider: ProviderName): SendProvider
  timing: OutboxTiming
  messagesPerMinute: number
}

export interface OutboxTiming {
  /** Pauses before the searches for an uncertain message. After the last one, it stays uncertain. */
  searchPausesMs: readonly number[]
  retry: { baseMs: number; capMs: number }
  /** How long a silent run keeps its message and its job; renewed while it works. */
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

/**
 * The run of the queue `send`, whose job keys are account ids:
 *
 *     claim ─▶ queued: send ──▶ refused for now ──▶ queued again, later
 *                      │   └──▶ refused ──────────▶ failed, event
 *                      ├──────▶ no reply, crash ──▶ uncertain
 *                      └──────▶ accepted ─────────▶ sent, copy pending
 *           ─▶ uncertain: search in Sent ─▶ sent, or a later search, or event
 *           ─▶ sent: save the copy, then delete the draft (`after-sending.ts`)
 *           ─▶ cancelled: remove the draft that an attempt has left at the provider
 *
 * The row is committed before the first byte that may make the provider send, and nobody sends a committed row again.
 */
export function sendRun(deps: SendRunDeps, stopping: AbortSignal): Run {
  const lastSentAt = new Map<string, number>()
  return async (accountId, { signal }) => {
    const run = new AccountRun(deps, accountId, signal, lastSentAt)
    const endsAt = deps.clock.monotonic() + MAX_RUN_MS
    try {
      for (let worked = true; worked && !stopping.aborted && !signal.aborted; ) {
        if (deps.clock.monotonic() > endsAt) return { nextRunInMs: 0 }
        await run.pace(stopping)
        worked = await run.next()
      }
    } finally {
      await run.close()
    }
    const dueAt = await nextDue(deps.db, accountId)
    return dueAt === undefined ? undefined : { nextRunInMs: Math.max(0, dueAt - deps.clock.now()) }
  }
}

class AccountRun {
  readonly #deps: SendRunDeps
  readonly #accountId: string
  readonly #signal: AbortSignal
  readonly #lastSentAt: Map<string, number>
  readonly #token = secretToken()
  #sender: Sender | undefined

  constructor(deps: SendRunDeps, accountId: string, signal: AbortSignal, lastSentAt: Map<string, number>) {
    this.#deps = deps
    this.#accountId = accountId
    this.#signal = signal
    this.#lastSentAt = lastSentAt
  }

  /** Waits until the account may send the next message. */
  async pace(stopping: AbortSignal): Promise<void> {
    const { clock, messagesPerMinute } = this.#deps
    const last = this.#lastSentAt.get(this.#accountId)
    if (messagesPerMinute === 0 || last === undefined) return
    const waitMs = last + 60_000 / messagesPerMinute - clock.monotonic()
    if (waitMs > 0) await sleep(waitMs, AbortSignal.any([stopping, this.#signal]))
    else this.#lastSentAt.delete(this.#accountId)
  }

  /** Claims one message and does what is due for it. False when nothing is due, or the account has to wait. */
  async next(): Promise<boolean> {
    const { db, clock, timing } = this.#deps
    const claim = { token: this.#token, forMs: timing.leaseMs }
    const claimed = await db.transaction((tx) => claimDue(tx, db.dialect, this.#accountId, claim, clock.now()))
    if (claimed === undefined) return false
    const { row, wasInterrupted } = claimed
    const renewal = setInterval(() => {
      // A renewal that fails makes the commit fail, so nothing is sent twice.
      db.transaction((tx) => renewClaim(tx, db.dialect, row.id, claim)).catch(() => {})
    }, timing.leaseMs / 3)
    try {
      return await this.#work(row, wasInterrupted)
    } catch (error) {
      if (error instanceof ClaimLost) return true
      if (error instanceof AppError && error.code === 'not_found') return false
      throw error
    } finally {
      clearInterval(renewal)
    }
  }

  async close(): Promise<void> {
    await this.#sender?.close()
  }

  async #work(row: OutboxRow, wasInterrupted: boolean): Promise<boolean> {
    if (row.status === 'cancelled') return this.#removeDraft(row)
    if (row.status === 'sent') return this.#finish(row)
    if (row.committedAt !== null) return this.#search(row)
    return this.#send(row, wasInterrupted)
  }

  async #send(claimed: OutboxRow, wasInterrupted: boolean): Promise<boolean> {
    const { db, clock } = this.#deps
    const sender = await this.#open()
    let row = claimed
    const { accountId, messageId } = row
    const reserve = (tx: Tx, providerMessageId: string) =>
      reserveMessage(tx, { accountId, messageId, as: 'sent' }, [{ providerMessageId }], clock.now())
    const steps: SendSteps = {
      async onDraft(providerMessageId) {
        await db.transaction(async (tx) => {
          await recordDraft(tx, db.dialect, row, providerMessageId)
          await reserve(tx, providerMessageId)
        })
        row = { ...row, providerMessageId }
      },
      onCommit: ({ providerMessageId }) =>
        db.transaction(async (tx) => {
          await commitClaim(tx, db.dialect, row, { providerMessageId, nowMs: clock.now() })
          if (providerMessageId !== null) await reserve(tx, providerMessageId)
        }),
    }
    let outcome: SendOutcome
    try {
      outcome = await sender.send(await this.#queued(row, wasInterrupted), steps, this.#signal)
    } catch (error) {
      if (error instanceof ClaimLost || !(error instanceof ProviderError)) throw error
      await this.#recordUncertain(row, error)
      return true
    }
    this.#lastSentAt.set(row.accountId, clock.monotonic())
    if (!outcome.sent) return this.#recordRefusal(row, outcome)
    return this.#finish(await this.#recordSent(row, outcome, sender.saveCopy !== undefined))
  }

  async #recordSent(
    row: OutboxRow,
    outcome: Pick<SendOutcome & { sent: true }, 'providerMessageId' | 'refused'>,
    needsCopy: boolean,
  ): Promise<OutboxRow> {
    const { db, clock, accounts } = this.#deps
    return db.transaction(async (tx) => {
      const nowMs = clock.now()
      const store = outboxStore(tx, db.dialect)
      const current = await store.lock(row.id)
      const sent = await store.update(row.id, {
        ...{ status: 'sent', error: null, refused: cleanJson(outcome.refused) },
        ...{ sentAt: current.committedAt ?? nowMs, updatedAt: nowMs },
        providerMessageId: outcome.providerMessageId ?? current.providerMessageId,
        ...next(needsCopy ? 'copy' : row.draftId === null ? null : 'draft', nowMs),
      })
      if (!needsCopy) {
        await store.dropContent(row.id)
        await accounts.requestSync(tx, [row.accountId], 'changes')
      }
      return sent
    })
  }

  async #recordRefusal(row: OutboxRow, outcome: SendOutcome & { sent: false }): Promise<boolean> {
    const { error, retry } = outcome
    const { db, clock, log, timing } = this.#deps
    const nowMs = clock.now()
    const isLast = !retry || nowMs >= row.giveUpAt
    const attempts = row.attempts + 1
    const known = { refused: cleanJson(outcome.refused), attempts, updatedAt: nowMs, ...RELEASED }
    const reason = reasonOf(error)
    log.warn(isLast ? 'Sending a message failed.' : 'Sending a message failed; the service tries again.', {
      ...{ accountId: row.accountId, operation: 'outbox.send', error, metadata: { outboxId: row.id, attempts } },
    })
    if (isLast) {
      await this.#discard(row)
      await this.#fail(row, { ...known, status: 'failed' }, { reason, message: error.message })
      return error.kind === 'rejected'
    }
    const dueAt = nowMs + Math.max(error.retryAfterMs ?? 0, backoffMs(attempts, timing.retry))
    await db.transaction(async (tx) => {
      const changes = { ...known, dueAt, error: cleanJson({ reason, message: error.message } satisfies OutboxError) }
      await updateHeld(tx, row, { ...changes, status: 'queued', committedAt: null })
      // Refused recipients are the message's own problem; anything else would happen to the next message too.
      if (outcome.refused.length === 0) await delayWaiting(tx, row.accountId, dueAt)
    })
    return outcome.refused.length > 0
  }

  async #recordUncertain(row: OutboxRow, error: ProviderError): Promise<void> {
    const { db, clock, log, timing } = this.#deps
    log.warn('The outcome of sending a message is unknown; the service looks for it in Sent.', {
      ...{ accountId: row.accountId, operation: 'outbox.send', error, metadata: { outboxId: row.id } },
    })
    const nowMs = clock.now()
    const problem: OutboxError = { reason: 'uncertain', message: error.message }
    await db.transaction((tx) =>
      updateHeld(tx, row, {
        ...{ status: 'uncertain', error: cleanJson(problem), checks: 0, updatedAt: nowMs, ...RELEASED },
        dueAt: nowMs + (timing.searchPausesMs[0] ?? 0),
      }),
    )
  }

  /** For a message whose outcome is unknown, after a crash too. */
  async #search(row: OutboxRow): Promise<boolean> {
    const { db, clock, timing } = this.#deps
    const ref = {
      rfcMessageId: row.rfcMessageId,
      sentToken: row.sentToken,
      providerMessageId: row.providerMessageId,
      committedAt: row.committedAt ?? row.createdAt,
    }
    const sender = await this.#open()
    const wasSent = await sender.wasSent(ref, this.#signal).catch(onlyProviderErrors)
    if (wasSent) {
      const outcome = { providerMessageId: row.providerMessageId, refused: [] }
      return this.#finish(await this.#recordSent(row, outcome, sender.saveCopy !== undefined))
    }
    const nowMs = clock.now()
    const checks = row.checks + 1
    const pauseMs = timing.searchPausesMs[checks]
    const message = 'The connection broke during the transfer, and Sent does not contain the message.'
    const changes = { status: 'uncertain', checks, updatedAt: nowMs, ...RELEASED } as const
    if (pauseMs === undefined) {
      await this.#fail(row, changes, { reason: 'uncertain', message })
      return true
    }
    const error = cleanJson({ reason: 'uncertain', message } satisfies OutboxError)
    await db.transaction((tx) => updateHeld(tx, row, { ...changes, error, dueAt: nowMs + pauseMs }))
    return true
  }

  /** Does what remains for a sent message. False when the mailbox cannot be reached. */
  async #finish(sent: OutboxRow): Promise<boolean> {
    const steps = afterSending(this.#deps)
    let row = sent
    if (row.remaining === 'copy') {
      const sender = await this.#open()
      const copy = { ...(await this.#queued(row)), sentAt: row.sentAt ?? row.createdAt }
      row = await steps.saveCopy(row, async () => sender.saveCopy?.(copy, this.#signal))
      if (row.remaining === 'copy') return false
    }
    if (row.remaining === 'draft') await steps.deleteDraft(row)
    return true
  }

  /** Returns false for a draft that stays at the provider. Its owner sees it, and may delete it. */
  async #discard({ rfcMessageId, sentToken, providerMessageId, committedAt, createdAt }: OutboxRow): Promise<boolean> {
    const sender = await this.#open()
    const ref = { rfcMessageId, sentToken, providerMessageId, committedAt: committedAt ?? createdAt }
    return sender.discard?.(ref, this.#signal).then(() => true, onlyProviderErrors) ?? true
  }

  /** Until then the draft of a cancelled message is hidden by its reservation. */
  async #removeDraft(row: OutboxRow): Promise<boolean> {
    const { db, clock, timing } = this.#deps
    const isRemoved = await this.#discard(row)
    const nowMs = clock.now()
    const checks = row.checks + 1
    const isLast = isRemoved || nowMs >= row.giveUpAt
    await db.transaction(async (tx) => {
      const dueAt = isLast ? null : nowMs + backoffMs(checks, timing.retry)
      await updateHeld(tx, row, { checks, dueAt, ...RELEASED })
      if (isLast) await releaseReserved(tx, row.messageId)
    })
    return isRemoved
  }

  async #fail(row: OutboxRow, changes: Partial<OutboxRow>, problem: OutboxError): Promise<void> {
    const { db, events, accounts } = this.#deps
    const { provider } = await accounts.get(row.accountId)
    await db.transaction(async (tx: Tx) => {
      await accounts.hold(tx, row.accountId)
      const failed = await updateHeld(tx, row, { ...changes, error: cleanJson(problem), dueAt: null })
      if (problem.reason !== 'uncertain') await releaseReserved(tx, row.messageId)
      await events.record(tx, [sendFailedEvent(failed, provider, problem)])
    })
  }

  async #queued(row: OutboxRow, wasInterrupted = false): Promise<QueuedMessage> {
    const { db } = this.#deps
    const { from, to, cc, bcc } = envelopeOf(row)
    const messageId = messageIdOf(row.draftId ?? '')
    const [draft] = messageId === undefined ? [] : await messageStore(db.read).byIds([messageId])
    const emails = (list: readonly { email: string }[]) => [...new Set(list.map(({ email }) => email))]
    return {
      from: from.email,
      recipients: emails([...to, ...cc, ...bcc]),
      ...{ to, cc, bcc: emails(bcc) },
      rfcMessageId: row.rfcMessageId,
      repliesTo: row.repliesTo,
      sizeBytes: row.sizeBytes,
      bytes: () => contentOf(db, row.id),
      earlierDraftId: row.providerMessageId,
      mayHaveDraft: wasInterrupted,
      originalDraftId: draft?.providerMessageId ?? null,
    }
  }

  async #open(): Promise<Sender> {
    if (this.#sender !== undefined) return this.#sender
    const { db, accounts, sending } = this.#deps
    const [{ provider }, access] = await Promise.all([accounts.get(this.#accountId), accounts.access(this.#accountId)])
    const { accessVersion } = access
    const smtp = await knownServer(db.read, this.#accountId, accessVersion)
    this.#sender = sending(provider).open(access, {
      ...(smtp !== undefined && { smtp: JSON.parse(smtp) }),
      onSettings: (settings) => {
        const row = { accountId: this.#accountId, accessVersion, smtp: JSON.stringify(settings) }
        // The next run derives them again when this fails.
        db.transaction((tx) => rememberServer(tx, row)).catch(() => {})
      },
    })
    return this.#sender
  }
}

function reasonOf({ kind }: ProviderError): OutboxError['reason'] {
  if (kind === 'auth_expired') return 'auth_expired'
  return kind === 'rejected' || kind === 'not_found' ? 'rejected' : 'unavailable'
}

/** A provider that cannot be asked now is asked again at the next check. */
function onlyProviderErrors(error: unknown): false {
  if (error instanceof ProviderError) return false
  throw error
}
