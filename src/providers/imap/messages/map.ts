import type { FetchMessageObject, FetchQueryObject, MessageStructureObject } from 'imapflow'
import { sha256 } from '../../../platform/crypto/sha256.ts'
import { isProgrammingError } from '../../../platform/errors/programming-errors.ts'
import type { RemoteMessage } from '../../contract/index.ts'
import {
  cleanField,
  deliveryTrace,
  type HeaderFields,
  headerFields,
  headerValue,
  isAutomaticMessage,
  isBulkMessage,
  knownType,
  mayBeDeliveryReport,
  type RawPart,
  rawTree,
  readMessage,
  SENT_TOKEN_HEADER,
} from '../../shared/mime/index.ts'
import { type Contents, readContents, type Sections, type Source, TEXT_BYTES } from './contents.ts'
import { hasFlag } from './flags.ts'
import type { MessageSource } from './source.ts'

export const MAX_HEADER_BYTES = 128 * 1024
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

/** The same for a message whose text the server does not return, or returns entirely instead of its beginning. */
export const headerQuery: FetchQueryObject = {
  ...bareQuery,
  bodyParts: [{ key: 'header', start: 0, maxLength: MAX_HEADER_BYTES }],
}

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
  /** Sections without which the message is incomplete, because the fetched beginning does not contain them. */
  missing: readonly string[]
  /** The message with those sections, by their names. */
  complete(sections: Sections): RemoteMessage
}

const INTERNAL_ERROR = 'the message could not be read because of an internal error'
/** Only until the message is read from its source. */
const NO_STRUCTURE = 'the server returned no readable structure of this message'
const TOO_LONG = 'the structure of this message is too large: attachments after its first 8 MB are not listed'

/** Maps a fetched row. Never throws: `error` says what could not be read. `header`: all of one that was cut off in the row. */
export function remoteMessage(row: FetchMessageObject, context: MapContext, header?: Buffer): Mapped {
  const read = (sections?: Sections) => {
    const contents = readContents(rowSource(row, header), row.bodyStructure, sections)
    const message = buildMessage(row, context, contents, headerFields(contents.headers))
    if (row.bodyStructure === undefined) message.error = NO_STRUCTURE
    return { message, missing: contents.missing }
  }
  try {
    const { message, missing } = read()
    return { message, missing, complete: (sections) => read(sections).message }
  } catch (error) {
    const message = unreadable(row, context, error)
    return { message, missing: [], complete: () => message }
  }
}

function rowSource(row: FetchMessageObject, header: Buffer | undefined): Source {
  const fetched: unknown = row.bodyParts?.get('text')
  const head = Buffer.isBuffer(fetched) ? fetched : Buffer.alloc(0)
  const source = buildSource(row.headers || Buffer.alloc(0), head, row.bodyStructure)
  return header === undefined ? source : { ...source, header }
}

/** Maps a row whose structure cannot be read, from the message's bytes. Never throws. */
export async function messageOfSource(
  row: FetchMessageObject,
  source: MessageSource,
  context: MapContext,
): Promise<RemoteMessage> {
  try {
    const { fields, headers, shown, attachments } = await readMessage(source.bytes, source)
    const message = buildMessage(row, context, { headers, attachments, ...shown }, fields)
    return source.isWhole ? message : { ...message, error: TOO_LONG }
  } catch (error) {
    return unreadable(row, context, error)
  }
}

function unreadable(row: FetchMessageObject, context: MapContext, error: unknown): RemoteMessage {
  const { unreadable: _, ...message } = unreadableMessage(row, context)
  if (!isProgrammingError(error)) return message
  context.onFault(error)
  return { ...message, error: INTERNAL_ERROR }
}

/** The beginning of a message. Behind a header that was cut off, its parts are unknown. */
function buildSource(header: Buffer, head: Buffer, structure: MessageStructureObject | undefined): Source {
  const type = structure?.type ?? 'text/plain'
  if (header.length >= MAX_HEADER_BYTES) {
    const { length } = header
    return { header, bytes: header, raw: singlePart(type, length, length, false), isWhole: false }
  }
  const isWhole = head.length < TEXT_BYTES
  // Most messages have no parts to search for.
  if (structure !== undefined && !type.startsWith('multipart/')) {
    return { header, bytes: head, raw: singlePart(type, 0, head.length, isWhole), isWhole }
  }
  const bytes = Buffer.concat([header, head])
  return { header, bytes, raw: rawTree(bytes, { isWhole }), isWhole }
}

function singlePart(type: string, bodyStart: number, bodyEnd: number, isComplete: boolean): RawPart {
  return {
    id: '1',
    parentType: '',
    type: knownType(type, undefined),
    start: 0,
    bodyStart,
    bodyEnd,
    isComplete,
    delimiters: undefined,
    children: [],
  }
}

type MessageContents = Pick<Contents, 'headers' | 'text' | 'snippet' | 'attachments'>

function buildMessage(
  row: FetchMessageObject,
  context: MapContext,
  { headers, text, snippet, attachments }: MessageContents,
  fields: HeaderFields,
): RemoteMessage {
  const { unread, starred } = flagState(row.flags)
  // The spread is last: V8 needs microseconds for every member that follows one.
  return {
    location: { uidValidity: context.uidValidity, uid: row.uid },
    providerMessageId: row.emailId ?? null,
    isNew: context.isNew,
    emailId: row.emailId === undefined ? null : cleanField(row.emailId, MAX_ID),
    threadId: row.threadId === undefined ? null : cleanField(row.threadId, MAX_ID),
    sentToken: headerValue(headers, SENT_TOKEN_HEADER.toLowerCase())?.slice(0, MAX_ID) ?? null,
    mayBeReport: mayBeDeliveryReport(headers, fields.from),
    isAutomatic: isAutomaticMessage(headers, fields.subject),
    isBulk: isBulkMessage(headers, fields.subject),
    receivedAt: row.internalDate instanceof Date ? row.internalDate.getTime() : (fields.date ?? context.nowMs),
    sizeBytes: row.size ?? 0,
    unread,
    starred,
    snippet,
    text,
    attachments,
    headerHash: sha256(row.headers || Buffer.alloc(0), 'hex'),
    traceHash: sha256(deliveryTrace(headers), 'hex'),
    error: null,
    ...fields,
  }
}

/** Describes a message that could not be fetched. */
export function unreadableMessage(
  { uid, flags, internalDate }: Pick<FetchMessageObject, 'uid' | 'flags' | 'internalDate'>,
  context: MapContext,
): RemoteMessage {
  const receivedAt = internalDate instanceof Date ? internalDate.getTime() : undefined
  return {
    ...emptyMessage(uid, context),
    ...flagState(flags),
    ...(receivedAt !== undefined && { receivedAt }),
    headerHash: sha256(`${context.uidValidity}.${uid}`, 'hex'),
    error: "the server's response for this message could not be read",
    unreadable: { knowsFlags: flags !== undefined, knowsTime: receivedAt !== undefined },
  }
}

function emptyMessage(uid: number, { uidValidity, isNew, nowMs }: MapContext): Omit<RemoteMessage, 'headerHash'> {
  return {
    location: { uidValidity, uid },
    providerMessageId: null,
    isNew,
    emailId: null,
    threadId: null,
    messageId: null,
    inReplyTo: null,
    references: [],
    subject: '',
    from: null,
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    date: null,
    receivedAt: nowMs,
    sizeBytes: 0,
    unread: true,
    starred: false,
    snippet: '',
    text: '',
    attachments: [],
    error: null,
  }
}
