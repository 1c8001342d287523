import { sql } from 'kysely'
import { sha256 } from '../../../platform/crypto/sha256.ts'
import { type Dialect, insertRows, type Tx } from '../../../platform/db/index.ts'
import { cleanJson, cleanText, truncateCharacters, truncateText } from '../../../platform/formats/text.ts'
import type { MessageIdentity, RemoteMessage } from '../../../providers/contract/index.ts'
import type { MessageRow } from '../store.ts'

/** The parts of a message that the API only returns, stored as JSON in `fields`. */
export type MessageFields = Pick<
  RemoteMessage,
  'messageId' | 'inReplyTo' | 'references' | 'from' | 'to' | 'cc' | 'bcc' | 'replyTo' | 'date' | 'attachments'
> & {
  /** Only of messages that went to many readers, or that a program wrote. */
  bulk?: true
  /** Only of messages that a search at the provider found: their labels, because they are in no list. */
  labelIds?: string[]
}

/** The columns that come from the provider. `newMessageRow` adds the others, and `messageWriter` a missing thread. */
export type IncomingRow = Omit<
  MessageRow,
  | 'id'
  | 'accountId'
  | 'folderId'
  | 'reader'
  | 'goneAt'
  | 'apiChange'
  | 'confirmations'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
>

/** Longer texts are cut: the provider has the complete message. */
/** In characters; the other limits are in UTF-16 units. */
const MAX_SUBJECT = 5000
const MAX_TEXT = 4096
/** Only a guard: providers return 200 characters. */
const MAX_SNIPPET = 300
const MAX_ERROR = 500

/**
 * Turns a provider's message into columns. Cleans and bounds every text, so that both databases accept the row, and
 * hashes the values that recognise the message after a move. `labelId` is the message's folder.
 */
export function incomingRow(
  message: RemoteMessage,
  { accountId, labelId, nowMs }: { accountId: string; labelId: string; nowMs: number },
): IncomingRow {
  const { location, emailId, messageId } = message
  const reported = integerOr(nowMs, message.receivedAt)
  const receivedAt = reported < 0 || reported > LATEST_TIME ? nowMs : reported
  const sizeBytes = integerOr(0, message.sizeBytes)
  // With the folder's id, because its path changes with a rename.
  const locationId = `${labelId}.${location?.uidValidity ?? ''}.${location?.uid ?? ''}`
  return {
    providerMessageId: cleanText(message.providerMessageId ?? locationId),
    threadId: message.threadId === null ? null : buildThreadId(accountId, message.threadId),
    uidValidity: location?.uidValidity ?? null,
    uid: location?.uid ?? null,
    emailIdHash: emailId === null ? null : hash('email', emailId),
    identityHash: identityHash({ messageId, receivedAt }),
    headerHash: hash('header', message.headerHash),
    traceHash: message.traceHash === undefined ? null : hash('trace', message.traceHash),
    subject: truncateCharacters(cleanText(message.subject), MAX_SUBJECT),
    receivedAt,
    unread: message.unread ? 1 : 0,
    starred: message.starred ? 1 : 0,
    hasAttachments: message.attachments.some((attachment) => !attachment.inline) ? 1 : 0,
    sizeBytes,
    snippet: truncateText(cleanText(message.snippet), MAX_SNIPPET),
    text: truncateText(cleanText(message.text), MAX_TEXT),
    fields: cleanJson(toFields(message)),
    error: message.error === null ? null : truncateText(cleanText(message.error), MAX_ERROR),
  }
}

/** The row of a message that is stored for the first time. */
export function newMessageRow(
  incoming: IncomingRow,
  { accountId, labelId, id, nowMs }: { accountId: string; labelId: string | null; id: string; nowMs: number },
): MessageRow {
  // The spread is last: V8 needs microseconds for every member that follows one.
  return {
    id,
    accountId,
    folderId: labelId,
    reader: null,
    goneAt: null,
    apiChange: null,
    confirmations: 0,
    version: 1,
    createdAt: nowMs,
    updatedAt: nowMs,
    ...incoming,
  }
}

/** The `traceHash` of a message that was never delivered: saved by a program, or written on the server. */
export const NO_TRACE = hash('trace', sha256('', 'hex'))

const CONTENT = [
  ...(['identityHash', 'headerHash', 'traceHash', 'subject', 'receivedAt', 'hasAttachments', 'sizeBytes'] as const),
  ...(['snippet', 'text', 'fields', 'error'] as const),
] as const

export function pickContent(incoming: IncomingRow): Pick<IncomingRow, (typeof CONTENT)[number]> {
  const { identityHash, headerHash, traceHash, subject, receivedAt, hasAttachments, sizeBytes } = incoming
  const { snippet, text, fields, error } = incoming
  return {
    identityHash,
    headerHash,
    traceHash,
    subject,
    receivedAt,
    hasAttachments,
    sizeBytes,
    snippet,
    text,
    fields,
    error,
  }
}

/** Rows of earlier versions have another `identityHash` of the same, and no `traceHash`. */
const CHANGED_BY_VERSIONS: ReadonlySet<string> = new Set(['identityHash', 'traceHash'])

export function hasNewContent(row: MessageRow, incoming: IncomingRow): boolean {
  return CONTENT.some((column) => !CHANGED_BY_VERSIONS.has(column) && row[column] !== incoming[column])
}

const ROWS_PER_INSERT = 100

/**
 * Inserts rows in batches and returns them as stored. When the database refuses a batch, the batch is halved until one
 * row is left. That row is stored stripped, with `error`, so that one malformed message never blocks an account.
 * A row that is refused even then is missing from the result.
 */
export async function insertMessages(tx: Tx, dialect: Dialect, rows: readonly MessageRow[]): Promise<MessageRow[]> {
  const stored: MessageRow[] = []
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    stored.push(...(await insertBatch(tx, dialect, rows.slice(start, start + ROWS_PER_INSERT))))
  }
  return stored
}

async function insertBatch(tx: Tx, dialect: Dialect, rows: MessageRow[]): Promise<MessageRow[]> {
  const refusal = await tryInsert(tx, dialect, rows)
  if (refusal === undefined) return rows
  const [first] = rows
  if (first !== undefined && rows.length === 1) {
    const stripped = strippedRow(first, `The database refused this message: ${refusal}`)
    return (await tryInsert(tx, dialect, [stripped])) === undefined ? [stripped] : []
  }
  const half = Math.ceil(rows.length / 2)
  return [
    ...(await insertBatch(tx, dialect, rows.slice(0, half))),
    ...(await insertBatch(tx, dialect, rows.slice(half))),
  ]
}

/**
 * Returns why the database refused a row; undefined after success. The savepoint is for PostgreSQL, where a failed
 * statement otherwise aborts the whole transaction.
 */
async function tryInsert(tx: Tx, dialect: Dialect, rows: MessageRow[]): Promise<string | undefined> {
  await sql`savepoint "batch"`.execute(tx)
  try {
    await insertRows(tx, 'messages', rows)
    await sql`release savepoint "batch"`.execute(tx)
    return undefined
  } catch (error) {
    if (!dialect.isRefusedRow(error)) throw error
    await sql`rollback to savepoint "batch"`.execute(tx)
    await sql`release savepoint "batch"`.execute(tx)
    return error instanceof Error ? error.message : 'unknown'
  }
}

/** Strips a row that the database refused down to its location, its flags, its hashes and the reason. */
function strippedRow(row: MessageRow, reason: string): MessageRow {
  const fields: MessageFields = {
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
    fields: JSON.stringify(fields),
    error: truncateText(cleanText(reason), MAX_ERROR),
  }
}

/** The columns that change when a message moves. */
export function locationAndFlags({ uidValidity, uid, providerMessageId, unread, starred }: IncomingRow) {
  return { uidValidity, uid, providerMessageId, unread, starred }
}

/** Only `incomingRow` and `strippedRow` write `fields`, so its shape is known. */
export function parseFields(fields: string): MessageFields {
  return JSON.parse(fields)
}

/** A program that moves a message by copying it may add a header line, so that the size is no part of it. */
export function identityHash({ messageId, receivedAt }: MessageIdentity): string | null {
  return messageId === null ? null : hash('message', messageId, String(receivedAt))
}

/** As rows have it that earlier versions stored. */
export function formerIdentityHash({ messageId, receivedAt }: MessageIdentity, sizeBytes: number): string | null {
  return messageId === null ? null : hash('identity', messageId, String(receivedAt), String(sizeBytes))
}

/** Builds the identity that the provider must return for this row. Undefined for a message that could not be read. */
export function toIdentity({
  error,
  fields,
  receivedAt,
}: Pick<MessageRow, 'error' | 'fields' | 'receivedAt'>): MessageIdentity | undefined {
  return error === null ? { messageId: parseFields(fields).messageId, receivedAt } : undefined
}

/** True for a message with a provider id that a search found, and that sync does not cover. */
export function isFound({ fields }: Pick<MessageRow, 'fields'>): boolean {
  return parseFields(fields).labelIds !== undefined
}

export function withFoundLabels(fields: string, labelIds: readonly string[]): string {
  return JSON.stringify({ ...parseFields(fields), labelIds })
}

const MAX_DATE_MS = 8.64e15

function toFields(message: RemoteMessage): MessageFields {
  const { messageId, inReplyTo, references, from, to, cc, bcc, replyTo, date, attachments } = message
  const isValid = date !== null && Number.isFinite(date) && Math.abs(date) <= MAX_DATE_MS
  const validDate = isValid ? Math.round(date) : null
  const fields = { messageId, inReplyTo, references, from, to, cc, bcc, replyTo, date: validDate, attachments }
  return message.isBulk === true ? { ...fields, bulk: true } : fields
}

/** From the provider's id of the thread. Two accounts never share a thread. */
function buildThreadId(accountId: string, providerThreadId: string): string {
  return `thr_${hash('thread', accountId, providerThreadId).slice(0, 26)}`
}

function hash(...parts: string[]): string {
  return sha256(parts.join('\n'), 'hex').slice(0, 40)
}

/** The last millisecond that RFC 3339 can write. Lists compare these times as text, too. */
const LATEST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

function integerOr(fallback: number, value: number): number {
  return Number.isSafeInteger(Math.round(value)) ? Math.round(value) : fallback
}
