import { isAscii } from 'node:buffer'
import { LRUCache } from 'lru-cache'
import { addressParser, decodeWords } from 'postal-mime'
import { cleanText, detached, truncateCharacters, truncateText } from '../../lib/text.ts'
import type { RemoteAddress, RemoteMessage } from '../contract/index.ts'

export interface Header {
  name: string
  /** Unfolded; encoded words are not decoded. */
  value: string
}

/** More lines than this are junk, and parsing them would hold the event loop. */
const MAX_LINES = 5000

/** The fields of a raw header block, in order. Skips lines that are neither a field nor a continuation. */
export function parseHeaders(block: Buffer): Header[] {
  const headers: Header[] = []
  for (const line of decodeBytes(block).split(/\r\n|\n|\r/, MAX_LINES)) {
    const last = headers.at(-1)
    if (/^[ \t]/.test(line)) {
      if (last !== undefined) last.value += ` ${line.trim()}`
      continue
    }
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim()
    if (colon > 0 && /^[\x21-\x7e]+$/.test(name)) headers.push({ name, value: cleanText(line.slice(colon + 1)).trim() })
  }
  return headers
}

/** The first field of this name (in lower case), not decoded. */
export function headerValue(headers: readonly Header[], name: string): string | undefined {
  return headers.find((header) => header.name.toLowerCase() === name)?.value
}

/** Decodes bytes without a declared charset: as UTF-8 (RFC 6532) if valid, even cut off, else as windows-1252. */
export function decodeBytes(bytes: Buffer): string {
  // Making a decoder takes longer than decoding a header.
  if (isAscii(bytes)) return bytes.toString('latin1')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

const MAX_NAME = 500
const MAX_LIST = 64 * 1024
/** In characters; the other limits are in UTF-16 units. */
const MAX_SUBJECT = 5000
const MAX_ID = 16_384
const MAX_EMAIL = 320
const MAX_ADDRESSES = 1000
const MAX_SENDERS = 20
const MAX_REFERENCES = 100
const MAX_REFERENCES_LENGTH = 64 * 1024
/** Punctuation in a list of addresses: a thousand addresses with encoded names have 8,000. */
const MAX_PUNCTUATION = 10_000
const MAX_WORDS = 2000

export type HeaderFields = Pick<
  RemoteMessage,
  'messageId' | 'inReplyTo' | 'references' | 'subject' | 'from' | 'to' | 'cc' | 'bcc' | 'replyTo' | 'date'
>

/** The fields of `RemoteMessage` that come from the header. */
export function headerFields(headers: readonly Header[]): HeaderFields {
  const values = valuesByName(headers)
  const first = (name: string) => values.get(name)?.[0]
  return {
    messageId: firstId(first('message-id')),
    inReplyTo: firstId(first('in-reply-to')),
    references: ids((first('references') ?? '').slice(-MAX_REFERENCES_LENGTH)).slice(-MAX_REFERENCES),
    subject: subjectOf(first('subject') ?? ''),
    from: addresses(values.get('from'), MAX_SENDERS)[0] ?? null,
    to: addresses(values.get('to')),
    cc: addresses(values.get('cc')),
    bcc: addresses(values.get('bcc')),
    replyTo: addresses(values.get('reply-to')),
    date: parseDate(first('date')),
  }
}

/** By the name in lower case. */
function valuesByName(headers: readonly Header[]): ReadonlyMap<string, string[]> {
  const values = new Map<string, string[]>()
  for (const header of headers) {
    const name = header.name.toLowerCase()
    const known = values.get(name)
    if (known === undefined) values.set(name, [header.value])
    else known.push(header.value)
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
  const known = shortLists.get(list)
  if (known !== undefined) return known.slice(0, limit)
  const own = detached(list)
  const parsed = parseAddresses(own, MAX_ADDRESSES)
  shortLists.set(own, parsed)
  return parsed.slice(0, limit)
}

function parseAddresses(list: string, limit: number): RemoteAddress[] {
  return addressParser(withoutGroups(list, limit), { flatten: true })
    .slice(0, limit)
    .map((one) => ({ name: decodedWords(one.name, MAX_NAME), email: cleanField(one.address ?? '', MAX_EMAIL) }))
    .filter(({ name: displayName, email }) => displayName !== '' || email !== '')
}

/** At most 5,000 characters of up to two UTF-16 units. */
function subjectOf(value: string): string {
  return truncateCharacters(decodedWords(value, 2 * MAX_SUBJECT), MAX_SUBJECT)
}

/**
 * The first addresses of a list, without the names of groups. postal-mime parses a group once for each level of nesting, which takes
 * 0.3 s for 126 kB of `g:g:g:`, and a list of empty comments or names character by character.
 */
function withoutGroups(list: string, limit: number): string {
  const found: string[] = []
  let start = 0
  let end = list.length
  let closer = ''
  let punctuation = 0
  let escapedUntil = 0
  for (const { 0: char, index } of list.matchAll(/[,;:<>()"\\?]/g)) {
    if (index < escapedUntil) continue
    punctuation += 1
    if (punctuation > MAX_PUNCTUATION || found.length === limit) {
      end = index
      break
    }
    if (closer === '"' && char === '\\') escapedUntil = index + 2
    if (closer !== '') {
      if (char === closer) closer = ''
    } else if (char === ':') {
      start = index + 1
    } else if (char === ',' || char === ';') {
      found.push(list.slice(start, index))
      start = index + 1
    } else {
      closer = CLOSERS[char] ?? ''
    }
  }
  found.push(list.slice(start, end))
  return found.join(',')
}

const CLOSERS: Readonly<Record<string, string>> = { '"': '"', '(': ')', '<': '>' }

/** A field of free text as one line, with its encoded words decoded. */
export function decodedField(value: string): string {
  return decodedWords(value, 2 * MAX_SUBJECT)
}

function decodedWords(value: string, limit: number): string {
  if (!value.includes('=?')) return cleanField(value.slice(0, limit * 12), limit)
  return cleanField(decodeWords(joinWords(firstWords(value.slice(0, limit * 12)))), limit)
}

/** The text up to the last encoded word that is decoded: each costs several microseconds, however short it is. */
function firstWords(value: string): string {
  let end = -2
  for (let count = 0; count <= MAX_WORDS; count += 1) {
    end = value.indexOf('=?', end + 2)
    if (end === -1) return value
  }
  return value.slice(0, end)
}

/** Adjacent base64 words may split a character between them (forbidden, but common), so their bytes are joined first. */
function joinWords(value: string): string {
  return value.replace(/=\?([\w-]{1,40})\?B\?[^?\s]*\?=(?:\s+=\?\1\?B\?[^?\s]*\?=)+/gi, (run, charset) => {
    const pieces = run.split(/\s+/).map((word: string) => Buffer.from(word.split('?')[3] ?? '', 'base64'))
    return `=?${charset}?B?${Buffer.concat(pieces).toString('base64')}?=`
  })
}

/** A field as one line, truncated. */
export function cleanField(value: string, limit: number): string {
  return truncateText(cleanText(value).replace(/\s+/g, ' ').trim(), limit)
}

function ids(value: string): string[] {
  return value
    .split(/[\s,]+/)
    .filter((id) => id.length > 2 && id.length <= MAX_ID)
    .map((id) => cleanText(id))
}

function firstId(value: string | undefined): string | null {
  const text = cleanField(value ?? '', MAX_ID)
  // A regular expression would take quadratic time for thousands of `<` without a `>`.
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
