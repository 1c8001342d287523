import { sha256 } from '../../platform/crypto/sha256.ts'
import { cleanText, truncateCharacters } from '../../platform/formats/text.ts'
import type { FoundMessage, RemoteAddress, RemoteAttachment } from '../contract/index.ts'
import {
  cleanContentId,
  fileName,
  headerFields,
  isAutomaticMessage,
  isBulkMessage,
  isMailSystem,
  limitReferences,
  oneLine,
  readMessageIds,
  searchText,
} from '../shared/mime/index.ts'
import { type Json, list, object, text, time, wholeNumber } from '../shared/rest/index.ts'

/**
 * Fields that `foundMessage` needs of each message, as far as a delta query can return them: Graph refuses expansions with options there.
 * Headers are left out because they are larger than all the rest.
 */
export const DELTA_FIELDS = {
  $select: [
    'id',
    'parentFolderId',
    'conversationId',
    'internetMessageId',
    'subject',
    'from',
    'sender',
    'toRecipients',
    'ccRecipients',
    'bccRecipients',
    'replyTo',
    'sentDateTime',
    'receivedDateTime',
    'isRead',
    'isDraft',
    'flag',
    'hasAttachments',
    'bodyPreview',
    'body',
  ].join(','),
}

/** The MAPI properties that hold what matters of the headers, the size and the class. */
export const PROPERTY_FIELDS = {
  $expand:
    "singleValueExtendedProperties($filter=id eq 'Integer 0xe08' or id eq 'String 0x1042' or id eq 'String 0x1039' or id eq 'String 0x1a' or id eq 'String 0x1045')",
}

/** All of it, for lists and single messages. */
export const MESSAGE_FIELDS = { ...DELTA_FIELDS, ...PROPERTY_FIELDS }

/** Requests bodies as text, of which 4 KB are stored for search. */
export const AS_TEXT = 'outlook.body-content-type="text"'

export const ATTACHMENT_FIELDS = 'id,name,contentType,size,isInline,microsoft.graph.fileAttachment/contentId'

const PROPERTIES = {
  size: 'integer 0xe08',
  inReplyTo: 'string 0x1042',
  references: 'string 0x1039',
  messageClass: 'string 0x1a',
  listUnsubscribe: 'string 0x1045',
}

/** As long as other providers' (`shared/mime/body/snippet.ts`). */
const MAX_SNIPPET = 200
/** In characters; the other limits are in UTF-16 units. */
const MAX_SUBJECT = 5000
const MAX_NAME = 500
const MAX_EMAIL = 320
const MAX_ADDRESSES = 1000
const MAX_REFERENCES = 100
const MAX_ATTACHMENTS = 1000

/** False for a delta item with only the changed properties: the message must be fetched. */
export function isComplete(item: Json): boolean {
  return 'receivedDateTime' in item && 'subject' in item && 'isDraft' in item
}

/** A text that sync may have cut: `SYNC_LIMITS.maxString` in JSON, where a character takes up to six. */
const MAYBE_CUT = 40 * 1024

/** Graph's `hasAttachments` ignores inline images; its plain text marks them with `cid:`. */
export function mayHaveAttachments(item: Json): boolean {
  const content = text(object(item.body).content) ?? ''
  return item.hasAttachments === true || content.length > MAYBE_CUT || /\bcid:/i.test(content)
}

/** Graph's times of messages are whole seconds. */
export function receivedAt(item: Json): number | undefined {
  return time(item.receivedDateTime)
}

/** The flags that the item contains; a partial item may have one of them. */
export function readFlags(item: Json): { unread?: boolean; starred?: boolean } {
  const { isRead } = item
  const status = text(object(item.flag).flagStatus)
  return {
    ...(typeof isRead === 'boolean' && { unread: !isRead }),
    ...(status !== undefined && { starred: status === 'flagged' }),
  }
}

export interface MapContext {
  isNew: boolean
  /** Used when Graph names no folder for the message. */
  folder: string
  attachments: RemoteAttachment[]
  nowMs: number
  error: string | null
  /** Read for replies and for damaged fields. Absent where they could not be read. */
  headers?: readonly { name: string; value: string }[]
}

/** Whether the message names another one, so that its header may say that a program replied. */
export function isReply(item: Json): boolean {
  const property = propertyReader(item)
  return [PROPERTIES.inReplyTo, PROPERTIES.references].some((id) => readMessageIds(property(id) ?? '').length > 0)
}

const DAMAGE = '\ufffd'

/** Whether Exchange could not read fields of the header, such as a sender without an address, so that the header itself says more. */
export function isDamaged(item: Json): boolean {
  const from = readSender(item)
  if (item.isDraft === true) return false
  return !from?.email.includes('@') || `${from.name}${text(item.subject)}`.includes(DAMAGE)
}

function readSender(item: Json): RemoteAddress | undefined {
  return address(item.from) ?? address(item.sender)
}

const AUTOMATIC_CLASS = /^(?:IPM\.Note\.Rules\.|REPORT\.)/i

/** Maps a message. Never throws: what cannot be read stays empty. */
export function foundMessage(
  item: Json,
  { isNew, folder, attachments, nowMs, error, headers = [] }: MapContext,
): FoundMessage {
  const property = propertyReader(item)
  const dateMs = time(item.sentDateTime) ?? null
  const own = isDamaged(item) ? headerFields(headers) : undefined
  const subject = own?.subject || truncateCharacters(clean(item.subject, 2 * MAX_SUBJECT), MAX_SUBJECT)
  const from = own?.from ?? readSender(item) ?? null
  const messageId = firstId(item.internetMessageId)
  const messageClass = property(PROPERTIES.messageClass) ?? ''
  const listUnsubscribe = property(PROPERTIES.listUnsubscribe) ?? ''
  return {
    folders: [text(item.parentFolderId) ?? folder],
    message: {
      providerMessageId: text(item.id) ?? '',
      isNew,
      emailId: null,
      // [MS-OXCMAIL]: Exchange turns a report into an item of this class.
      mayBeReport: /^REPORT\./i.test(messageClass) || isMailSystem(from?.email ?? ''),
      // [MS-OXORULE]: out-of-office notes and replies of rules have a class of their own.
      isAutomatic: AUTOMATIC_CLASS.test(messageClass) || isAutomaticMessage(headers, subject),
      isBulk: listUnsubscribe !== '' || AUTOMATIC_CLASS.test(messageClass) || isBulkMessage(headers, subject),
      threadId: clean(item.conversationId, MAX_NAME) || null,
      messageId,
      inReplyTo: firstId(property(PROPERTIES.inReplyTo)),
      references: limitReferences(readMessageIds(property(PROPERTIES.references) ?? ''), MAX_REFERENCES),
      subject,
      from,
      to: addresses(item.toRecipients),
      cc: addresses(item.ccRecipients),
      bcc: addresses(item.bccRecipients),
      replyTo: addresses(item.replyTo),
      date: dateMs,
      receivedAt: receivedAt(item) ?? dateMs ?? nowMs,
      sizeBytes: wholeNumber(property(PROPERTIES.size)) ?? 0,
      unread: true,
      starred: false,
      ...readFlags(item),
      snippet: clean(item.bodyPreview, MAX_SNIPPET),
      text: searchText(text(object(item.body).content) ?? text(item.bodyPreview) ?? ''),
      attachments: attachments.map((file) => ({ ...file, inline: file.inline && isShown(file, item) })),
      headerHash: sha256(JSON.stringify([messageId, dateMs, from?.email ?? null, subject]), 'hex'),
      error,
    },
  }
}

export function mapAttachments(items: readonly unknown[]): RemoteAttachment[] {
  return items.slice(0, MAX_ATTACHMENTS).flatMap((item) => attachment(object(item)) ?? [])
}

/** Graph calls inline what a mail program once did. The body as text contains the links to what it shows, unless it was cut. */
function isShown({ contentId }: RemoteAttachment, item: Json): boolean {
  const content = text(object(item.body).content) ?? ''
  if (content.length > MAYBE_CUT) return true
  return contentId !== null && content.toLowerCase().includes(`cid:${contentId.toLowerCase()}`)
}

function attachment(item: Json): RemoteAttachment | undefined {
  const id = text(item.id)
  if (id === undefined) return undefined
  return {
    id,
    ...attachmentFile(item),
    sizeBytes: wholeNumber(item.size) ?? 0,
    inline: item.isInline === true,
    contentId: cleanContentId(text(item.contentId)) ?? null,
  }
}

/** The name and type under which an attachment is downloaded. */
export function attachmentFile(item: Json): { filename: string; contentType: string } {
  const name = fileName(clean(item.name, MAX_NAME)) || 'attachment'
  // An attached message is downloaded as its source.
  if (attachmentKind(item) === 'item') return { filename: `${name}.eml`, contentType: 'message/rfc822' }
  return { filename: name, contentType: clean(item.contentType, MAX_NAME) || 'application/octet-stream' }
}

/** `reference` is a link to a file elsewhere, without content. */
export function attachmentKind(item: Json): 'file' | 'item' | 'reference' {
  const type = text(item['@odata.type']) ?? ''
  if (type.endsWith('itemAttachment')) return 'item'
  return type.endsWith('referenceAttachment') ? 'reference' : 'file'
}

/** The header fields in their order, unfolded. */
export function readHeaders(item: Json): { name: string; value: string }[] {
  return list(item.internetMessageHeaders).flatMap((entry) => {
    const { name, value } = object(entry)
    return typeof name === 'string' && typeof value === 'string'
      ? [{ name: cleanText(name), value: cleanText(value).replace(/\r?\n(?=[ \t])/g, '') }]
      : []
  })
}

/** False for an item of a delta query. */
export function hasProperties(item: Json): boolean {
  return Array.isArray(item.singleValueExtendedProperties)
}

/** The properties that name other messages, from the header, for clouds that have no properties of messages. */
export function threadProperties(headers: readonly { name: string; value: string }[]): Json[] {
  const field = (wanted: string) => headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? ''
  return [
    { id: PROPERTIES.inReplyTo, value: field('in-reply-to') },
    { id: PROPERTIES.references, value: field('references') },
  ]
}

function propertyReader(item: Json): (id: string) => string | undefined {
  const entries = list(item.singleValueExtendedProperties).map(object)
  // Graph removes leading zeros from the number of a property.
  const normal = (id: unknown) => (text(id) ?? '').toLowerCase().replace(/ 0x0+/, ' 0x')
  return (id) => text(entries.find((entry) => normal(entry.id) === id)?.value)
}

function addresses(value: unknown): RemoteAddress[] {
  return list(value)
    .slice(0, MAX_ADDRESSES)
    .flatMap((entry) => address(entry) ?? [])
}

function address(value: unknown): RemoteAddress | undefined {
  const { name, address: email } = object(object(value).emailAddress)
  const found = { name: clean(name, MAX_NAME), email: clean(email, MAX_EMAIL) }
  if (found.name === '' && found.email === '') return undefined
  // Graph repeats the address when there is no name.
  return found.name === found.email ? { ...found, name: '' } : found
}

function clean(value: unknown, limit: number): string {
  return oneLine(text(value) ?? '', limit)
}

function firstId(value: unknown): string | null {
  return readMessageIds(text(value) ?? '')[0] ?? null
}
