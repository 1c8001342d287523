import { sha256 } from '../../platform/crypto/sha256.ts'
import { cleanText } from '../../platform/formats/text.ts'
import type { FoundMessage, MessageBody } from '../contract/index.ts'
import {
  bodyPlan,
  composedBody,
  decodePartText,
  describePart,
  type Header,
  headerFields,
  headerValue,
  htmlForFiles,
  htmlToText,
  isAutomaticMessage,
  isBulkMessage,
  mapAttachments,
  mayBeDeliveryReport,
  type Part,
  SENT_TOKEN_HEADER,
  searchText,
  shownText,
  snippet,
} from '../shared/mime/index.ts'
import { list, object, text } from '../shared/rest/index.ts'
import { labelState } from './folders.ts'

/** How much base64 of a text is decoded. The service stores 4 KB of text, and HTML is mostly markup. */
const MAX_DECODED_CHARS = 64 * 1024
const MAX_DEPTH = 100
/** Further parts are left out. */
const MAX_PARTS = 2000
/** Text parts that are read; further ones are left out. */
const MAX_TEXTS = 100
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

/** Fields that Gmail may know of a message whose content it does not return. */
export const KNOWN_FIELDS = 'id,threadId,labelIds,internalDate'

/** Maps a message. Never throws: what cannot be read stays empty. */
export function foundMessage(
  id: string,
  body: unknown,
  { isNew, nowMs }: { isNew: boolean; nowMs: number },
): FoundMessage {
  const fields = object(body)
  const payload = object(fields.payload)
  const headers = readHeaders(payload.headers)
  const message = payloadParts(payload)
  const plan = bodyPlan(message.root)
  const shown = shownText(plan, (part) => message.readText(part, MAX_DECODED_CHARS))
  const html = htmlForFiles(plan, (part) => message.readText(part, Number.POSITIVE_INFINITY))
  // Gmail's own snippet is escaped as HTML.
  const words = shown.text || htmlToText(text(fields.snippet) ?? '')
  const parsed = headerFields(headers)
  const { folders, ...flags } = labelState(readLabels(fields))
  const receivedMs = Number(text(fields.internalDate) ?? Number.NaN)
  return {
    folders,
    message: {
      providerMessageId: id,
      isNew,
      emailId: null,
      threadId: text(fields.threadId) ?? null,
      ...parsed,
      mayBeReport: mayBeDeliveryReport(headers, parsed.from),
      isAutomatic: isAutomaticMessage(headers, parsed.subject),
      isBulk: isBulkMessage(headers, parsed.subject),
      sentToken: headerValue(headers, SENT_TOKEN_HEADER.toLowerCase()) ?? null,
      receivedAt: Number.isSafeInteger(receivedMs) && receivedMs >= 0 ? receivedMs : (parsed.date ?? nowMs),
      sizeBytes: typeof fields.sizeEstimate === 'number' ? Math.max(0, Math.trunc(fields.sizeEstimate)) : 0,
      ...flags,
      snippet: snippet(words),
      text: searchText(words),
      attachments: mapAttachments(plan, html),
      headerHash: sha256(JSON.stringify(headers), 'hex'),
      error: fields.payload === undefined ? "Gmail's response for this message could not be read" : null,
    },
  }
}

/** A mailbox cannot have more labels. */
const MAX_LABELS = 10_000

/** The label ids of a message; Gmail omits the member when there are none. */
export function readLabels(message: unknown): string[] {
  return list(object(message).labelIds)
    .slice(0, MAX_LABELS)
    .flatMap((id) => text(id) ?? [])
}

/** `fetchText` loads the text of a part that Gmail left out because it is long. */
export async function messageBody(
  message: unknown,
  fetchText: (part: GmailPart) => Promise<Buffer>,
): Promise<MessageBody> {
  const payload = object(object(message).payload)
  const { root, gmailPart } = payloadParts(payload)
  const plan = bodyPlan(root)
  const texts = new Map<string, string>()
  for (const part of [...new Set([...plan.text, ...plan.html])].slice(0, MAX_TEXTS)) {
    const source = gmailPart(part)
    const bytes = source.data === undefined ? await fetchText(source) : Buffer.from(source.data, 'base64url')
    texts.set(part.id, decodePartText(part, bytes))
  }
  const headers = readHeaders(payload.headers).map(({ name, value }) => ({
    name: cleanText(name),
    value: cleanText(value),
  }))
  return { ...composedBody(plan, ({ id }) => texts.get(id) ?? ''), headers }
}

/** Where Gmail has the content of a part, its transfer encoding undone. */
export interface GmailPart {
  /** Differs in every response, and expires. */
  attachmentId: string | undefined
  /** Base64url; absent for attachments. */
  data: string | undefined
}

interface PayloadParts {
  root: Part
  gmailPart(part: Part): GmailPart
  /** The text of a part, from at most so much of its base64. Undefined for a part whose content Gmail left out. */
  readText(part: Part, maxChars: number): string | undefined
}

/** The parts of a message as Gmail describes them. An attached message is one part, and so are the fields of a report. */
export function payloadParts(payload: unknown): PayloadParts {
  const sources = new Map<Part, GmailPart>()
  const root = readPart(payload, '', 0, sources)
  const gmailPart = (part: Part) => sources.get(part) ?? { attachmentId: undefined, data: undefined }
  return {
    root,
    gmailPart,
    readText(part, maxChars) {
      const { data } = gmailPart(part)
      return data === undefined ? undefined : decodePartText(part, Buffer.from(data.slice(0, maxChars), 'base64url'))
    },
  }
}

function readPart(payload: unknown, parentType: string, depth: number, sources: Map<Part, GmailPart>): Part {
  const fields = object(payload)
  const body = object(fields.body)
  const type = text(fields.mimeType)?.toLowerCase() ?? ''
  const isMultipart = type.startsWith('multipart/')
  const children = isMultipart && depth < MAX_DEPTH ? list(fields.parts).slice(0, MAX_PARTS) : []
  const sizeBytes = typeof body.size === 'number' && body.size >= 0 ? Math.trunc(body.size) : 0
  const described = describePart(readHeaders(fields.headers), {
    id: text(fields.partId) || (isMultipart ? '' : ONLY_PART),
    parentType,
    encodedBytes: sizeBytes,
    sizeBytes,
    children: children.flatMap((child) => (sources.size < MAX_PARTS ? readPart(child, type, depth + 1, sources) : [])),
  })
  const part = {
    ...described,
    type: type || described.type,
    filename: described.filename ?? (text(fields.filename) || undefined),
  }
  sources.set(part, { attachmentId: text(body.attachmentId), data: text(body.data) })
  return part
}

export function readHeaders(headers: unknown): Header[] {
  return list(headers).flatMap((item) => {
    const { name, value } = object(item)
    return typeof name === 'string' && typeof value === 'string' ? [{ name, value }] : []
  })
}
