import type { RemoteAddress } from '../contract/index.ts'
import { SENT_TOKEN_HEADER } from './compose.ts'
import { cleanField, decodeBytes, type Header, headerFields, headerValue, parseHeaders } from './headers.ts'
import { childrenOf, decodedBody, parameterOf, type RawEntity, rawEntity } from './raw-parts.ts'
import { oneLine } from './text.ts'

/** A report that a message was not delivered, or not yet (RFC 3464, Exim, qmail). */
export interface DeliveryReport {
  /** Those that failed; if none did, those that are delayed. Never empty. */
  recipients: ReportedRecipient[]
  kind: 'permanent' | 'temporary'
  /** What it says of the message that was sent. */
  original: { messageId: string | null; sentToken: string | null; subject: string | null }
}

export interface ReportedRecipient {
  email: string
  /** Enhanced status code (RFC 3463). */
  status: string | null
  /** The words of the mail server, on one line. */
  diagnostic: string | null
}

/** How much of a message may be read: the report comes first, then a copy of what was sent. */
export const MAX_REPORT_BYTES = 256 * 1024

const MAX_PART_BYTES = 64 * 1024
const MAX_RECIPIENTS = 50
const MAX_LINES = 2000
const MAX_EMAIL = 320
const MAX_DIAGNOSTIC = 500
const MAX_SUBJECT = 1000

const STATUS_TYPES = ['message/delivery-status', 'message/global-delivery-status']
const ORIGINAL_TYPES = [
  ...['message/rfc822', 'text/rfc822-headers', 'message/rfc822-headers'],
  ...['message/global', 'message/global-headers'],
]

/** Whether mail servers send their reports from this address. The last one is that of Exchange. */
export function isMailSystem(email: string): boolean {
  return /^(mailer-daemon|mail-daemon|postmaster|microsoftexchange329e71ec88ae4615bbc36ab6ce41109e)(@|$)/i.test(email)
}

/** Whether to read the message, because its header is that of a report. */
export function mayBeDeliveryReport(headers: readonly Header[], from: RemoteAddress | null): boolean {
  if (from !== null && isMailSystem(from.email)) return true
  return headerValue(headers, 'x-failed-recipients') !== undefined || isReport(rawHeaderEntity(headers))
}

function rawHeaderEntity(headers: readonly Header[]): RawEntity {
  const type = (headerValue(headers, 'content-type') ?? '').slice(0, 200).split(';')[0] ?? ''
  return { headers: [...headers], type: type.trim().toLowerCase(), body: Buffer.alloc(0) }
}

/** Reports of read messages and of spam complaints have another type. */
function isReport(entity: RawEntity): boolean {
  if (entity.type !== 'multipart/report') return false
  return (parameterOf(entity, 'report-type') ?? 'delivery-status').toLowerCase() === 'delivery-status'
}

/** Parses the beginning of a message. Undefined unless it reports a failure or a delay. Takes bounded time for any bytes. */
export function parseDeliveryReport(raw: Buffer): DeliveryReport | undefined {
  const message = rawEntity(raw.subarray(0, MAX_REPORT_BYTES))
  const { inReplyTo, from } = headerFields(message.headers)
  const isFromSystem = from !== null && isMailSystem(from.email)
  // A forwarded report is an attachment of somebody's message. Mail servers on the way may wrap a real one, too.
  const report = [message, ...(isFromSystem ? childrenOf(message) : [])].find(isReport)
  const parts = report === undefined ? [] : childrenOf(report)
  const status = parts.find(({ type }) => STATUS_TYPES.includes(type))
  const found = status === undefined ? plainReport(message, parts, isFromSystem) : statusReport(status)
  if (found === undefined) return undefined
  const part = parts.find(({ type }) => ORIGINAL_TYPES.includes(type))
  const original = part === undefined ? found.original : rawEntity(decodedBody(part, MAX_PART_BYTES)).headers
  const { messageId, subject } = headerFields(original)
  return {
    ...{ recipients: found.recipients, kind: found.kind },
    original: {
      messageId: messageId ?? inReplyTo,
      sentToken: headerValue(original, SENT_TOKEN_HEADER.toLowerCase())?.slice(0, MAX_EMAIL) ?? null,
      subject: subject === '' ? null : cleanField(subject, MAX_SUBJECT),
    },
  }
}

type Found = Pick<DeliveryReport, 'recipients' | 'kind'> & { original: Header[] }

/** RFC 3464: a group of fields for the message, then one for each recipient. */
function statusReport(part: RawEntity): Found | undefined {
  const groups = textOf(part).split(/\n[ \t]*\n/, MAX_RECIPIENTS + 1)
  const recipients = groups.flatMap((group) => recipientOf(parseHeaders(Buffer.from(group))))
  const failed = recipients.filter(({ action }) => action === 'failed')
  const reported = failed.length > 0 ? failed : recipients.filter(({ action }) => action === 'delayed')
  if (reported.length === 0) return undefined
  return {
    recipients: reported.map(({ action: _, ...recipient }) => recipient),
    kind: failed.length > 0 ? 'permanent' : 'temporary',
    original: [],
  }
}

function recipientOf(fields: Header[]): (ReportedRecipient & { action: string })[] {
  const original = typedAddress(headerValue(fields, 'original-recipient'))
  const final = typedAddress(headerValue(fields, 'final-recipient'))
  // The sender wrote to the first one; the other is where forwarding led.
  const email = original.includes('@') ? original : final || original
  if (email === '') return []
  const diagnostic = untyped(headerValue(fields, 'diagnostic-code'))
  const status = statusCode(headerValue(fields, 'status') ?? '') ?? statusCode(diagnostic)
  const action =
    (headerValue(fields, 'action') ?? '')
      .trim()
      .toLowerCase()
      .split(/[\s(;]/)[0] ?? ''
  return [{ email, status, diagnostic: diagnostic || null, action: action || (ACTIONS[status?.[0] ?? ''] ?? '') }]
}

const ACTIONS: Readonly<Record<string, string>> = { 5: 'failed', 4: 'delayed' }

/** `rfc822; ada@example.com`, with or without angle brackets. */
function typedAddress(value: string | undefined): string {
  return cleanAddress(value === undefined || !value.includes(';') ? (value ?? '') : value.slice(value.indexOf(';') + 1))
}

function cleanAddress(text: string): string {
  return cleanField(text.slice(0, 4 * MAX_EMAIL), MAX_EMAIL)
    .replace(/^<|>$/g, '')
    .trim()
}

/** `smtp; 550 5.1.1 No such user` without the type. */
function untyped(value: string | undefined): string {
  return oneLine((value ?? '').replace(/^\s*[\w-]{1,40}\s*;/, ''), MAX_DIAGNOSTIC)
}

function statusCode(text: string): string | null {
  return /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(text.slice(0, MAX_DIAGNOSTIC))?.[0] ?? null
}

/** Of a line, where the copy of the message begins. */
function isCopyBelow(line: string): boolean {
  return /^--[- ]*(?:this is a copy of|below this line is a copy of|original message)/i.test(line.slice(0, MAX_MARKER))
}

const MAX_MARKER = 100

/** Reports without a machine-readable part: Exim and earlier Gmail name the recipients in the header, qmail in the text. */
function plainReport(message: RawEntity, parts: readonly RawEntity[], isFromSystem: boolean): Found | undefined {
  const body = parts.find(({ type }) => type === 'text/plain') ?? message
  const lines = textOf(body).split('\n', MAX_LINES)
  const named = message.headers
    .filter(({ name }) => name.toLowerCase() === 'x-failed-recipients')
    .flatMap(({ value }) => value.split(',', MAX_RECIPIENTS))
    .map(cleanAddress)
  const addresses = [...new Set(named)].filter((email) => email !== '').slice(0, MAX_RECIPIENTS)
  const recipients =
    addresses.length > 0
      ? addresses.map((email) => described(email, indentedBelow(lines, email)))
      : isFromSystem
        ? qmailRecipients(lines)
        : []
  if (recipients.length === 0) return undefined
  const copyAt = lines.findIndex(isCopyBelow)
  const copy = lines
    .slice(copyAt + 1)
    .join('\n')
    .trimStart()
  return { recipients, kind: 'permanent', original: copyAt === -1 ? [] : rawEntity(Buffer.from(copy)).headers }
}

function described(email: string, text: string): ReportedRecipient {
  const diagnostic = oneLine(text, MAX_DIAGNOSTIC)
  return { email, status: statusCode(diagnostic), diagnostic: diagnostic || null }
}

/** Exim explains below the address, further indented. */
function indentedBelow(lines: readonly string[], email: string): string {
  const at = lines.findIndex((line) => line.trim().toLowerCase() === email.toLowerCase())
  const below = at === -1 ? [] : lines.slice(at + 1, at + 10)
  const end = below.findIndex((line) => !/^\s{4}/.test(line))
  return below.slice(0, end === -1 ? below.length : end).join(' ')
}

/** `<ada@example.com>:` at the beginning of a paragraph, after "Hi. This is the qmail-send program". */
function qmailRecipients(lines: readonly string[]): ReportedRecipient[] {
  if (!lines.slice(0, 5).some((line) => line.startsWith('Hi. This is the '))) return []
  const end = lines.findIndex(isCopyBelow)
  const paragraphs = lines
    .slice(0, end === -1 ? lines.length : end)
    .join('\n')
    .split(/\n[ \t]*\n/, MAX_RECIPIENTS)
  return paragraphs.flatMap((paragraph) => {
    const [first = '', ...rest] = paragraph.split('\n')
    const email = /^<([^<>]{1,320})>:$/.exec(first.trim())?.[1]
    return email === undefined ? [] : [described(cleanAddress(email), rest.join(' '))]
  })
}

function textOf(part: RawEntity): string {
  return decodeBytes(decodedBody(part, MAX_PART_BYTES)).replaceAll('\r\n', '\n').replaceAll('\r', '\n')
}
