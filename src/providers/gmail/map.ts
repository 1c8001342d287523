import { sha256 } from '../../lib/sha256.ts'
import { cleanText } from '../../lib/text.ts'
import type { FoundMessage, MessageBody, RemoteAttachment } from '../contract/index.ts'
import {
  attachmentName,
  bareContentId,
  cleanField,
  decodeBytes,
  type Header,
  headerFields,
  headerValue,
  htmlToText,
  isAutomaticMessage,
  mayBeDeliveryReport,
  SENT_TOKEN_HEADER,
  searchText,
  snippet,
} from '../mime/index.ts'
import { list, object, text } from '../rest/index.ts'
import { labelState } from './folders.ts'

/** How much base64 of a text is decoded. The service stores 4 KB of text, and HTML is mostly markup. */
const MAX_DECODED_CHARS = 64 * 1024
const MAX_ATTACHMENTS = 200
const MAX_TYPE = 255
const MAX_DEPTH = 100
/** The id of the only part of a message, which Gmail leaves empty. */
const ONLY_PART = '0'

/** All of a message with its text. Attachments are never included. */
export const MESSAGE_FIELDS = 'id,threadId,labelIds,snippet,historyId,internalDate,sizeEstimate,payload'

/** The same without text, for a message that is too long. A field mask reaches only as deep as it is written. */
export const LEAN_FIELDS = `id,threadId,labelIds,snippet,historyId,internalDate,sizeEstimate,payload(${leanPart(6)})`

function leanPart(depth: number): string {
  const own = 'partId,mimeType,filename,headers,body(attachmentId,size)'
  return depth === 0 ? own : `${own},parts(${leanPart(depth - 1)})`
}

export const LABEL_FIELDS = 'id,labelIds'

/** Maps a message. Never throws: what cannot be read stays empty. */
export function foundMessage(
  id: string,
  body: unknown,
  { isNew, nowMs }: { isNew: boolean; nowMs: number },
): FoundMessage {
  const fields = object(body)
  const payload = object(fields.payload)
  const headers = headersOf(payload.headers)
  const parts = leafParts(payload)
  const known = headerFields(headers)
  const { folders, ...flags } = labelState(labelsOf(fields))
  // Gmail's own snippet is escaped as HTML.
  const words = firstText(parts) || htmlToText(text(fields.snippet) ?? '')
  const receivedMs = Number(text(fields.internalDate) ?? Number.NaN)
  return {
    folders,
    message: {
      ...{ providerMessageId: id, isNew, emailId: null, threadId: text(fields.threadId) ?? null },
      ...known,
      mayBeReport: mayBeDeliveryReport(headers, known.from),
      isAutomatic: isAutomaticMessage(headers, known.subject),
      sentToken: headerValue(headers, SENT_TOKEN_HEADER.toLowerCase()) ?? null,
      receivedAt: Number.isSafeInteger(receivedMs) && receivedMs >= 0 ? receivedMs : (known.date ?? nowMs),
      sizeBytes: typeof fields.sizeEstimate === 'number' ? Math.max(0, Math.trunc(fields.sizeEstimate)) : 0,
      ...flags,
      snippet: snippet(words),
      text: searchText(words),
      attachments: attachmentsOf(parts),
      headerHash: sha256(JSON.stringify(headers), 'hex'),
      error: fields.payload === undefined ? "Gmail's response for this message could not be read" : null,
    },
  }
}

/** The label ids of a message; Gmail omits the member when there are none. */
export function labelsOf(message: unknown): string[] {
  return list(object(message).labelIds).flatMap((id) => text(id) ?? [])
}

/** `fetchText` loads the text of a part that Gmail left out because it is long. */
export async function messageBody(message: unknown, fetchText: (part: Part) => Promise<Buffer>): Promise<MessageBody> {
  const payload = object(object(message).payload)
  const parts = leafParts(payload)
  const joined = async (type: 'text/plain' | 'text/html') => {
    const texts: string[] = []
    for (const part of parts.filter((one) => isBodyPart(one, type))) {
      const bytes = part.data === undefined ? await fetchText(part) : Buffer.from(part.data, 'base64url')
      texts.push(partText(part, bytes).replaceAll('\r\n', '\n'))
    }
    return texts.length === 0 ? null : cleanText(texts.join('\n'))
  }
  const headers = headersOf(payload.headers).map(({ name, value }) => ({
    name: cleanText(name),
    value: cleanText(value),
  }))
  return { text: await joined('text/plain'), html: await joined('text/html'), headers }
}

/** A MIME part as Gmail describes it, its transfer encoding undone. */
export interface Part {
  /** Gmail's part number, stable within the message. */
  id: string
  type: string
  filename: string | undefined
  headers: Header[]
  sizeBytes: number
  /** Differs in every response, and expires. */
  attachmentId: string | undefined
  /** Base64url; absent for attachments. */
  data: string | undefined
}

/** The parts with content, in order. An attached message is one part, without its own parts, and so are the fields of a report. */
export function leafParts(payload: unknown, depth = 0): Part[] {
  const fields = object(payload)
  const type = text(fields.mimeType)?.toLowerCase() ?? 'text/plain'
  const children = list(fields.parts)
  if (!type.startsWith('message/') && children.length > 0 && depth < MAX_DEPTH) {
    return children.flatMap((child) => leafParts(child, depth + 1))
  }
  if (type.startsWith('multipart/')) return []
  const body = object(fields.body)
  return [
    {
      id: text(fields.partId) || ONLY_PART,
      type,
      filename: text(fields.filename) || undefined,
      headers: headersOf(fields.headers),
      sizeBytes: typeof body.size === 'number' && body.size >= 0 ? Math.trunc(body.size) : 0,
      attachmentId: text(body.attachmentId),
      data: text(body.data),
    },
  ]
}

export function headersOf(headers: unknown): Header[] {
  return list(headers).flatMap((item) => {
    const { name, value } = object(item)
    return typeof name === 'string' && typeof value === 'string' ? [{ name, value }] : []
  })
}

/** A part that mail programs show as the message itself. */
function isBodyPart(part: Part, type: 'text/plain' | 'text/html'): boolean {
  return part.type === type && part.filename === undefined && dispositionOf(part) !== 'attachment'
}

function attachmentsOf(parts: readonly Part[]): RemoteAttachment[] {
  return parts
    .filter((part) => !isBodyPart(part, 'text/plain') && !isBodyPart(part, 'text/html'))
    .slice(0, MAX_ATTACHMENTS)
    .map((part) => {
      const contentId = headerValue(part.headers, 'content-id')
      const disposition = dispositionOf(part)
      return {
        id: part.id,
        filename: attachmentName(part),
        contentType: cleanField(part.type, MAX_TYPE),
        sizeBytes: part.sizeBytes,
        inline: disposition === 'inline' || (disposition === undefined && contentId !== undefined),
        contentId: bareContentId(contentId),
      }
    })
}

/** The beginning of the message's text, from its first text part or else its first HTML part. */
function firstText(parts: readonly Part[]): string {
  for (const type of ['text/plain', 'text/html'] as const) {
    const part = parts.find((one) => isBodyPart(one, type) && one.data !== undefined && one.data !== '')
    if (part?.data === undefined) continue
    const bytes = Buffer.from(part.data.slice(0, MAX_DECODED_CHARS), 'base64url')
    const content = partText(part, bytes, part.data.length > MAX_DECODED_CHARS)
    const words = searchText(type === 'text/html' ? htmlToText(content) : content)
    if (words !== '') return words
  }
  return ''
}

/**
 * Decodes a text part. Gmail mostly converts it to UTF-8 and leaves the original charset in the header. The declared charset applies
 * when the bytes are not UTF-8 or contain ISO-2022 escapes. With `isCut` the bytes may end inside a character.
 */
function partText(part: Part, bytes: Buffer, isCut = false): string {
  const declared = headerValue(part.headers, 'content-type')
  const charset = /charset\s*=\s*"?([^\s";]{1,40})/i.exec(declared ?? '')?.[1]?.toLowerCase() ?? ''
  const hasEscapes = charset.startsWith('iso-2022-') && bytes.includes(0x1b)
  const utf8 = hasEscapes ? undefined : decodedAs('utf-8', bytes, { fatal: true, isCut })
  return utf8 ?? decodedAs(charset, bytes, { fatal: false, isCut }) ?? decodeBytes(bytes)
}

function decodedAs(charset: string, bytes: Buffer, { fatal, isCut }: { fatal: boolean; isCut: boolean }) {
  try {
    return charset === '' ? undefined : new TextDecoder(charset, { fatal }).decode(bytes, { stream: isCut })
  } catch {
    return undefined
  }
}

function dispositionOf(part: Part): string | undefined {
  return headerValue(part.headers, 'content-disposition')?.split(';')[0]?.trim().toLowerCase()
}
