import type { FetchMessageObject, FetchQueryObject } from 'imapflow'
import { isProgrammingError } from '../../lib/programming-errors.ts'
import { sha256 } from '../../lib/sha256.ts'
import type { RemoteMessage } from '../contract/index.ts'
import {
  cleanField,
  headerFields,
  isAutomaticMessage,
  mayBeDeliveryReport,
  parseHeaders,
  snippet,
} from '../mime/index.ts'
import { hasFlag } from './flags.ts'
import { attachmentsOf, firstText, type Leaf, leaves, searchTextOf, TEXT_BYTES, unstructuredText } from './parts.ts'

const MAX_HEADER_BYTES = 128 * 1024
const MAX_ID = 500

/** All of a message in one FETCH, without ENVELOPE: servers parse broken headers differently, our parser always the same way. */
export const messageQuery: FetchQueryObject = {
  uid: true,
  flags: true,
  size: true,
  internalDate: true,
  bodyStructure: true,
  threadId: true,
  bodyParts: [
    { key: 'header', start: 0, maxLength: MAX_HEADER_BYTES },
    { key: 'text', start: 0, maxLength: TEXT_BYTES },
  ],
}

/** The same for a message whose structure the server or the parser cannot process. */
export const bareQuery: FetchQueryObject = { ...messageQuery, bodyStructure: false }

export interface MapContext {
  uidValidity: string
  isNew: boolean
  nowMs: number
  /** Called with a programming error: the message counts as unreadable, and does not stop the others. */
  onFault(error: unknown): void
}

export function flagState(flags: ReadonlySet<string> | undefined): { unread: boolean; starred: boolean } {
  return { unread: !hasFlag(flags, '\\Seen'), starred: hasFlag(flags, '\\Flagged') }
}

export interface Mapped {
  message: RemoteMessage
  /** The text part to fetch separately, because the fetched beginning of the body does not contain it. */
  missingText: Leaf | undefined
}

const INTERNAL_ERROR = 'the message could not be read because of an internal error'

/** Maps a fetched row. Never throws: `error` says what could not be read. */
export function remoteMessage(row: FetchMessageObject, context: MapContext): Promise<Mapped> {
  return readMessage(row, context).catch((error: unknown) => {
    if (!isProgrammingError(error))
      return { message: unreadableMessage(row.uid, row.flags, context), missingText: undefined }
    context.onFault(error)
    const message = { ...unreadableMessage(row.uid, row.flags, context), error: INTERNAL_ERROR }
    return { message, missingText: undefined }
  })
}

async function readMessage(row: FetchMessageObject, context: MapContext): Promise<Mapped> {
  const header = row.headers || Buffer.alloc(0)
  const { text, missingText, error } = await textOf(row, header)
  const headers = parseHeaders(header)
  const fields = headerFields(headers)
  const { unread, starred } = flagState(row.flags)
  // The spread is last: V8 needs microseconds for every member that follows one.
  const message: RemoteMessage = {
    location: { uidValidity: context.uidValidity, uid: row.uid },
    providerMessageId: row.emailId ?? null,
    isNew: context.isNew,
    emailId: row.emailId === undefined ? null : cleanField(row.emailId, MAX_ID),
    threadId: row.threadId === undefined ? null : cleanField(row.threadId, MAX_ID),
    mayBeReport: mayBeDeliveryReport(headers, fields.from),
    isAutomatic: isAutomaticMessage(headers, fields.subject),
    receivedAt: row.internalDate instanceof Date ? row.internalDate.getTime() : (fields.date ?? context.nowMs),
    sizeBytes: row.size ?? 0,
    unread,
    starred,
    snippet: snippet(text),
    text,
    attachments: row.bodyStructure === undefined ? [] : attachmentsOf(leaves(row.bodyStructure)),
    headerHash: sha256(header, 'hex'),
    error,
    ...fields,
  }
  return { message, missingText }
}

/** Adds the text of a part that was fetched separately. */
export function withText(message: RemoteMessage, leaf: Leaf, content: Buffer): RemoteMessage {
  const text = searchTextOf(leaf, content)
  return { ...message, snippet: snippet(text), text }
}

async function textOf(row: FetchMessageObject, header: Buffer) {
  const fetched: unknown = row.bodyParts?.get('text')
  const body = Buffer.isBuffer(fetched) ? fetched : Buffer.alloc(0)
  if (row.bodyStructure !== undefined) {
    const { text, missing } = firstText(row.bodyStructure, body)
    return { text, missingText: body.length < TEXT_BYTES ? undefined : missing, error: null }
  }
  const text = await unstructuredText(Buffer.concat([header, body]))
  return { text, missingText: undefined, error: 'the server returned no readable structure of this message' }
}

/** What is known of a message that could not be fetched. */
export function unreadableMessage(
  uid: number,
  flags: ReadonlySet<string> | undefined,
  context: MapContext,
): RemoteMessage {
  return {
    ...emptyMessage(uid, context),
    ...flagState(flags),
    headerHash: sha256(`${context.uidValidity}.${uid}`, 'hex'),
    error: "the server's response for this message could not be read",
  }
}

function emptyMessage(uid: number, { uidValidity, isNew, nowMs }: MapContext): Omit<RemoteMessage, 'headerHash'> {
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
