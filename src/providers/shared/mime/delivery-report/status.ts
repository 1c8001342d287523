import { cleanText } from '../../../../platform/formats/text.ts'
import { oneLine } from '../body/snippet.ts'
import { decode } from '../decoding/charset.ts'
import { cleanField, type Header, headerValue, parseHeaders } from '../headers/headers.ts'
import type { DeliveryReport, ReportedRecipient } from './report.ts'

/** The findings of one kind of report. `original`: the header of the sent message, where this part has it. */
export type Found = Pick<DeliveryReport, 'recipients' | 'kind'> & { original: Header[] }

export const MAX_RECIPIENTS = 50
const MAX_EMAIL = 320
const MAX_DIAGNOSTIC = 500

/** RFC 3464 and, for addresses outside ASCII, RFC 6533: a group of fields for the message, then one for each recipient. */
export function readStatus(bytes: Buffer): Found | undefined {
  const groups = decodeLines(bytes).split(/\n[ \t]*\n/, MAX_RECIPIENTS + 1)
  const recipients = groups.flatMap((group) => readRecipient(parseHeaders(Buffer.from(group))))
  const failed = recipients.filter(({ action }) => action === 'failed')
  const reported = failed.length > 0 ? failed : recipients.filter(({ action }) => action === 'delayed')
  if (reported.length === 0) return undefined
  return {
    recipients: reported.map(({ action: _, ...recipient }) => recipient),
    kind: failed.length > 0 ? 'permanent' : 'temporary',
    original: [],
  }
}

/** The text with LF as line ends. `charset`: as declared. */
export function decodeLines(bytes: Buffer, charset?: string): string {
  return decode(bytes, charset).replaceAll('\r\n', '\n').replaceAll('\r', '\n')
}

function readRecipient(fields: Header[]): (ReportedRecipient & { action: string })[] {
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

/** `rfc822; ada@example.com` or `utf-8; …`, with or without angle brackets. */
function typedAddress(value: string | undefined): string {
  const text = (value ?? '').slice(0, 8 * MAX_EMAIL)
  const separator = text.indexOf(';')
  const address = text.slice(separator + 1)
  return cleanAddress(/^\s*utf-8\s*$/i.test(text.slice(0, Math.max(0, separator))) ? unescaped(address) : address)
}

/** RFC 6533: a server that may write only ASCII escapes other characters, `\x{4E2D}`. */
function unescaped(text: string): string {
  return text.replace(/\\x\{([0-9a-f]{1,6})\}/gi, (escaped, code: string) => {
    const point = Number.parseInt(code, 16)
    return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? escaped : String.fromCodePoint(point)
  })
}

export function cleanAddress(text: string): string {
  return cleanField(cleanText(text.slice(0, 4 * MAX_EMAIL)), MAX_EMAIL)
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

/** A recipient with what the text of a report says of it. */
export function described(email: string, text: string): ReportedRecipient {
  const diagnostic = oneLine(text, MAX_DIAGNOSTIC)
  return { email, status: statusCode(diagnostic), diagnostic: diagnostic || null }
}
