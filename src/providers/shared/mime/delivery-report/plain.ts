import { htmlToText } from '../body/html-to-text.ts'
import { type Header, headerValue, parseHeaders } from '../headers/headers.ts'
import { charsetParameter } from '../headers/parameters.ts'
import type { ReportedRecipient } from './report.ts'
import { decodedBody, type ReportPart, readHeader } from './report-part.ts'
import { cleanAddress, decodeLines, described, type Found, MAX_RECIPIENTS } from './status.ts'
import { wordedReport } from './worded.ts'

const MAX_PART_BYTES = 64 * 1024
const MAX_LINES = 2000
const MAX_MARKER = 100

interface Circumstances {
  isFromSystem: boolean
  /** A part of the report is the sent message, or its header. */
  hasOriginal: boolean
  /** The sender's address. */
  from: string
}

/**
 * Reports without a machine-readable part. Exim and earlier Gmail name the recipients in the header, qmail and others in the text. Words
 * alone are no proof: unless a `MAILER-DAEMON` wrote them, they count only together with the sent message.
 */
export function plainReport(
  message: ReportPart,
  parts: readonly ReportPart[],
  { isFromSystem, hasOriginal, from }: Circumstances,
): Found | undefined {
  const lines = readText(message, parts).split('\n', MAX_LINES)
  const copyAt = lines.findIndex(isCopyBelow)
  const announced = copyAt === -1 ? lines : lines.slice(0, copyAt)
  const original = copyAt === -1 ? [] : copiedHeader(lines.slice(copyAt + 1))
  const named = failedRecipients(message.headers)
  if (named.length > 0) {
    const recipients = named.map((email) => described(email, indentedBelow(lines, email)))
    return { recipients, kind: 'permanent', original }
  }
  if (!isFromSystem) return undefined
  const ofQmail = qmailRecipients(announced)
  if (ofQmail.length > 0) return { recipients: ofQmail, kind: 'permanent', original }
  const quoted = original.length > 0 ? undefined : findHeader(announced)
  const isCertain = hasOriginal || original.length > 0 || quoted !== undefined || isDaemon(from)
  const worded = isCertain ? wordedReport(announced.slice(0, quoted?.start)) : undefined
  return worded && { ...worded, original: quoted?.header ?? original }
}

function readText(message: ReportPart, parts: readonly ReportPart[]): string {
  const plain = parts.find(({ type }) => type === 'text/plain')
  const html = parts.find(({ type }) => type === 'text/html')
  const body = plain ?? html ?? message
  const text = decodeLines(
    decodedBody(body, MAX_PART_BYTES),
    charsetParameter(headerValue(body.headers, 'content-type') ?? ''),
  )
  return body.type === 'text/html' ? htmlToText(text) : text
}

/** Whether a line announces the copy of the message. */
function isCopyBelow(line: string): boolean {
  const text = line.slice(0, MAX_MARKER).trim()
  return (/^[-|=*_]{2}/.test(text) || text.endsWith(':')) && COPY.test(text)
}

const COPY =
  /\b(?:(?:is|below|here)\b.{0,20}\b(?:a|the) copy of|original (?:message|mail)|returned (?:message|mail)|unsent message|message (?:text|headers?|body) (?:follows|below)|(?:text|headers?) of the original|old message|your message (?:text|reads|follows)|included is|mensaje original|message d'origine|urspr\u00fcngliche nachricht)/i

/** The header after the line that announces it, below the types and delimiters that some servers write. */
function copiedHeader(lines: readonly string[]): Header[] {
  const header = readHeader(Buffer.from(lines.join('\n').trimStart()))
  return isHeaderOfMessage(header) ? header : (findHeader(lines)?.header ?? [])
}

function isDaemon(email: string): boolean {
  return /^mail(?:er)?[-_]?daemon(?:@|$)/i.test(email)
}

/** A paragraph that is the header of a message, and the line where it begins. */
function findHeader(lines: readonly string[]): { header: Header[]; start: number } | undefined {
  let start = 0
  for (let at = 0; at <= lines.length; at += 1) {
    if (at < lines.length && lines[at]?.trim() !== '') continue
    const header = at - start < 3 ? [] : parseHeaders(Buffer.from(lines.slice(start, at).join('\n')))
    if (isHeaderOfMessage(header)) return { header, start }
    start = at + 1
  }
  return undefined
}

function isHeaderOfMessage(header: readonly Header[]): boolean {
  const has = (name: string) => headerValue(header, name) !== undefined
  return has('message-id') || (has('subject') && (has('from') || has('to')))
}

function failedRecipients(headers: readonly Header[]): string[] {
  const named = headers
    .filter(({ name }) => name.toLowerCase() === 'x-failed-recipients')
    .flatMap(({ value }) => value.split(',', MAX_RECIPIENTS))
    .map(cleanAddress)
  return [...new Set(named)].filter((email) => email !== '').slice(0, MAX_RECIPIENTS)
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
  const paragraphs = lines.join('\n').split(/\n[ \t]*\n/, MAX_RECIPIENTS)
  return paragraphs.flatMap((paragraph) => {
    const [first = '', ...rest] = paragraph.split('\n')
    const email = /^<([^<>]{1,320})>:$/.exec(first.trim())?.[1]
    return email === undefined ? [] : [described(cleanAddress(email), rest.join(' '))]
  })
}
