import { decode, isStateful } from '../decoding/charset.ts'
import { undoEscapes } from '../decoding/escapes.ts'

/** An encoded word (RFC 2047): `=?charset?encoding?text?=`. */
export interface EncodedWord {
  charset: string
  bytes: Buffer
  /** Behind the word. */
  end: number
}

/** Further words stay as they are, and so do beginnings of words: each costs several microseconds, however short it is. */
const MAX_WORDS = 1000
const MAX_CHARSET = 60
/** A word has at most 75 characters; programs write lines of up to 998, and some a whole subject. */
const MAX_WORD = 16_384

/** Reads the word that begins at `start`. As forgiving as Gmail and Thunderbird: it may contain spaces and question marks. */
export function readEncodedWord(value: string, start: number): EncodedWord | undefined {
  if (!value.startsWith('=?', start)) return undefined
  const charsetEnd = value.indexOf('?', start + 2)
  if (charsetEnd === -1 || charsetEnd - start > MAX_CHARSET) return undefined
  const encoding = value[charsetEnd + 1]?.toLowerCase()
  if ((encoding !== 'q' && encoding !== 'b') || value[charsetEnd + 2] !== '?') return undefined
  const charset = value.slice(start + 2, charsetEnd)
  if (charset === '' || /\s/.test(charset)) return undefined
  const textStart = charsetEnd + 3
  const textEnd = findEnd(value, textStart, encoding)
  if (textEnd === undefined) return undefined
  const text = value.slice(textStart, textEnd)
  return { charset, bytes: encoding === 'b' ? base64Bytes(text) : quotedBytes(text), end: textEnd + 2 }
}

/** Where `?=` ends the text. In quoted-printable text, `?=` before two hexadecimal digits may be a question mark before an escape. */
function findEnd(value: string, start: number, encoding: 'q' | 'b'): number | undefined {
  const window = value.slice(start, start + MAX_WORD)
  const nextWord = window.search(/=\?[a-z]/i)
  const text = nextWord === -1 ? window : window.slice(0, nextWord)
  let end = text.indexOf('?=')
  while (end !== -1 && encoding === 'q' && /^[0-9a-f]{2}/i.test(text.slice(end + 2, end + 4))) {
    const later = text.indexOf('?=', end + 1)
    if (later === -1) break
    end = later
  }
  return end === -1 ? undefined : start + end
}

function base64Bytes(text: string): Buffer {
  // Padding within the text ends a piece of it.
  return Buffer.concat(text.split(/=+/).map((piece) => Buffer.from(piece, 'base64')))
}

function quotedBytes(text: string): Buffer {
  return undoEscapes(Buffer.from(text.replaceAll('_', ' '), 'utf8'))
}

/**
 * Text with its encoded words decoded, and the white space between two of them removed. Adjacent words of one charset are decoded
 * together, because many programs divide a character between them; those of a stateful charset one by one, because each begins anew.
 */
export function decodeWords(value: string): string {
  if (!value.includes('=?')) return value
  const pieces: string[] = []
  const pending: EncodedWord[] = []
  let literalStart = 0
  let at = value.indexOf('=?')
  for (let tried = 0; at !== -1 && tried < MAX_WORDS; tried += 1) {
    const word = readEncodedWord(value, at)
    if (word === undefined) {
      at = value.indexOf('=?', at + 2)
      continue
    }
    const literal = value.slice(literalStart, at)
    if (pending.length === 0 || literal.trim() !== '') {
      pieces.push(decodeAdjacent(pending), literal)
      pending.length = 0
    }
    pending.push(word)
    literalStart = word.end
    at = value.indexOf('=?', word.end)
  }
  pieces.push(decodeAdjacent(pending), value.slice(literalStart))
  return pieces.join('')
}

/** Decodes words that follow each other with nothing but white space between them. */
export function decodeAdjacent(words: readonly EncodedWord[]): string {
  const pieces: string[] = []
  for (let start = 0; start < words.length; ) {
    const { charset = '' } = words[start] ?? {}
    let end = start + 1
    if (!isStateful(charset)) {
      while (end < words.length && words[end]?.charset.toLowerCase() === charset.toLowerCase()) end += 1
    }
    const bytes = words.slice(start, end).map((word) => word.bytes)
    pieces.push(decode(bytes.length === 1 && bytes[0] !== undefined ? bytes[0] : Buffer.concat(bytes), charset))
    start = end
  }
  return pieces.join('')
}
