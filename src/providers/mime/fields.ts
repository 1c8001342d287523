import { addressParser, decodeWords } from 'postal-mime'
import { cleanText, truncateText } from '../../lib/text.ts'
import type { RemoteAddress, RemoteMessage } from '../contract/index.ts'
import { type Header, headerValue, headerValues } from './header-block.ts'

export const NAME_LIMIT = 500
const LIST_LIMIT = 128 * 1024
const SUBJECT_LIMIT = 2000
const ID_LIMIT = 16_384
const EMAIL_LIMIT = 320
const ADDRESSES_LIMIT = 1000
const REFERENCES_LIMIT = 100

export type HeaderFields = Pick<
  RemoteMessage,
  'messageId' | 'inReplyTo' | 'references' | 'subject' | 'from' | 'to' | 'cc' | 'bcc' | 'replyTo' | 'date'
>

/** What a message says of itself in its header, in this service's terms. */
export function headerFields(headers: readonly Header[]): HeaderFields {
  return {
    messageId: firstId(headerValue(headers, 'message-id')),
    inReplyTo: firstId(headerValue(headers, 'in-reply-to')),
    references: ids(headerValue(headers, 'references') ?? '').slice(-REFERENCES_LIMIT),
    subject: decoded(headerValue(headers, 'subject') ?? '', SUBJECT_LIMIT),
    from: addresses(headers, 'from')[0] ?? null,
    to: addresses(headers, 'to'),
    cc: addresses(headers, 'cc'),
    bcc: addresses(headers, 'bcc'),
    replyTo: addresses(headers, 'reply-to'),
    date: parseDate(headerValue(headers, 'date')),
  }
}

function addresses(headers: readonly Header[], name: string): RemoteAddress[] {
  const list = headerValues(headers, name).slice(0, LIST_LIMIT)
  if (list === '') return []
  return addressParser(list, { flatten: true })
    .slice(0, ADDRESSES_LIMIT)
    .map((one) => ({ name: decoded(one.name, NAME_LIMIT), email: cleanField(one.address ?? '', EMAIL_LIMIT) }))
    .filter(({ name: shown, email }) => shown !== '' || email !== '')
}

function decoded(value: string, limit: number): string {
  // Only so much is decoded as could be kept: an encoded word may blow a header up.
  return cleanField(decodeWords(joinWords(value.slice(0, limit * 12))), limit)
}

/** Neighbouring base64 words may cut a character in two (forbidden, and common): their bytes are joined first. */
function joinWords(value: string): string {
  return value.replace(/=\?([\w-]{1,40})\?B\?[^?\s]*\?=(?:\s+=\?\1\?B\?[^?\s]*\?=)+/gi, (run, charset) => {
    const pieces = run.split(/\s+/).map((word: string) => Buffer.from(word.split('?')[3] ?? '', 'base64'))
    return `=?${charset}?B?${Buffer.concat(pieces).toString('base64')}?=`
  })
}

/** Text of a field on one line, cut to what is kept. */
export function cleanField(value: string, limit: number): string {
  return truncateText(cleanText(value).replace(/\s+/g, ' ').trim(), limit)
}

function ids(value: string): string[] {
  return value
    .split(/[\s,]+/)
    .filter((id) => id.length > 2 && id.length <= ID_LIMIT)
    .map((id) => cleanText(id))
}

function firstId(value: string | undefined): string | null {
  const text = cleanField(value ?? '', ID_LIMIT)
  // Not a search by pattern: for thousands of `<` without a `>` that looks at the rest of the text from each.
  const start = text.indexOf('<')
  const end = start === -1 ? -1 : text.indexOf('>', start)
  return (end === -1 ? text.split(' ')[0] : text.slice(start, end + 1)) || null
}

const EARLIEST_MS = Date.UTC(1970, 0, 1)
const LATEST_MS = Date.UTC(9999, 0, 1)

function parseDate(value: string | undefined): number | null {
  const ms = Date.parse((value ?? '').replace(/\([^()]*\)/g, ' ').trim())
  return ms >= EARLIEST_MS && ms < LATEST_MS ? ms : null
}
