import { isUtf8 } from 'node:buffer'
import { LRUCache } from 'lru-cache'
import { cleanText, detached, truncateCharacters, truncateText } from '../../../../platform/formats/text.ts'
import type { RemoteAddress, RemoteMessage } from '../../../contract/index.ts'
import { decode } from '../decoding/charset.ts'
import { readAddressList } from './address-list.ts'
import { readDate } from './dates.ts'
import { decodeWords } from './encoded-words.ts'
import { limitReferences, readMessageIds } from './message-ids.ts'
import { charsetParameter } from './parameters.ts'

export interface Header {
  name: string
  /** Unfolded; encoded words are not decoded. */
  value: string
}

/** Larger headers are junk, and parsing them would hold the event loop. A list of 6,000 recipients has as many lines. */
const MAX_LINES = 30_000
const MAX_FIELDS = 5000

/**
 * The fields of a raw header block, in order. Skips lines that are neither a field nor a continuation. Bytes outside ASCII are UTF-8 (RFC
 * 6532), or in the charset that the message declares: in this block, or `charset`.
 */
export function parseHeaders(block: Buffer, charset?: string): Header[] {
  const text = isUtf8(withoutLastCharacter(block)) ? block.toString('utf8') : undefined
  const headers = splitFields(text ?? block.toString('latin1'))
  if (text === undefined) decodeValues(headers, charset)
  for (const header of headers) header.value = cleanText(header.value).trim()
  return headers
}

/** Decodes values that have a byte in each character. */
function decodeValues(headers: readonly Header[], charset: string | undefined): void {
  const declared = charsetParameter(headerValue(headers, 'content-type') ?? '') ?? charset
  for (const header of headers) header.value = decode(Buffer.from(header.value, 'latin1'), declared)
}

/** A block that was cut off may end within a character. */
function withoutLastCharacter(block: Buffer): Buffer {
  let end = block.length
  while (end > 0 && block.length - end < 4 && (block[end - 1] ?? 0) >= 0x80) end -= 1
  return end === block.length ? block : block.subarray(0, end)
}

function splitFields(block: string): Header[] {
  const headers: Header[] = []
  for (const line of block.split(/\r\n|\n|\r/, MAX_LINES)) {
    if (line.startsWith(' ') || line.startsWith('\t')) {
      const folded = headers.at(-1)
      if (folded !== undefined) folded.value += ` ${line.trim()}`
      continue
    }
    if (headers.length === MAX_FIELDS) break
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim()
    if (colon > 0 && /^[\x21-\x7e]+$/.test(name)) headers.push({ name, value: line.slice(colon + 1) })
  }
  return headers
}

/** The first field of this name (in lower case), not decoded. */
export function headerValue(headers: readonly Header[], name: string): string | undefined {
  return headers.find((header) => header.name.length === name.length && header.name.toLowerCase() === name)?.value
}

const MAX_NAME = 500
const MAX_LIST = 64 * 1024
/** In characters; the other limits are in UTF-16 units. */
const MAX_SUBJECT = 5000
const MAX_EMAIL = 320
const MAX_ADDRESSES = 1000
const MAX_SENDERS = 20
const MAX_REFERENCES = 100

export type HeaderFields = Pick<
  RemoteMessage,
  'messageId' | 'inReplyTo' | 'references' | 'subject' | 'from' | 'to' | 'cc' | 'bcc' | 'replyTo' | 'date'
>

/** The fields of `RemoteMessage` that come from the header. */
export function headerFields(headers: readonly Header[]): HeaderFields {
  const values = valuesByName(headers)
  const first = (name: string) => values.get(name)?.[0]
  // Some programs write these fields twice.
  const ids = (name: string) => readMessageIds((values.get(name) ?? []).join(' '))
  return {
    messageId: ids('message-id')[0] ?? null,
    inReplyTo: ids('in-reply-to')[0] ?? null,
    references: limitReferences(ids('references'), MAX_REFERENCES),
    subject: decodeSubject(first('subject') ?? ''),
    // An entry without an address is the beginning of a name with a comma.
    from: addresses(values.get('from'), MAX_SENDERS).find(({ email }) => email !== '') ?? null,
    to: addresses(values.get('to')),
    cc: addresses(values.get('cc')),
    bcc: addresses(values.get('bcc')),
    replyTo: addresses(values.get('reply-to')),
    date: readDate(first('date')),
  }
}

/** By the name in lower case. */
function valuesByName(headers: readonly Header[]): ReadonlyMap<string, string[]> {
  const values = new Map<string, string[]>()
  for (const header of headers) {
    const name = header.name.toLowerCase()
    const earlier = values.get(name)
    if (earlier === undefined) values.set(name, [header.value])
    else earlier.push(header.value)
  }
  return values
}

/** Parsing makes 10 kB of garbage, and most messages share a recipient or a sender with others. */
const shortLists = new LRUCache<string, readonly RemoteAddress[]>({ max: 1000 })
const SHORT_LIST = 200

/** Some programs send an address list as several fields of the same name. */
function addresses(fields: readonly string[] = [], limit = MAX_ADDRESSES): RemoteAddress[] {
  const list = fields.join(', ').slice(0, MAX_LIST)
  if (list === '') return []
  if (list.length > SHORT_LIST) return parseAddresses(list, limit)
  const cached = shortLists.get(list)
  if (cached !== undefined) return cached.slice(0, limit)
  const own = detached(list)
  const parsed = parseAddresses(own, MAX_ADDRESSES)
  shortLists.set(own, parsed)
  return parsed.slice(0, limit)
}

function parseAddresses(list: string, limit: number): RemoteAddress[] {
  return readAddressList(list, limit)
    .map(({ name, email }) => ({ name: cleanField(name, MAX_NAME), email: cleanField(email, MAX_EMAIL) }))
    .filter(({ name, email }) => name !== '' || email !== '')
}

/** At most 5,000 characters of up to two UTF-16 units. */
function decodeSubject(value: string): string {
  return truncateCharacters(decodedWords(value, 2 * MAX_SUBJECT), MAX_SUBJECT)
}

/** A field of free text as one line, with its encoded words decoded. */
export function decodedField(value: string): string {
  return decodedWords(value, 2 * MAX_SUBJECT)
}

function decodedWords(value: string, limit: number): string {
  return cleanField(decodeWords(value.slice(0, limit * 12)), limit)
}

/** A field as one line, truncated. */
export function cleanField(value: string, limit: number): string {
  return truncateText(cleanText(value).replace(WHITE_SPACE, ' ').trim(), limit)
}

/** Runs of it, but for a single space, which most are. */
const WHITE_SPACE = /(?! \S)\s+/g
