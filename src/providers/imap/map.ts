import { createHash } from 'node:crypto'
import type { FetchMessageObject, FetchQueryObject } from 'imapflow'
import { addressParser, decodeWords } from 'postal-mime'
import { cleanText, truncateText } from '../../lib/text.ts'
import type { RemoteAddress, RemoteMessage } from '../provider.ts'
import { type Header, headerValue, headerValues, parseHeaders } from './header-block.ts'
import { beginningText, readableText, TEXT_BYTES, unstructuredText } from './message-text.ts'
import { oneLine } from './plain-text.ts'
import { attachmentsOf, type Leaf, leaves } from './structure.ts'

const HEADER_BYTES = 128 * 1024
const SNIPPET_LIMIT = 200
const SUBJECT_LIMIT = 2000
const ID_LIMIT = 16_384
const NAME_LIMIT = 500
const EMAIL_LIMIT = 320
const ADDRESSES_LIMIT = 1000
const REFERENCES_LIMIT = 100

/** Everything a message is made of, in one FETCH. ENVELOPE is left out: servers disagree on broken headers, our parser does not. */
export const messageQuery: FetchQueryObject = {
  uid: true,
  flags: true,
  size: true,
  internalDate: true,
  bodyStructure: true,
  threadId: true,
  bodyParts: [
    { key: 'header', start: 0, maxLength: HEADER_BYTES },
    { key: 'text', start: 0, maxLength: TEXT_BYTES },
  ],
}

/** The same for a message whose structure neither the server nor the parser can cope with. */
export const bareQuery: FetchQueryObject = { ...messageQuery, bodyStructure: false }

export interface Place {
  uidValidity: string
  isNew: boolean
  nowMs: number
}

/** Flags as this service knows them. */
export function flagState(flags: ReadonlySet<string> | undefined): { unread: boolean; starred: boolean } {
  return { unread: !flags?.has('\\Seen'), starred: flags?.has('\\Flagged') ?? false }
}

export interface Mapped {
  message: RemoteMessage
  /** The part to fetch when the beginning of the body holds no text, though the message has one. */
  missing: Leaf | undefined
}

/** A fetched row in this service's terms. Never throws: what cannot be read stands in `error`. */
export async function remoteMessage(row: FetchMessageObject, place: Place): Promise<Mapped> {
  try {
    return await readMessage(row, place)
  } catch {
    return { message: unreadableMessage(row.uid, row.flags, place), missing: undefined }
  }
}

async function readMessage(row: FetchMessageObject, place: Place): Promise<Mapped> {
  const block = row.headers || Buffer.alloc(0)
  const headers = parseHeaders(block)
  const { text, missing, error } = await textOf(row, block)
  const dateMs = parseDate(headerValue(headers, 'date'))
  const message: RemoteMessage = {
    ...blankMessage(row.uid, place),
    providerMessageId: row.emailId ?? null,
    emailId: row.emailId === undefined ? null : clean(row.emailId, NAME_LIMIT),
    threadId: row.threadId === undefined ? null : clean(row.threadId, NAME_LIMIT),
    messageId: firstId(headerValue(headers, 'message-id')),
    inReplyTo: firstId(headerValue(headers, 'in-reply-to')),
    references: ids(headerValue(headers, 'references') ?? '').slice(-REFERENCES_LIMIT),
    subject: decoded(headerValue(headers, 'subject') ?? '', SUBJECT_LIMIT),
    from: addresses(headers, 'from')[0] ?? null,
    to: addresses(headers, 'to'),
    cc: addresses(headers, 'cc'),
    bcc: addresses(headers, 'bcc'),
    replyTo: addresses(headers, 'reply-to'),
    date: dateMs,
    receivedAt: row.internalDate instanceof Date ? row.internalDate.getTime() : (dateMs ?? place.nowMs),
    sizeBytes: row.size ?? 0,
    ...flagState(row.flags),
    snippet: oneLine(text, SNIPPET_LIMIT),
    text,
    attachments: row.bodyStructure === undefined ? [] : attachmentsOf(leaves(row.bodyStructure)),
    headerHash: sha256(block),
    error,
  }
  return { message, missing }
}

/** The message with the text of a part that was fetched afterwards. */
export function withText(message: RemoteMessage, leaf: Leaf, content: Buffer): RemoteMessage {
  const text = readableText(leaf, content)
  return { ...message, snippet: oneLine(text, SNIPPET_LIMIT), text }
}

async function textOf(row: FetchMessageObject, header: Buffer) {
  const fetched: unknown = row.bodyParts?.get('text')
  const body = Buffer.isBuffer(fetched) ? fetched : Buffer.alloc(0)
  if (row.bodyStructure !== undefined) {
    const { text, missing } = beginningText(row.bodyStructure, body)
    return { text, missing: body.length < TEXT_BYTES ? undefined : missing, error: null }
  }
  const text = await unstructuredText(Buffer.concat([header, body])).catch(() => '')
  return { text, missing: undefined, error: 'the server gave no structure of this message that could be read' }
}

/** What is known of a message that could not be fetched at all. */
export function unreadableMessage(uid: number, flags: ReadonlySet<string> | undefined, place: Place): RemoteMessage {
  return {
    ...blankMessage(uid, place),
    ...flagState(flags),
    headerHash: sha256(`${place.uidValidity}.${uid}`),
    error: 'the answer of the server about this message could not be read',
  }
}

function blankMessage(uid: number, { uidValidity, isNew, nowMs }: Place): Omit<RemoteMessage, 'headerHash'> {
  return {
    place: { uidValidity, uid },
    providerMessageId: null,
    isNew,
    ...{ emailId: null, threadId: null, messageId: null, inReplyTo: null, references: [], subject: '', from: null },
    ...{ to: [], cc: [], bcc: [], replyTo: [], date: null, receivedAt: nowMs, sizeBytes: 0 },
    ...{ unread: true, starred: false, snippet: '', text: '', attachments: [] },
    error: null,
  }
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

function addresses(headers: readonly Header[], name: string): RemoteAddress[] {
  const list = headerValues(headers, name).slice(0, HEADER_BYTES)
  if (list === '') return []
  return addressParser(list, { flatten: true })
    .slice(0, ADDRESSES_LIMIT)
    .map((one) => ({ name: decoded(one.name, NAME_LIMIT), email: clean(one.address ?? '', EMAIL_LIMIT) }))
    .filter(({ name: shown, email }) => shown !== '' || email !== '')
}

function decoded(value: string, limit: number): string {
  // Only so much is decoded as could be kept: an encoded word may blow a header up.
  return clean(decodeWords(joinWords(value.slice(0, limit * 12))), limit)
}

/** Neighbouring base64 words may cut a character in two (forbidden, and common): their bytes are joined first. */
function joinWords(value: string): string {
  return value.replace(/=\?([\w-]{1,40})\?B\?[^?\s]*\?=(?:\s+=\?\1\?B\?[^?\s]*\?=)+/gi, (run, charset) => {
    const pieces = run.split(/\s+/).map((word: string) => Buffer.from(word.split('?')[3] ?? '', 'base64'))
    return `=?${charset}?B?${Buffer.concat(pieces).toString('base64')}?=`
  })
}

function clean(value: string, limit: number): string {
  return truncateText(cleanText(value).replace(/\s+/g, ' ').trim(), limit)
}

function ids(value: string): string[] {
  return value
    .split(/[\s,]+/)
    .filter((id) => id.length > 2 && id.length <= ID_LIMIT)
    .map((id) => cleanText(id))
}

function firstId(value: string | undefined): string | null {
  const text = clean(value ?? '', ID_LIMIT)
  // Not a search by pattern: for thousands of `<` without a `>` that looks at the rest of the text from each.
  const start = text.indexOf('<')
  const end = start === -1 ? -1 : text.indexOf('>', start)
  return (end === -1 ? text.split(' ')[0] : text.slice(start, end + 1)) || null
}

const EARLIEST_MS = Date.UTC(1970, 0, 1)
const LATEST_MS = Date.UTC(9999, 0, 1)

function parseDate(value: string | undefined): number | null {
  const ms = Date.parse((value ?? '').replace(/\([^()]*\)/g, ' ').trim())
  return ms >= EARLIEST_MS && ms < LATEST_MS ? ms : null
}
