import { createHash } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Tables } from '../../../infra/db/index.ts'
import { cleanJson, cleanText, truncateText } from '../../../lib/text.ts'
import type { RemoteMessage } from '../../../providers/contract/index.ts'

/** The part of a message that is only shown, as JSON in `fields`. */
export type MessageFields = Pick<
  RemoteMessage,
  'messageId' | 'inReplyTo' | 'references' | 'from' | 'to' | 'cc' | 'bcc' | 'replyTo' | 'date' | 'attachments'
>

/** A mail as it came from the provider, ready to be stored; id, folder and times are given when it is. */
export type IncomingRow = Omit<
  Selectable<Tables['messages']>,
  'id' | 'accountId' | 'folderId' | 'goneAt' | 'version' | 'createdAt' | 'updatedAt'
>

/** Texts beyond this are cut: the store shows a mail, the provider keeps it. */
const MAX_SUBJECT = 2000
const MAX_TEXT = 4096
const MAX_SNIPPET = 300
const MAX_ERROR = 500

/** Where and when a mail is stored. */
export interface Incoming {
  accountId: string
  labelId: string
  nowMs: number
}

/**
 * Cleans and bounds everything, so that both engines accept the row, and hashes what recognises the mail elsewhere.
 * `accountId` enters the thread id: threads never join two accounts.
 */
export function incomingRow(message: RemoteMessage, { accountId, labelId, nowMs }: Incoming): IncomingRow {
  const receivedAt = wholeNumber(message.receivedAt, nowMs)
  const sizeBytes = wholeNumber(message.sizeBytes, 0)
  return {
    providerMessageId: cleanText(message.providerMessageId ?? placeName(labelId, message.location)),
    threadId: threadOf(message, accountId),
    uidValidity: message.location?.uidValidity ?? null,
    uid: message.location?.uid ?? null,
    emailIdHash: message.emailId === null ? null : hash('email', message.emailId),
    identityHash:
      message.messageId === null ? null : hash('identity', message.messageId, String(receivedAt), String(sizeBytes)),
    headerHash: hash('header', message.headerHash),
    subject: truncateText(cleanText(message.subject), MAX_SUBJECT),
    receivedAt,
    unread: message.unread ? 1 : 0,
    starred: message.starred ? 1 : 0,
    hasAttachments: message.attachments.some((attachment) => !attachment.inline) ? 1 : 0,
    sizeBytes,
    snippet: truncateText(cleanText(message.snippet), MAX_SNIPPET),
    text: truncateText(cleanText(message.text), MAX_TEXT),
    fields: cleanJson(fieldsOf(message)),
    error: message.error === null ? null : truncateText(cleanText(message.error), MAX_ERROR),
  }
}

/** The name of a mail that has none of its own: the folder's id, because its path changes with a rename. */
function placeName(labelId: string, place: RemoteMessage['location']): string {
  return `${labelId}.${place?.uidValidity ?? ''}.${place?.uid ?? ''}`
}

/** What remains of a row that the database refused: where it stands, what recognises it, and why there is no more. */
export function refusedRow<Row extends IncomingRow>(row: Row, reason: string): Row {
  const empty: MessageFields = {
    messageId: null,
    inReplyTo: null,
    references: [],
    from: null,
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    date: null,
    attachments: [],
  }
  return {
    ...row,
    subject: '',
    snippet: '',
    text: '',
    threadId: null,
    hasAttachments: 0,
    fields: JSON.stringify(empty),
    error: truncateText(cleanText(reason), MAX_ERROR),
  }
}

function fieldsOf(message: RemoteMessage): MessageFields {
  const { messageId, inReplyTo, references, from, to, cc, bcc, replyTo, date, attachments } = message
  return { messageId, inReplyTo, references, from, to, cc, bcc, replyTo, date: validDate(date), attachments }
}

/** The provider's thread; else the first mail of the conversation, as the References header tells it. */
function threadOf(message: RemoteMessage, accountId: string): string | null {
  const root = message.threadId ?? message.references[0] ?? message.inReplyTo ?? message.messageId
  return root === null ? null : `thr_${hash('thread', accountId, root).slice(0, 26)}`
}

/** Index entries are bounded whatever the header holds. */
function hash(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 40)
}

function wholeNumber(value: number, otherwise: number): number {
  return Number.isSafeInteger(Math.round(value)) ? Math.round(value) : otherwise
}

const MAX_DATE_MS = 8.64e15

function validDate(ms: number | null): number | null {
  return ms === null || !Number.isFinite(ms) || Math.abs(ms) > MAX_DATE_MS ? null : Math.round(ms)
}
