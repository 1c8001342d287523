import * as Type from 'typebox'
import { htmlToText } from '../../../providers/shared/mime/index.ts'
import type { Address, Attachment, Message, MessageDetail } from '../../../ui/generated/api-objects.ts'
import { shortText, visibleText } from '../clean-text.ts'

const MAX_SUBJECT = 300
const MAX_ADDRESS = 320
const MAX_SNIPPET = 200
/** Further recipients are only counted. */
const MAX_RECIPIENTS = 20
const MAX_ATTACHMENTS = 20
const MAX_FILE_NAME = 200
const MAX_LABELS = 20

const attachmentView = Type.Object({
  id: Type.String(),
  filename: Type.String(),
  contentType: Type.String(),
  sizeBytes: Type.Integer(),
})

/** A message as lists show it. */
export const messageView = {
  id: Type.String(),
  threadId: Type.Optional(Type.String()),
  subject: Type.String(),
  from: Type.Optional(Type.String()),
  to: Type.Array(Type.String()),
  cc: Type.Optional(Type.Array(Type.String())),
  receivedAt: Type.String(),
  snippet: Type.Optional(Type.String()),
  unread: Type.Boolean(),
  starred: Type.Boolean(),
  folder: Type.Optional(Type.String()),
  labelIds: Type.Array(Type.String()),
  attachments: Type.Optional(Type.Array(attachmentView)),
}

export function viewMessage(message: Message) {
  const { id, threadId, from, receivedAt, unread, starred, folder, cc, attachments } = message
  return {
    id,
    ...(threadId !== null && { threadId }),
    subject: shortText(message.subject, MAX_SUBJECT),
    ...(from !== null && { from: viewAddress(from) }),
    to: viewAddresses(message.to),
    ...(cc.length > 0 && { cc: viewAddresses(cc) }),
    receivedAt,
    snippet: shortText(message.snippet, MAX_SNIPPET),
    unread,
    starred,
    ...(folder !== null && { folder: shortText(folder, MAX_SUBJECT) }),
    labelIds: message.labelIds.slice(0, MAX_LABELS),
    ...(attachments.length > 0 && { attachments: attachments.slice(0, MAX_ATTACHMENTS).map(viewAttachment) }),
  }
}

export function viewAttachment({ id, filename, contentType, size }: Attachment) {
  return {
    id,
    filename: shortText(filename, MAX_FILE_NAME),
    contentType: shortText(contentType, MAX_FILE_NAME),
    sizeBytes: size,
  }
}

function viewAddress({ name, email }: Address): string {
  return shortText(name === '' || name === email ? email : `${name} <${email}>`, MAX_ADDRESS)
}

function viewAddresses(addresses: readonly Address[]): string[] {
  const shown = addresses.slice(0, MAX_RECIPIENTS).map(viewAddress)
  const others = addresses.length - shown.length
  return others === 0 ? shown : [...shown, `and ${others} more`]
}

/** The text that a person reads: the plain text, else the words of the HTML. */
export function bodyText({ body }: Pick<MessageDetail, 'body'>): string {
  const text = body.text?.trim() ? body.text : htmlToText(body.html ?? '')
  return visibleText(text)
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** One part of a long text. */
interface TextPart {
  text: string
  /** Undefined at the end. */
  nextOffset: number | undefined
  totalCharacters: number
}

/** Never divides a surrogate pair. */
export function textPart(whole: string, offset: number, limit: number): TextPart {
  const end = Math.min(whole.length, offset + limit)
  const cut = end < whole.length && isHighSurrogate(whole, end - 1) && end - 1 > offset ? end - 1 : end
  return {
    text: whole.slice(offset, cut).toWellFormed(),
    nextOffset: cut < whole.length ? cut : undefined,
    totalCharacters: whole.length,
  }
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  return unit >= 0xd800 && unit <= 0xdbff
}
