import type { Db, Tx } from '../../infra/db/index.ts'
import type { Queue } from '../../infra/queue/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, invalid } from '../../lib/errors.ts'
import { type Ids, secretToken } from '../../lib/ids.ts'
import { cleanText } from '../../lib/text.ts'
import type { ProviderName, RemoteAddress, SendProvider } from '../../providers/contract/index.ts'
import { composeMessage, newMessageId, type OutgoingMessage } from '../../providers/mime/index.ts'
import { type Account, type Accounts, requireScopes } from '../accounts/index.ts'
import { type MessageReader, releaseReserved, reserveMessage, type TrackingResult } from '../messages/index.ts'
import type { PreparedTracking, Tracking } from '../tracking/index.ts'
import { type OutboxView, outboxView, type SendBody } from './api.ts'
import { type ParsedInput, parseInput, readAll } from './input.ts'
import { outboxStore } from './store.ts'
import type { OutboxRow } from './tables.ts'

/** The queue whose job keys are the accounts with messages to send. */
export const SEND_QUEUE = 'send'

export interface OutboxDeps {
  db: Db
  clock: Clock
  ids: Ids
  queue: Queue
  accounts: Accounts
  reader: MessageReader
  sending(provider: ProviderName): SendProvider
  tracking: Pick<Tracking, 'prepare' | 'store'>
  /** Whether to track HTML messages whose request does not say. */
  tracksByDefault: boolean
}

/** A message without the fields that every sent message gets. */
export type Composition = Omit<OutgoingMessage, 'from' | 'messageId' | 'date' | 'sentToken'> & {
  from?: RemoteAddress | undefined
}

export interface SendOptions {
  sendAt: number | null
  /** The provider's id of the message that it replies to. */
  repliesTo: string | null
  draftId: string | null
  /** Insert the pixel and the links. */
  tracked: boolean
}

/** A composed message that is not stored yet. */
export interface PreparedMessage {
  row: OutboxRow
  content: Buffer
  tracking: PreparedTracking
}

export interface Accepted {
  messageId: string
  outboxId: string
  status: OutboxRow['status']
  tracking: TrackingResult
}

const DAY_MS = 24 * 60 * 60_000

/** Messages to send. `prepare` and `accept` are the two halves of every request that sends. */
export function outbox(deps: OutboxDeps) {
  const { db, clock, ids, queue, accounts, reader } = deps
  const store = (tx: Tx) => outboxStore(tx, db.dialect)

  /** Throws not_found, consent_required, and provider_rejected for an account that must be connected again. */
  async function sendingAccount(idOrAlias: string): Promise<Account> {
    const { id } = await accounts.resolve(db.read, idOrAlias)
    const account = await accounts.get(id)
    if (account.status === 'auth_error') {
      throw new AppError('provider_rejected', {
        message: 'The provider refused the credentials of this account. Connect the account again.',
      })
    }
    requireScopes(account, ['mail.send'])
    return account
  }

  async function prepare(account: Account, given: Composition, options: SendOptions): Promise<PreparedMessage> {
    const nowMs = clock.now()
    const id = ids('obx')
    const from = given.from ?? { name: '', email: account.email }
    const rfcMessageId = newMessageId(`${id.replace('_', '.')}.${secretToken().slice(0, 8)}`, account.email)
    const sentToken = secretToken()
    const messageId = ids('msg')
    const tracking = await deps.tracking.prepare({
      ...{ accountId: account.id, messageId, rfcMessageId, subject: cleanText(given.subject) },
      ...{ html: given.html, insert: options.tracked },
    })
    const headers = tracking.isInserted ? [...given.headers, ...trackingHeaders(tracking.result)] : given.headers
    const content = await composeMessage({
      ...{ ...given, html: tracking.html, headers, from },
      ...{ messageId: rfcMessageId, date: options.sendAt ?? nowMs, sentToken },
    })
    const { to, cc, bcc } = given
    const dueAt = options.sendAt ?? nowMs
    return {
      content,
      tracking,
      row: {
        ...{ id, accountId: account.id, messageId, rfcMessageId, sentToken, draftId: options.draftId },
        status: options.sendAt === null ? 'queued' : 'scheduled',
        subject: cleanText(given.subject),
        envelope: JSON.stringify({ from, to, cc, bcc }),
        ...{ repliesTo: options.repliesTo, sizeBytes: content.length, refused: '[]', error: null },
        ...{ attempts: 0, checks: 0, sendAt: options.sendAt, dueAt, giveUpAt: dueAt + DAY_MS },
        ...{ lease: null, leasedUntil: null, committedAt: null, providerMessageId: null, sentAt: null },
        ...{ createdAt: nowMs, updatedAt: nowMs },
      },
    }
  }

  return {
    sendingAccount,
    prepare,

    /** Stores the message to send and reserves its id, in the transaction that answers the request. */
    async accept(tx: Tx, { row, content, tracking }: PreparedMessage): Promise<Accepted> {
      await accounts.hold(tx, row.accountId)
      await store(tx).insert(row, content)
      await deps.tracking.store(tx, tracking)
      const { accountId, messageId, rfcMessageId, sentToken } = row
      await reserveMessage(tx, { accountId, messageId, as: 'sent' }, [{ rfcMessageId }, { sentToken }], row.createdAt)
      const delayMs = Math.max(0, (row.dueAt ?? 0) - row.createdAt)
      await queue.addIn(tx, SEND_QUEUE, [accountId], { delayMs })
      return { messageId, outboxId: row.id, status: row.status, tracking: tracking.result }
    },

    /** Checks and composes the message of a request. Throws `validation_failed`, and as `sendingAccount`. */
    async prepareRequest(idOrAlias: string, body: SendBody): Promise<PreparedMessage> {
      const account = await sendingAccount(idOrAlias)
      const input = parseInput(body, clock.now())
      const { from } = input
      const refused = input.headers.find(({ name }) => deps.sending(account.provider).acceptsHeader?.(name) === false)
      if (refused !== undefined) {
        const message = `A ${account.provider} account sends only header fields whose names begin with X-, not ${refused.name}.`
        throw new AppError('not_supported', { message })
      }
      if (from !== undefined && from.email.toLowerCase() !== account.email.toLowerCase()) {
        throw invalid('body.from', "must be the account's address")
      }
      const replied = await findOriginal(account, 'replyToMessageId', body.replyToMessageId)
      const forwarded = await findOriginal(account, 'forwardMessageId', body.forwardMessageId)
      const to = recipientsOf(body, input, replied)
      const subject = subjectOf(body, replied, forwarded)
      if (body.body === undefined && forwarded === undefined) throw invalid('body.body', 'is required')
      const text = body.body ?? ''
      const attachments = [...input.attachments, ...(await referenced(account, input))]
      if (forwarded !== undefined) attachments.push(await forwardedMessage(account, forwarded))
      const references = replied === undefined ? [] : [...replied.references, replied.messageId ?? []].flat()
      const { cc, bcc, replyTo, headers, sendAt } = input
      const composition: Composition = {
        ...{ from, to, cc, bcc, replyTo, headers, subject, attachments },
        ...(body.isHtml === true ? { text: null, html: text } : { text, html: null }),
        ...{ inReplyTo: replied?.messageId ?? null, references },
      }
      const tracked = body.tracking ?? deps.tracksByDefault
      const repliesTo = replied?.providerMessageId ?? null
      return prepare(account, composition, { sendAt, repliesTo, draftId: null, tracked })
    },

    async list(query: Parameters<ReturnType<typeof outboxStore>['list']>[0]) {
      const { items, pagination } = await outboxStore(db.read, db.dialect).list(query)
      return { items: items.map(outboxView), pagination }
    },

    get: async (id: string): Promise<OutboxView> => outboxView(await outboxStore(db.read, db.dialect).get(id)),

    /** Cancels a message that has not been sent. Throws not_found, and conflict once sending has begun. */
    async cancel(tx: Tx, id: string): Promise<void> {
      const row = await store(tx).lock(id)
      if (row.status === 'cancelled') return
      if (row.status === 'uncertain') throw conflict('Its outcome is unknown. Use POST /outbox/{id}/resolve.')
      if (row.committedAt !== null && row.status !== 'failed') throw conflict('The message was sent, or is being sent.')
      await end(tx, row, { status: 'cancelled' })
    },

    /** Ends a message that failed or whose outcome is unknown. Throws not_found, conflict. */
    async resolve(tx: Tx, id: string, as: 'sent' | 'retry' | 'discard'): Promise<OutboxView> {
      const row = await store(tx).lock(id)
      const isUncertain = row.status === 'uncertain'
      if (!isUncertain && (row.status !== 'failed' || as === 'sent')) {
        throw conflict(`A message that is ${row.status} cannot be resolved as ${as}.`)
      }
      const nowMs = clock.now()
      if (as === 'discard') return outboxView(await end(tx, row, { status: 'cancelled' }))
      await accounts.hold(tx, row.accountId)
      const { accountId, messageId, rfcMessageId, sentToken } = row
      await reserveMessage(tx, { accountId, messageId, as: 'sent' }, [{ rfcMessageId }, { sentToken }], nowMs)
      await queue.addIn(tx, SEND_QUEUE, [accountId])
      const common = { error: null, checks: 0, dueAt: nowMs, updatedAt: nowMs, lease: null, leasedUntil: null }
      const changes =
        as === 'sent'
          ? { status: 'sent' as const, sentAt: row.committedAt ?? nowMs }
          : { status: 'queued' as const, committedAt: null, giveUpAt: nowMs + DAY_MS }
      return outboxView(await store(tx).update(id, { ...common, ...changes }))
    },
  }

  /** The worker removes the draft of an attempt from the provider, and ends its reservation. */
  async function end(tx: Tx, row: OutboxRow, changes: Partial<OutboxRow>): Promise<OutboxRow> {
    const nowMs = clock.now()
    const hasDraft = row.providerMessageId !== null
    if (hasDraft) await queue.addIn(tx, SEND_QUEUE, [row.accountId])
    else await releaseReserved(tx, row.messageId)
    await store(tx).dropContent(row.id)
    const released = { checks: 0, dueAt: hasDraft ? nowMs : null, lease: null, leasedUntil: null, updatedAt: nowMs }
    return store(tx).update(row.id, { ...released, ...changes })
  }

  async function findOriginal({ id }: Account, field: string, messageId: string | null | undefined) {
    if (!messageId) return undefined
    return reader.message(id, messageId).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'not_found') {
        throw invalid(`body.${field}`, 'is not the id of a message of this account')
      }
      throw error
    })
  }

  async function referenced({ id }: Account, { references }: ParsedInput) {
    const found = []
    for (const { path, messageId, attachmentId, contentId } of references) {
      const { contentType, filename, read } = await reader.openAttachment(id, messageId, attachmentId)
      found.push({ filename, contentType, contentId, content: await readAll(await read(), path) })
    }
    return found
  }

  async function forwardedMessage(account: Account, { id, subject }: { id: string; subject: string }) {
    const { read } = await reader.openRaw(account.id, id)
    const content = await readAll(await read(), 'body.forwardMessageId')
    return { filename: `${subject || 'message'}.eml`, contentType: 'message/rfc822', content, contentId: null }
  }
}

function trackingHeaders({ headers }: TrackingResult) {
  return Object.entries(headers).map(([name, value]) => ({ name, value }))
}

export type Outbox = ReturnType<typeof outbox>

type Original = Awaited<ReturnType<MessageReader['message']>>

function recipientsOf(body: SendBody, { to, cc, bcc }: ParsedInput, replied: Original | undefined): RemoteAddress[] {
  if (to.length + cc.length + bcc.length > 0 && body.to !== undefined) return to
  const senders =
    replied === undefined ? [] : replied.replyTo.length > 0 ? replied.replyTo : [replied.from ?? []].flat()
  if (to.length === 0 && senders.length > 0) return senders
  if (to.length + cc.length + bcc.length === 0) throw invalid('body.to', 'must name at least one recipient')
  return to
}

function subjectOf({ subject }: SendBody, replied: Original | undefined, forwarded: Original | undefined): string {
  if (subject !== undefined && subject !== '') return subject
  if (replied !== undefined) return prefixed('Re:', replied.subject)
  if (forwarded !== undefined) return prefixed('Fwd:', forwarded.subject)
  throw invalid('body.subject', 'is required')
}

function prefixed(prefix: string, subject: string): string {
  return subject.toLowerCase().startsWith(prefix.toLowerCase()) ? subject : `${prefix} ${subject}`.trim()
}

function conflict(message: string): AppError {
  return new AppError('conflict', { message })
}
