import { createHash } from 'node:crypto'
import type { FetchMessageObject, FetchQueryObject } from 'imapflow'
import type { RemoteMessage } from '../contract/index.ts'
import { cleanField, headerFields, parseHeaders, snippet } from '../mime/index.ts'
import { beginningText, readableText, TEXT_BYTES, unstructuredText } from './message-text.ts'
import { attachmentsOf, type Leaf, leaves } from './structure.ts'

const MAX_ID = 500
const HEADER_BYTES = 128 * 1024

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
  const { text, missing, error } = await textOf(row, block)
  const fields = headerFields(parseHeaders(block))
  const message: RemoteMessage = {
    ...blankMessage(row.uid, place),
    providerMessageId: row.emailId ?? null,
    emailId: row.emailId === undefined ? null : cleanField(row.emailId, MAX_ID),
    threadId: row.threadId === undefined ? null : cleanField(row.threadId, MAX_ID),
    ...fields,
    receivedAt: row.internalDate instanceof Date ? row.internalDate.getTime() : (fields.date ?? place.nowMs),
    sizeBytes: row.size ?? 0,
    ...flagState(row.flags),
    snippet: snippet(text),
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
  return { ...message, snippet: snippet(text), text }
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
    location: { uidValidity, uid },
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
