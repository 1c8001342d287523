import { createHash } from 'node:crypto'
import { cleanText, truncateText } from '../../lib/text.ts'
import type { FoundMessage, RemoteAddress, RemoteAttachment } from '../contract/index.ts'
import { type Json, list, object, text, time, wholeNumber } from './json.ts'

/**
 * What `foundMail` needs, and no more: it is asked of every message. Headers are left out, they are larger than all the rest; the
 * three that matter stand in properties of MAPI.
 */
export const MESSAGE_FIELDS = {
  $select: [
    ...['id', 'parentFolderId', 'conversationId', 'internetMessageId', 'subject', 'from', 'sender', 'toRecipients'],
    ...['ccRecipients', 'bccRecipients', 'replyTo', 'sentDateTime', 'receivedDateTime', 'isRead', 'isDraft', 'flag'],
    ...['hasAttachments', 'bodyPreview', 'body'],
  ].join(','),
  $expand:
    "singleValueExtendedProperties($filter=id eq 'Integer 0xe08' or id eq 'String 0x1042' or id eq 'String 0x1039')",
}

/** Asks for bodies as text: 4 KB of it are kept for search. */
export const AS_TEXT = 'outlook.body-content-type="text"'

export const ATTACHMENT_FIELDS = 'id,name,contentType,size,isInline,microsoft.graph.fileAttachment/contentId'

const PROPERTIES = { size: 'integer 0xe08', inReplyTo: 'string 0x1042', references: 'string 0x1039' }

const SNIPPET_LIMIT = 200
const SUBJECT_LIMIT = 2000
const TEXT_LIMIT = 4096
const ID_LIMIT = 16_384
const NAME_LIMIT = 500
const EMAIL_LIMIT = 320
const ADDRESSES_LIMIT = 1000
const REFERENCES_LIMIT = 100
const ATTACHMENTS_LIMIT = 1000

/** A change may be told by what changed alone: such an item is fetched as a whole. */
export function isWhole(item: Json): boolean {
  return 'receivedDateTime' in item && 'subject' in item && 'isDraft' in item
}

/** Pictures in the text do not count as attachments for Graph; its plain text shows where they stand. */
export function mayHaveAttachments(item: Json): boolean {
  return item.hasAttachments === true || /\bcid:/i.test(text(object(item.body).content) ?? '')
}

/** Times of messages are whole seconds at Graph. */
export function receivedAt(item: Json): number | undefined {
  return time(item.receivedDateTime)
}

/** What is known of the two flags; a partial item may hold one of them. */
export function flagsOf(item: Json): { unread?: boolean; starred?: boolean } {
  const { isRead } = item
  const status = text(object(item.flag).flagStatus)
  return {
    ...(typeof isRead === 'boolean' && { unread: !isRead }),
    ...(status !== undefined && { starred: status === 'flagged' }),
  }
}

export interface MapContext {
  isNew: boolean
  /** For a message that stands in no folder that Graph names. */
  folder: string
  attachments: RemoteAttachment[]
  nowMs: number
  error: string | null
}

/** A message in this service's terms. Never throws. */
export function foundMail(item: Json, { isNew, folder, attachments, nowMs, error }: MapContext): FoundMessage {
  const property = propertiesOf(item)
  const dateMs = time(item.sentDateTime) ?? null
  const subject = clean(item.subject, SUBJECT_LIMIT)
  const from = address(item.from) ?? address(item.sender) ?? null
  const messageId = firstId(item.internetMessageId)
  return {
    folders: [text(item.parentFolderId) ?? folder],
    message: {
      providerMessageId: text(item.id) ?? '',
      isNew,
      emailId: null,
      threadId: clean(item.conversationId, NAME_LIMIT) || null,
      messageId,
      inReplyTo: firstId(property(PROPERTIES.inReplyTo)),
      references: ids(property(PROPERTIES.references)).slice(-REFERENCES_LIMIT),
      subject,
      from,
      to: addresses(item.toRecipients),
      cc: addresses(item.ccRecipients),
      bcc: addresses(item.bccRecipients),
      replyTo: addresses(item.replyTo),
      date: dateMs,
      receivedAt: receivedAt(item) ?? dateMs ?? nowMs,
      sizeBytes: wholeNumber(property(PROPERTIES.size)) ?? 0,
      ...{ unread: true, starred: false, ...flagsOf(item) },
      snippet: clean(item.bodyPreview, SNIPPET_LIMIT),
      text: truncateText(cleanText(text(object(item.body).content) ?? text(item.bodyPreview) ?? '').trim(), TEXT_LIMIT),
      attachments,
      headerHash: sha256(JSON.stringify([messageId, dateMs, from?.email ?? null, subject])),
      error,
    },
  }
}

export function attachmentsOf(items: readonly unknown[]): RemoteAttachment[] {
  return items.slice(0, ATTACHMENTS_LIMIT).flatMap((item) => attachment(object(item)) ?? [])
}

function attachment(item: Json): RemoteAttachment | undefined {
  const id = text(item.id)
  if (id === undefined) return undefined
  return {
    id,
    ...attachmentFile(item),
    sizeBytes: wholeNumber(item.size) ?? 0,
    inline: item.isInline === true,
    contentId: clean(item.contentId, NAME_LIMIT).replace(/^<|>$/g, '') || null,
  }
}

/** What an attachment is called and what it is, whatever its kind. */
export function attachmentFile(item: Json): { filename: string; contentType: string } {
  const name = clean(item.name, NAME_LIMIT) || 'attachment'
  // A mail inside a mail comes as its source.
  if (kindOf(item) === 'item') return { filename: `${name}.eml`, contentType: 'message/rfc822' }
  return { filename: name, contentType: clean(item.contentType, NAME_LIMIT) || 'application/octet-stream' }
}

/** `reference` is a link to a file elsewhere: it has no content here. */
export function kindOf(item: Json): 'file' | 'item' | 'reference' {
  const type = text(item['@odata.type']) ?? ''
  if (type.endsWith('itemAttachment')) return 'item'
  return type.endsWith('referenceAttachment') ? 'reference' : 'file'
}

/** The header fields as they came, in order. */
export function headersOf(item: Json): { name: string; value: string }[] {
  return list(item.internetMessageHeaders).flatMap((entry) => {
    const { name, value } = object(entry)
    return typeof name === 'string' && typeof value === 'string'
      ? [{ name: cleanText(name), value: cleanText(value).replace(/\r?\n(?=[ \t])/g, '') }]
      : []
  })
}

function propertiesOf(item: Json): (id: string) => string | undefined {
  const entries = list(item.singleValueExtendedProperties).map(object)
  // Graph writes the number of a property without leading zeros, whatever was asked for.
  const normal = (id: unknown) => (text(id) ?? '').toLowerCase().replace(/ 0x0+/, ' 0x')
  return (id) => text(entries.find((entry) => normal(entry.id) === id)?.value)
}

function addresses(value: unknown): RemoteAddress[] {
  return list(value)
    .slice(0, ADDRESSES_LIMIT)
    .flatMap((entry) => address(entry) ?? [])
}

function address(value: unknown): RemoteAddress | undefined {
  const { name, address: email } = object(object(value).emailAddress)
  const found = { name: clean(name, NAME_LIMIT), email: clean(email, EMAIL_LIMIT) }
  if (found.name === '' && found.email === '') return undefined
  // Graph puts the address where there is no name.
  return found.name === found.email ? { ...found, name: '' } : found
}

/** One line, without what mail programs pad previews with. */
function clean(value: unknown, limit: number): string {
  const line = (text(value) ?? '').slice(0, limit * 4).replace(INVISIBLE, ' ')
  return truncateText(cleanText(line).trim(), limit)
}

const INVISIBLE = /(?:\s|\u00ad|\u034f|[\u200b-\u200f]|\u2060|\ufeff)+/g

function ids(value: string | undefined): string[] {
  return (value ?? '')
    .split(/[\s,]+/)
    .filter((id) => id.length > 2 && id.length <= ID_LIMIT)
    .map(cleanText)
}

function firstId(value: unknown): string | null {
  return ids(text(value))[0] ?? null
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}
