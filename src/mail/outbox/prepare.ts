import type { Account } from '../../accounts/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { cleanText } from '../../platform/formats/text.ts'
import { type Ids, secretToken } from '../../platform/ids.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { RemoteAddress } from '../../providers/contract/index.ts'
import { composeMessage, newMessageId, type OutgoingMessage } from '../../providers/shared/mime/index.ts'
import type { TrackingResult } from '../outgoing/index.ts'
import type { PreparedTracking, Tracking } from '../tracking/index.ts'
import { outboxStore } from './store.ts'
import type { OutboxRow } from './tables.ts'

/** A message without the fields that every sent message gets. */
export type Composition = Omit<OutgoingMessage, 'from' | 'messageId' | 'date' | 'sentToken'> & {
  from?: RemoteAddress | undefined
  /** Set for a draft. The message keeps it unless an earlier message of the draft may have been sent. */
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

export const DAY_MS = 24 * 60 * 60_000

export interface PrepareDeps {
  db: Db
  clock: Clock
  ids: Ids
  tracking: Pick<Tracking, 'prepare' | 'store'>
  /** Whether to track HTML messages whose request does not say. */
  tracksByDefault: boolean
}

/** Composes the message, with its ids and with tracking, and builds its row. */
export async function prepareMessage(
  deps: PrepareDeps,
  account: Account,
  composition: Composition,
  options: SendOptions,
): Promise<PreparedMessage> {
  const nowMs = deps.clock.now()
  const id = deps.ids('obx')
  const messageId = deps.ids('msg')
  const from = composition.from ?? { name: '', email: account.email }
  const subject = cleanText(composition.subject)
  const rfcMessageId = await chooseMessageId(deps, { id, account, composition, options })
  const sentToken = secretToken()
  const tracking = await deps.tracking.prepare({
    accountId: account.id,
    messageId,
    rfcMessageId,
    subject,
    html: composition.html,
    insert: options.tracked ?? deps.tracksByDefault,
  })
  const content = await composeMessage({
    ...composition,
    html: tracking.html,
    headers: tracking.isInserted ? [...composition.headers, ...trackingHeaders(tracking.result)] : composition.headers,
    from,
    messageId: rfcMessageId,
    date: options.sendAt ?? nowMs,
    sentToken,
  })
  const { to, cc, bcc } = composition
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
      draftId: options.draft?.id ?? null,
      draftHash: options.draft?.hash ?? null,
      remaining: null,
      status: options.sendAt === null ? 'queued' : 'scheduled',
      subject,
      envelope: JSON.stringify({ from, to, cc, bcc }),
      repliesTo: options.repliesTo?.providerMessageId ?? null,
      repliedId: options.repliesTo?.id ?? null,
      sizeBytes: content.length,
      refused: '[]',
      error: null,
      copyError: null,
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

interface NewMessage {
  /** The row's id in the outbox. */
  id: string
  account: Account
  composition: Composition
  options: SendOptions
}

/** Only the first message of a draft keeps the draft's Message-ID: mail servers take two messages with one id for the same message. */
async function chooseMessageId(
  { db }: PrepareDeps,
  { id, account, composition, options }: NewMessage,
): Promise<string> {
  const { draft } = options
  const isFirst = draft === null || !(await outboxStore(db.read, db.dialect).wasAttempted(draft.id))
  if (isFirst && composition.messageId !== undefined) return composition.messageId
  return newMessageId(`${id.replace('_', '.')}.${secretToken().slice(0, 8)}`, account.email)
}

function trackingHeaders({ headers }: TrackingResult) {
  return Object.entries(headers).map(([name, value]) => ({ name, value }))
}
