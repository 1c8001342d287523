import type { Account, Accounts } from '../../accounts/index.ts'
import type { EventOf, Recorder } from '../../events/index.ts'
import { backoffMs } from '../../platform/concurrency/retry.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { cleanJson } from '../../platform/formats/text.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Queue, Worker } from '../../platform/queue/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { type DeliveryReport, MAX_REPORT_BYTES, parseDeliveryReport } from '../../providers/shared/mime/index.ts'
import { findSentByUser, type MessageReader, messageStore } from '../messages/index.ts'
import type { bounceEvents } from './events.ts'
import { bounceStore } from './store.ts'
import type { PendingReport } from './tables.ts'

/** A message that this service sent. */
interface SentMessage {
  messageId: string
  subject: string
}

interface BounceDeps {
  db: Db
  queue: Queue
  clock: Clock
  log: Log
  events: Recorder
  accounts: Pick<Accounts, 'get' | 'hold'>
  reader: Pick<MessageReader, 'openRaw'>
  /** By the value of `X-Posthorn-Id`. */
  findByToken(tx: Tx, accountId: string, token: string): Promise<SentMessage | undefined>
  findByRfcId(tx: Tx, accountId: string, rfcMessageId: string): Promise<SentMessage | undefined>
}

const QUEUE = 'bounces'
const CONCURRENCY = 4
const BATCH = 20
const RETRY = { baseMs: 5000, capMs: 60 * 60_000 }
/** A report that old is of no use, and what makes one unreadable will not go away. */
const GIVE_UP_MS = 3 * 24 * 60 * 60_000
/** The delay for an account that is paused or whose credentials are refused. */
const BLOCKED_DELAY_MS = 10 * 60_000

/**
 * Reads reports about deliveries after sync has stored them, so that no message waits for another, and records `message.bounced`:
 *
 *     sync: message and pending report ─▶ read its beginning ─▶ parse ─▶ bounce, event, no longer pending
 *
 * Each arrow is one transaction, so a report is announced once, whatever crashes.
 */
export function bounceReader(deps: BounceDeps) {
  const { db, queue, log, clock, accounts } = deps
  let worker: Worker | undefined
  let recovery: NodeJS.Timeout | undefined

  async function addJobs(delayMs: number): Promise<void> {
    for (const accountId of await bounceStore(db.read).accountsWithPending())
      await queue.add(QUEUE, accountId, { delayMs })
  }

  async function run(accountId: string, signal: AbortSignal): Promise<undefined | { nextRunInMs: number }> {
    const account = await find(accountId)
    if (account === undefined) return undefined
    if (account.paused || account.status === 'auth_error') return { nextRunInMs: BLOCKED_DELAY_MS }
    const pending = await bounceStore(db.read).pending(accountId, BATCH)
    for (const report of pending) {
      if (signal.aborted) return undefined
      // The next run begins with the others.
      if (!(await readOne(account, report))) return { nextRunInMs: backoffMs(report.attempts + 1, RETRY) }
    }
    return pending.length === BATCH ? { nextRunInMs: 0 } : undefined
  }

  async function find(accountId: string): Promise<Account | undefined> {
    try {
      return await accounts.get(accountId)
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return undefined
      throw error
    }
  }

  /** Returns false when the report has to be read later. */
  async function readOne(account: Account, report: PendingReport): Promise<boolean> {
    const { id: accountId } = account
    const { messageId, createdAt } = report
    try {
      const raw = await readBeginning(accountId, messageId)
      await store(account, messageId, await parseDeliveryReport(raw))
      return true
    } catch (error) {
      if (!(error instanceof AppError) && !(error instanceof ProviderError)) throw error
      const isGone = error instanceof AppError ? error.code === 'not_found' : error.kind === 'not_found'
      const isLast = isGone || clock.now() - createdAt > GIVE_UP_MS
      await db.transaction<unknown>((tx) =>
        isLast ? bounceStore(tx).endPending(tx, messageId) : bounceStore(tx).countFailedRead(tx, messageId),
      )
      if (isGone) return true
      log.warn(
        isLast
          ? 'Cannot read a delivery report. It is not announced as a bounce.'
          : 'Cannot read a delivery report; the service tries again.',
        { accountId, operation: 'bounces.read', error, metadata: { messageId } },
      )
      return isLast
    }
  }

  async function readBeginning(accountId: string, messageId: string): Promise<Buffer> {
    const { sizeBytes, read } = await deps.reader.openRaw(accountId, messageId)
    const isLong = sizeBytes !== null && sizeBytes > MAX_REPORT_BYTES
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of await read(isLong ? { from: 0, length: MAX_REPORT_BYTES } : undefined)) {
      chunks.push(chunk)
      bytes += chunk.length
      // Leaving the loop destroys the stream.
      if (bytes >= MAX_REPORT_BYTES) break
    }
    return Buffer.concat(chunks)
  }

  async function store(account: Account, reportMessageId: string, report: DeliveryReport | undefined): Promise<void> {
    const { id: accountId, provider } = account
    await db.transaction(async (tx) => {
      await accounts.hold(tx, accountId)
      if (!(await bounceStore(tx).endPending(tx, reportMessageId)) || report === undefined) return
      const [row] = await messageStore(tx).byIds([reportMessageId])
      const sent = await match(tx, account, report, row?.threadId ?? null)
      const { kind, recipients, original } = report
      const messageId = sent?.messageId ?? null
      const bouncedAt = row?.receivedAt ?? clock.now()
      const earlier = messageId === null ? 0 : await bounceStore(tx).count(messageId)
      await bounceStore(tx).insert(tx, {
        reportMessageId,
        accountId,
        messageId,
        kind,
        bouncedAt,
        recipients: cleanJson(recipients),
      })
      const event: EventOf<typeof bounceEvents> = {
        type: 'message.bounced',
        accountId,
        provider,
        objectId: messageId ?? reportMessageId,
        version: earlier + 1,
        data: {
          messageId,
          reportMessageId,
          subject: sent?.subject ?? original.subject,
          kind,
          recipients,
          bouncedAt: isoTime(bouncedAt),
        },
      }
      await deps.events.record(tx, [event])
    })
  }

  async function match(
    tx: Tx,
    { id: accountId, email }: Account,
    { original: { sentToken, messageId } }: DeliveryReport,
    threadId: string | null,
  ): Promise<SentMessage | undefined> {
    const byToken = sentToken === null ? undefined : await deps.findByToken(tx, accountId, sentToken)
    if (byToken !== undefined || messageId === null) return byToken
    const byRfcId = await deps.findByRfcId(tx, accountId, messageId)
    if (byRfcId !== undefined) return byRfcId
    const row = await findSentByUser(tx, { accountId, email, threadId }, messageId)
    return row && { messageId: row.id, subject: row.subject }
  }

  return {
    /** For sync, in the transaction that stores these messages, whose headers are those of reports. */
    async request(tx: Tx, accountId: string, messageIds: readonly string[]): Promise<void> {
      if (messageIds.length === 0) return
      const createdAt = clock.now()
      await bounceStore(tx).addPending(
        tx,
        messageIds.map((messageId) => ({ messageId, accountId, attempts: 0, createdAt })),
      )
      await queue.addIn(tx, QUEUE, [accountId])
    },

    /** Also continues with reports of earlier processes. */
    async start(): Promise<void> {
      worker = queue.work(QUEUE, { concurrency: CONCURRENCY }, (accountId, { signal }) => run(accountId, signal))
      await addJobs(0)
      // Replaces jobs that the queue lost. The delay leaves the time of existing jobs unchanged.
      recovery = setInterval(() => {
        addJobs(BLOCKED_DELAY_MS).catch((error: unknown) =>
          log.warn('Cannot search for delivery reports to read. The next attempt is in ten minutes.', {
            operation: 'bounces.read',
            error,
          }),
        )
      }, BLOCKED_DELAY_MS)
    },

    async stop(graceMs: number): Promise<void> {
      clearInterval(recovery)
      await worker?.stop(graceMs)
      worker = undefined
    },
  }
}
