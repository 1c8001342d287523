import { asciiEmail } from '../../../platform/formats/email-address.ts'
import { truncateCharacters, truncateText } from '../../../platform/formats/text.ts'
import type { OutgoingAttachment, RemoteAddress } from '../../contract/index.ts'
import { htmlToText } from './body/html-to-text.ts'
import { withShortLines } from './editing/short-lines.ts'
import { parseFileType } from './headers/content-type.ts'
import { cleanField } from './headers/headers.ts'

/** A message to compose. Addresses come from `parseAddress`; every other text may hold anything. */
export interface OutgoingMessage {
  from: RemoteAddress
  to: RemoteAddress[]
  cc: RemoteAddress[]
  bcc: RemoteAddress[]
  replyTo: RemoteAddress[]
  subject: string
  /** With `html` only, its words become the text part. */
  text: string | null
  html: string | null
  attachments: OutgoingAttachment[]
  /** An iCalendar object that mail programs show as an invitation (RFC 6047), with its METHOD. */
  invitation?: { method: 'REQUEST' | 'CANCEL'; content: string } | undefined
  /** With angle brackets. */
  messageId: string
  inReplyTo: string | null
  references: string[]
  /** In milliseconds. */
  date: number
  /** Written as `X-Posthorn-Id`. Recognises the sent copy where the provider replaces the Message-ID. Random. */
  sentToken: string | null
  /** Further fields, with names that `isOwnHeader` accepts; others are left out. */
  headers: { name: string; value: string }[]
}

/**
 * Composes RFC 5322 bytes with CRLF line ends and lines of at most 998 bytes. Bcc is left out unless `keepBcc`, which is for drafts:
 * elsewhere, only the envelope names those recipients. Equal messages may differ in their MIME boundaries.
 */
export async function composeMessage(message: OutgoingMessage, { keepBcc = false } = {}): Promise<Buffer> {
  // Loaded at the first message: the service starts without it.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const { html, invitation } = message
  const text = message.text ?? (html === null ? '' : plainText(html))
  const attachments = await Promise.all(message.attachments.map(attachment))
  const node = new MailComposer({
    from: mailbox(message.from),
    to: message.to.map(mailbox),
    cc: message.cc.map(mailbox),
    bcc: keepBcc ? message.bcc.map(mailbox) : [],
    replyTo: message.replyTo.map(mailbox),
    date: new Date(message.date),
    messageId: message.messageId,
    ...(isMessageId(message.inReplyTo ?? '') && { inReplyTo: message.inReplyTo ?? '' }),
    references: threadIds(message.references),
    // Without a text, the only attachment would become the message itself.
    text: withCrlf(text.toWellFormed()) || '\r\n',
    ...(html !== null && { html: withCrlf(html.toWellFormed()) }),
    ...(invitation !== undefined && { icalEvent: { ...invitation, filename: 'invite.ics' } }),
    headers: buildHeaders(message),
    attachments,
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile()
  node.keepBcc = keepBcc
  return new Promise((resolve, reject) => {
    node.build((error, bytes) => (error === null ? resolve(bytes) : reject(error)))
  })
}

export const SENT_TOKEN_HEADER = 'X-Posthorn-Id'

/** In characters. */
const MAX_SUBJECT = 5000
const MAX_HEADER = 8000
const MAX_NAME = 500
const MAX_FILENAME = 255
const MAX_REFERENCES = 50
const MAX_ID = 900
const MAX_CONTENT_ID = 200

const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]{0,75}$/
/** Fields that this service writes, that only mail servers may add, or that change how the message is read. */
const RESERVED =
  /^(from|sender|to|cc|bcc|reply-to|subject|date|message-id|in-reply-to|references|mime-version|return-path|received|delivered-to|dkim-signature|authentication-results|apparently-to|auto-.*-original|content-.*|resent-.*|arc-.*|x-posthorn-.*)$/i

/** Whether a caller may set this header field. */
export function isOwnHeader(name: string): boolean {
  return HEADER_NAME.test(name) && !RESERVED.test(name)
}

/** A message id that no other message has. `unique` is random; `email` is the sender's address. */
export function newMessageId(unique: string, email: string): string {
  const ascii = asciiEmail(email)
  return `<${unique}@${ascii.slice(ascii.lastIndexOf('@') + 1)}>`
}

/** A long thread keeps its root and its newest messages. */
function threadIds(ids: readonly string[]): string[] {
  const valid = ids.filter(isMessageId)
  return valid.length > MAX_REFERENCES ? [...valid.slice(0, 1), ...valid.slice(1 - MAX_REFERENCES)] : valid
}

function buildHeaders({ subject, headers, sentToken }: OutgoingMessage) {
  const fields = [
    { name: 'Subject', value: encoded(truncateCharacters(oneLine(subject), MAX_SUBJECT)) },
    ...headers
      .filter(({ name }) => isOwnHeader(name))
      .map(({ name, value }) => ({ name, value: encoded(truncateCharacters(oneLine(value), MAX_HEADER)) })),
    ...(sentToken === null ? [] : [{ name: SENT_TOKEN_HEADER, value: sentToken }]),
  ]
  return fields.map(({ name, value }) => ({
    key: name,
    value: { prepared: true as const, foldLines: true as const, value },
  }))
}

/** Whether a message may have this Message-ID. With angle brackets. */
export function isMessageId(id: string): boolean {
  return id.length <= MAX_ID && /^<[\x21-\x3b\x3d\x3f-\x7e]+>$/.test(id)
}

function mailbox({ name, email }: RemoteAddress) {
  return { name: truncateText(oneLine(name), MAX_NAME), address: email }
}

async function attachment({ filename, contentType, content, contentId }: OutgoingAttachment) {
  const cid = contentId === null ? '' : contentId.replace(/[^\x21-\x3b\x3d\x3f-\x7e]/g, '').slice(0, MAX_CONTENT_ID)
  const type = parseFileType(contentType).contentType
  // The composer encodes other types.
  const short = type?.startsWith('message/') ? await shortMessage(type, content) : content
  return {
    filename: cleanField(filename, MAX_FILENAME).replace(/[/\\]/g, '_') || 'attachment',
    // A file that only claims to be a message.
    contentType: type === undefined || short === undefined ? 'application/octet-stream' : type,
    contentDisposition: cid === '' ? ('attachment' as const) : ('inline' as const),
    content: short ?? content,
    ...(cid !== '' && { cid }),
  }
}

async function shortMessage(type: string, content: Buffer): Promise<Buffer | undefined> {
  const isMessage = /^message\/(rfc822|global)(;|$)/.test(type)
  const short = await withShortLines(content)
  return isMessage || short === content ? short : undefined
}

/** Without line ends and control characters, which could begin another field. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .trim()
}

const WORD_BYTES = 45

/** RFC 2047: unchanged if ASCII that can be folded, else encoded words of at most 75 characters, each with complete characters. */
function encoded(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !/\S{77}/.test(text) && !text.includes('=?')) return text
  const words: string[] = []
  let word = ''
  for (const character of text) {
    if (Buffer.byteLength(word) + Buffer.byteLength(character) > WORD_BYTES) {
      words.push(word)
      word = ''
    }
    word += character
  }
  words.push(word)
  return words.map((part) => `=?UTF-8?B?${Buffer.from(part).toString('base64')}?=`).join(' ')
}

function withCrlf(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '\r\n')
}

/** The words of the HTML body as lines, for mail programs that show no HTML. */
function plainText(html: string): string {
  return htmlToText(html)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
