import { type Account, type Accounts, requireScopes } from '../../accounts/index.ts'
import type { Db, Handle, Tx } from '../../platform/db/index.ts'
import { AppError, invalid } from '../../platform/errors/app-error.ts'
import { asciiEmail } from '../../platform/formats/email-address.ts'
import { cleanText } from '../../platform/formats/text.ts'
import type { UploadedFile } from '../../platform/http/index.ts'
import { type Ids, secretToken } from '../../platform/ids.ts'
import type { Queue } from '../../platform/queue/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ProviderName, RemoteAddress, SendProvider } from '../../providers/contract/index.ts'
import { composeMessage, newMessageId, type OutgoingMessage } from '../../providers/shared/mime/index.ts'
import { bouncedRecipients } from '../bounces/index.ts'
import { labelStore } from '../labels/index.ts'
import {
  MAX_RECIPIENTS,
  type MessageReader,
  openReferences,
  readAttachments,
  releaseReserved,
  reserveMessage,
  type SendResult,
  type TrackingResult,
  type UnreadAttachment,
} from '../messages/index.ts'
import type { PreparedTracking, Tracking } from '../tracking/index.ts'
import { type OutboxView, outboxView, type SendBody } from './api.ts'
import { type ParsedInput, parseInput } from './input.ts'
import { recipientsOfReply, referencesOfReply } from './replies.ts'
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
  /** Of a draft. The message keeps it unless an earlier message of the draft may have been sent. */
  messageId?: string | undefined
}

export interface SendOptions {
  sendAt: number | null
  /** The message that it replies to. */
  repliesTo: { id: string; providerMessageId: string } | null
  /** The draft that is sent: it is deleted afterwards, unless it was changed and so has another hash. */
  draft: { id: string; hash: string } | null
  /** Insert the pixel and the links. Undefined: as set for the service. */
  tracked: boolean | undefined
}

/** A composed message that is not stored yet. */
export interface PreparedMessage {
  row: OutboxRow
  content: Buffer
  tracking: PreparedTracking
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
    const unique = `${id.replace('_', '.')}.${secretToken().slice(0, 8)}`
    const { draft } = options
    // Mail servers and programs take two messages with one Message-ID for the same one.
    const isFirst = draft === null || !(await outboxStore(db.read, db.dialect).wasAttempted(draft.id))
    const rfcMessageId = (isFirst ? given.messageId : undefined) ?? newMessageId(unique, account.email)
    const sentToken = secretToken()
    const messageId = ids('msg')
    const tracking = await deps.tracking.prepare({
      accountId: account.id,
      messageId,
      rfcMessageId,
      subject: cleanText(given.subject),
      html: given.html,
      insert: options.tracked ?? deps.tracksByDefault,
    })
    const headers = tracking.isInserted ? [...given.headers, ...trackingHeaders(tracking.result)] : given.headers
    const content = await composeMessage({
      ...given,
      html: tracking.html,
      headers,
      from,
      messageId: rfcMessageId,
      date: options.sendAt ?? nowMs,
      sentToken,
    })
    const { to, cc, bcc } = given
    const dueAt = options.sendAt ?? nowMs
    return {
      content,
      tracking,
      row: {
        id,
        accountId: account.id,
        messageId,
        rfcMessageId,
        sentToken,
        draftId: draft?.id ?? null,
        draftHash: draft?.hash ?? null,
        remaining: null,
        status: options.sendAt === null ? 'queued' : 'scheduled',
        subject: cleanText(given.subject),
        envelope: JSON.stringify({ from, to, cc, bcc }),
        repliesTo: options.repliesTo?.providerMessageId ?? null,
        repliedId: options.repliesTo?.id ?? null,
        sizeBytes: content.length,
        refused: '[]',
        error: null,
        attempts: 0,
        checks: 0,
        sendAt: options.sendAt,
        dueAt,
        giveUpAt: dueAt + DAY_MS,
        lease: null,
        leasedUntil: null,
        committedAt: null,
        providerMessageId: null,
        sentAt: null,
        createdAt: nowMs,
        updatedAt: nowMs,
      },
    }
  }

  return {
    sendingAccount,
    prepare,

    /**
     * Stores the message to send and reserves its id, in the transaction that answers the request. Returns the response. Throws
     * `conflict` when the draft is being sent already.
     */
    async accept(tx: Tx, { row, content, tracking }: PreparedMessage): Promise<SendResult> {
      await accounts.hold(tx, row.accountId)
      await ensureOnlyOne(tx, row)
      await store(tx).insert(row, content)
      await deps.tracking.store(tx, tracking)
      const { accountId, messageId, rfcMessageId, sentToken } = row
      await reserveMessage(tx, { accountId, messageId, as: 'sent' }, [{ rfcMessageId }, { sentToken }], row.createdAt)
      const delayMs = Math.max(0, (row.dueAt ?? 0) - row.createdAt)
      await queue.addIn(tx, SEND_QUEUE, [accountId], { delayMs })
      const result = { success: true, messageId, tracking: tracking.result }
      return { success: true, result, outboxId: row.id, status: row.status }
    },

    /** Checks and composes the message of a request and its files. Throws `validation_failed`, and as `sendingAccount`. */
    async prepareRequest(idOrAlias: string, body: SendBody, files?: readonly UploadedFile[]): Promise<PreparedMessage> {
      const account = await sendingAccount(idOrAlias)
      const input = parseInput(body, files, clock.now())
      const { from } = input
      const refused = input.headers.find(({ name }) => deps.sending(account.provider).acceptsHeader?.(name) === false)
      if (refused !== undefined) {
        const message = `A ${account.provider} account sends only header fields whose names begin with X-, not ${refused.name}.`
        throw new AppError('not_supported', { message })
      }
      if (from !== undefined && from.email.toLowerCase() !== asciiEmail(account.email).toLowerCase()) {
        throw invalid('body.from', "must be the account's address")
      }
      const replied = await findOriginal(account, 'replyToMessageId', body.replyToMessageId)
      const forwarded = await findOriginal(account, 'forwardMessageId', body.forwardMessageId)
      const to = await recipientsOf(account, body, input, replied)
      const subject = subjectOf(body, replied, forwarded)
      if (body.body === undefined && forwarded === undefined) throw invalid('body.body', 'is required')
      const text = body.body ?? ''
      const given = openReferences(reader, account.id, input.attachments)
      if (forwarded !== undefined) given.push(forwardedMessage(account, forwarded))
      const attachments = await readAttachments(given)
      const references = replied === undefined ? [] : referencesOfReply(replied)
      const { cc, bcc, replyTo, headers, sendAt } = input
      const composition: Composition = {
        from,
        to,
        cc,
        bcc,
        replyTo,
        headers,
        subject,
        attachments,
        ...(body.isHtml === true ? { text: null, html: text } : { text, html: null }),
        inReplyTo: replied?.messageId ?? null,
        references,
      }
      const options = { sendAt, repliesTo: replied ?? null, draft: null, tracked: body.tracking }
      return prepare(account, composition, options)
    },

    /** The message that was sent, or may have been, with this value of `X-Posthorn-Id`. */
    async findSent(tx: Tx, accountId: string, sentToken: string) {
      const row = await store(tx).findByToken(sentToken)
      const wasAttempted = row?.accountId === accountId && row.committedAt !== null
      return wasAttempted ? { messageId: row.messageId, subject: row.subject } : undefined
    },

    async list(query: Parameters<ReturnType<typeof outboxStore>['list']>[0]) {
      const { items, pagination } = await outboxStore(db.read, db.dialect).list(query)
      return { items: await views(db.read, items), pagination }
    },

    get: async (id: string): Promise<OutboxView> => view(db.read, await outboxStore(db.read, db.dialect).get(id)),

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
      if (as === 'discard') return view(tx, await end(tx, row, { status: 'cancelled' }))
      await accounts.hold(tx, row.accountId)
      if (as === 'retry') await ensureOnlyOne(tx, row)
      const { accountId, messageId, rfcMessageId, sentToken } = row
      await reserveMessage(tx, { accountId, messageId, as: 'sent' }, [{ rfcMessageId }, { sentToken }], nowMs)
      await queue.addIn(tx, SEND_QUEUE, [accountId])
      const common = { error: null, checks: 0, dueAt: nowMs, giveUpAt: nowMs + DAY_MS, updatedAt: nowMs }
      const changes =
        as === 'sent'
          ? { status: 'sent' as const, sentAt: row.committedAt ?? nowMs, remaining: 'copy' as const }
          : { status: 'queued' as const, committedAt: null }
      return view(tx, await store(tx).update(id, { ...common, ...changes, lease: null, leasedUntil: null }))
    },
  }

  /** The worker removes the draft of an attempt from the provider, and ends its reservation. */
  async function end(tx: Tx, row: OutboxRow, changes: Partial<OutboxRow>): Promise<OutboxRow> {
    const nowMs = clock.now()
    const hasDraft = row.providerMessageId !== null
    if (hasDraft) await queue.addIn(tx, SEND_QUEUE, [row.accountId])
    else await releaseReserved(tx, row.messageId)
    await store(tx).dropContent([row.id])
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

  async function recipientsOf(
    { email: ownEmail }: Account,
    body: SendBody,
    { to, cc, bcc }: ParsedInput,
    replied: Original | undefined,
  ): Promise<RemoteAddress[]> {
    if (to.length > 0 || (cc.length + bcc.length > 0 && body.to !== undefined)) return to
    if (replied === undefined) {
      if (cc.length + bcc.length === 0) throw invalid('body.to', 'must name at least one recipient')
      return to
    }
    const labels = await labelStore(db.read).byIds(replied.labelIds)
    const isInSent = [...labels.values()].some(({ role }) => role === 'sent')
    const recipients = recipientsOfReply(replied, { ownEmail, isInSent })
    if (recipients.length === 0) {
      throw invalid('body.to', 'must name the recipients: the message names no address that a reply can go to')
    }
    if (recipients.length + cc.length + bcc.length > MAX_RECIPIENTS) {
      throw invalid('body.to', `must name the recipients: those of the message are more than ${MAX_RECIPIENTS}`)
    }
    return recipients
  }

  function forwardedMessage(account: Account, { id, subject }: { id: string; subject: string }): UnreadAttachment {
    const file = { filename: `${subject || 'message'}.eml`, contentType: 'message/rfc822' }
    const open = async () => ({ ...file, read: (await reader.openRaw(account.id, id)).read })
    return { path: 'body.forwardMessageId', contentId: null, open }
  }

  /** A draft is sent once, so at most one of its messages may be sent or on its way. Call it after `accounts.hold`. */
  async function ensureOnlyOne(tx: Tx, { id, draftId }: OutboxRow): Promise<void> {
    const other = draftId === null ? undefined : await store(tx).findOpenOfDraft(draftId, id)
    if (other !== undefined) throw conflict(`The draft is being sent already: see GET /outbox/${other}.`)
  }
}

async function view(handle: Handle, row: OutboxRow): Promise<OutboxView> {
  return outboxView(row, (await bouncedRecipients(handle, [row.messageId])).get(row.messageId))
}

async function views(handle: Handle, rows: readonly OutboxRow[]): Promise<OutboxView[]> {
  const bounced = await bouncedRecipients(
    handle,
    rows.map(({ messageId }) => messageId),
  )
  return rows.map((row) => outboxView(row, bounced.get(row.messageId)))
}

function trackingHeaders({ headers }: TrackingResult) {
  return Object.entries(headers).map(([name, value]) => ({ name, value }))
}

export type Outbox = ReturnType<typeof outbox>

type Original = Awaited<ReturnType<MessageReader['message']>>

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
