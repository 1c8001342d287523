import type { Recorder } from '../../../events/index.ts'
import { backoffMs } from '../../../platform/concurrency/retry.ts'
import { type Db, LeaseLost } from '../../../platform/db/index.ts'
import { cleanJson } from '../../../platform/formats/text.ts'
import {
  type NotSent,
  ProviderError,
  type QueuedMessage,
  type SendOutcome,
  type SendSteps,
} from '../../../providers/contract/index.ts'
import { messageStore, reservedIds, toMessageId } from '../../messages/index.ts'
import { type OutboxError, readEnvelope } from '../api.ts'
import { readContent } from '../store.ts'
import type { OutboxRow } from '../tables.ts'
import type { AccountSender, SenderDeps } from './account-sender.ts'
import { RELEASED } from './after-sending.ts'
import type { BatchWriter } from './batch-writer.ts'
import { type Claimed, delayWaiting, recordDraft, updateHeld } from './claims.ts'
import { recordFailed, recordSent } from './outcomes.ts'
import { onlyProviderErrors, recordUncertain } from './uncertain.ts'

export interface AttemptDeps extends SenderDeps {
  events: Recorder
  timing: AttemptTiming
  writer: BatchWriter
}

export interface AttemptTiming {
  /** Pauses before the searches for an uncertain message. After the last one, it stays uncertain. */
  searchPausesMs: readonly number[]
  retry: { baseMs: number; capMs: number }
}

/** Ends with the message sent, refused, or of unknown outcome. */
export type Attempt = { sent: OutboxRow } | { sent: null; mayContinue: boolean }

/**
 * Sends the messages that a run holds, over one connection of the account. A row is committed before the first byte that
 * may make the provider send, and nobody sends a committed row again. Methods throw `LeaseLost` once the run no longer holds the row.
 */
export class Attempts {
  readonly #deps: AttemptDeps
  readonly #sender: AccountSender
  readonly #signal: AbortSignal

  constructor(deps: AttemptDeps, sender: AccountSender, signal: AbortSignal) {
    this.#deps = deps
    this.#sender = sender
    this.#signal = signal
  }

  async send({ row: claimed, content, wasInterrupted }: Claimed): Promise<Attempt> {
    const { db, clock, log, writer } = this.#deps
    const sender = await this.#sender.open()
    const startedMs = clock.monotonic()
    let row = claimed
    const { accountId, messageId } = row
    const steps: SendSteps = {
      async onDraft(providerMessageId) {
        await db.transaction(async (tx) => {
          await recordDraft(tx, db.dialect, row, providerMessageId)
          await reservedIds.reserve(tx, { accountId, messageId, as: 'sent' }, [{ providerMessageId }], clock.now())
        })
        row = { ...row, providerMessageId }
      },
      async onCommit({ providerMessageId }) {
        const committedAt = await writer.commit({ row, providerMessageId })
        row = { ...row, providerMessageId, committedAt }
      },
    }
    let outcome: SendOutcome
    try {
      const message = await queuedMessage(db, row, { wasInterrupted, content })
      outcome = await sender.send(message, steps, this.#signal)
    } catch (error) {
      if (error instanceof LeaseLost || !(error instanceof ProviderError)) throw error
      await recordUncertain(this.#deps, row, { provider: this.#sender.provider, error })
      return { sent: null, mayContinue: true }
    }
    if (!outcome.sent) return { sent: null, mayContinue: await this.#recordRefusal(row, outcome) }
    const sent = await recordSent(this.#deps, this.#sender, row, outcome)
    const { to, cc, bcc } = readEnvelope(row)
    log.info('Sent a message.', {
      accountId,
      provider: this.#sender.provider,
      operation: 'outbox.send',
      durationMs: clock.monotonic() - startedMs,
      metadata: {
        outboxId: row.id,
        messageId,
        sizeBytes: row.sizeBytes,
        attempts: row.attempts + 1,
        recipients: to.length + cc.length + bcc.length,
        refused: outcome.refused.length,
      },
    })
    return { sent }
  }

  async #recordRefusal(row: OutboxRow, outcome: NotSent): Promise<boolean> {
    const { error, retry } = outcome
    const { db, clock, log, timing } = this.#deps
    const nowMs = clock.now()
    const isLast = !retry || nowMs >= row.giveUpAt
    const attempts = row.attempts + 1
    const fields = { refused: cleanJson(outcome.refused), attempts, updatedAt: nowMs, ...RELEASED }
    const reason = toReason(error)
    log.warn(isLast ? 'Sending a message failed.' : 'Sending a message failed; the service tries again.', {
      accountId: row.accountId,
      provider: this.#sender.provider,
      operation: 'outbox.send',
      error,
      metadata: { outboxId: row.id, attempts },
    })
    if (isLast) {
      await this.#discard(row)
      await recordFailed(this.#deps, row, { ...fields, status: 'failed' }, { reason, message: error.message })
      return error.kind === 'rejected'
    }
    const dueAt = nowMs + Math.max(error.retryAfterMs ?? 0, backoffMs(attempts, timing.retry))
    // Anything but refused recipients or a refused content would happen to the next message too.
    const mayContinue = outcome.refused.length > 0 || outcome.onlyThisMessage === true
    await db.transaction(async (tx) => {
      const changes = { ...fields, dueAt, error: cleanJson({ reason, message: error.message } satisfies OutboxError) }
      await updateHeld(tx, row, { ...changes, status: 'queued', committedAt: null })
      if (!mayContinue) await delayWaiting(tx, row.accountId, dueAt)
    })
    return mayContinue
  }

  /** Returns false for a draft that stays at the provider. Its owner sees it, and may delete it. */
  async #discard({ rfcMessageId, sentToken, providerMessageId, committedAt, createdAt }: OutboxRow): Promise<boolean> {
    const sender = await this.#sender.open()
    const ref = { rfcMessageId, sentToken, providerMessageId, committedAt: committedAt ?? createdAt }
    return sender.discard?.(ref, this.#signal).then(() => true, onlyProviderErrors) ?? true
  }

  /** Removes the draft of a cancelled message from the provider. Until then its reservation hides it. False: later. */
  async removeDraft(row: OutboxRow): Promise<boolean> {
    const { db, clock, timing } = this.#deps
    const isRemoved = await this.#discard(row)
    const nowMs = clock.now()
    const checks = row.checks + 1
    const isLast = isRemoved || nowMs >= row.giveUpAt
    await db.transaction(async (tx) => {
      const dueAt = isLast ? null : nowMs + backoffMs(checks, timing.retry)
      await updateHeld(tx, row, { checks, dueAt, ...RELEASED })
      if (isLast) await reservedIds.release(tx, row.messageId)
    })
    return isRemoved
  }
}

/** The message as providers send it. `content`: its bytes, if they are read already. */
export async function queuedMessage(
  db: Db,
  row: OutboxRow,
  { wasInterrupted, content }: Omit<Claimed, 'row'>,
): Promise<QueuedMessage> {
  const { from, to, cc, bcc } = readEnvelope(row)
  const messageId = toMessageId(row.draftId ?? '')
  const [draft] = messageId === undefined ? [] : await messageStore(db.read).byIds([messageId])
  const emails = (list: readonly { email: string }[]) => [...new Set(list.map(({ email }) => email))]
  return {
    from: from.email,
    recipients: emails([...to, ...cc, ...bcc]),
    to,
    cc,
    bcc: emails(bcc),
    rfcMessageId: row.rfcMessageId,
    repliesTo: row.repliesTo,
    sizeBytes: row.sizeBytes,
    bytes: () => (content === undefined ? readContent(db, row) : [content]),
    earlierDraftId: row.providerMessageId,
    mayHaveDraft: wasInterrupted,
    originalDraftId: draft?.providerMessageId ?? null,
  }
}

function toReason({ kind }: ProviderError): OutboxError['reason'] {
  if (kind === 'auth_expired') return 'auth_expired'
  return kind === 'rejected' || kind === 'not_found' ? 'rejected' : 'unavailable'
}
