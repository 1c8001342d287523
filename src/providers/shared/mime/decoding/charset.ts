import { isAscii, isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'
import { findReader } from './charset-labels.ts'
import { guessCharset } from './guess-charset.ts'

/**
 * Decodes text of a message in the charset that it names. Follows what mail programs mean rather than the label where the two differ: a
 * byte order mark and valid UTF-8 win, `ks_c_5601-1987` is code page 949, `gb2312` is GB 18030, `iso-8859-1` is windows-1252. A label that
 * nobody knows, or none, is guessed from the bytes. Never throws; bytes that mean nothing become U+FFFD.
 */
export function decode(bytes: Buffer, label?: string): string {
  const reader = findReader(label)
  if (reader?.form !== 'ascii' && reader?.form !== 'wide' && isAscii(bytes)) return bytes.toString('latin1')
  const marked = byteOrderMark(bytes)
  if (marked !== undefined) return iconv.decode(bytes, marked)
  if (reader === undefined) return decodeGuessed(bytes)
  if (reader.form === 'wide' || !isTextInUtf8(bytes)) return reader.decode(bytes)
  // Seven-bit encodings have no such bytes: somebody has converted the text and kept the label, as Gmail does.
  if (reader.form !== 'multi' || hasLongSequence(bytes)) return bytes.toString('utf8')
  // Two-byte sequences may be a word of a multi-byte charset.
  const text = reader.decode(bytes)
  return text.includes('\ufffd') ? bytes.toString('utf8') : text
}

/** Whether somebody knows this label. */
export function isKnownCharset(label: string): boolean {
  return findReader(label) !== undefined
}

/** Whether pieces of text in this charset, such as adjacent encoded words, are decoded one by one. */
export function isStateful(label: string): boolean {
  return findReader(label)?.isStateful ?? false
}

function decodeGuessed(bytes: Buffer): string {
  if (isTextInUtf8(bytes)) return bytes.toString('utf8')
  return findReader(guessCharset(bytes))?.decode(bytes) ?? bytes.toString('latin1')
}

const MARKS: readonly [bytes: readonly number[], charset: string][] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe, 0, 0], 'utf-32le'],
  [[0, 0, 0xfe, 0xff], 'utf-32be'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
]

/** The charset of a byte order mark (RFC 2781). */
function byteOrderMark(bytes: Buffer): string | undefined {
  return MARKS.find(([mark]) => mark.every((byte, index) => bytes[index] === byte))?.[1]
}

/** Whether UTF-8 bytes contain a character of three or four bytes. */
function hasLongSequence(bytes: Buffer): boolean {
  return bytes.some((byte) => byte >= 0xe0)
}

/** Whether the bytes have characters outside ASCII, all of them UTF-8, but for one that is cut off at the end. */
function isTextInUtf8(bytes: Buffer): boolean {
  const complete = withoutTail(bytes)
  return isUtf8(complete) && !isAscii(complete)
}

/** The bytes without a character that is cut off at their end: up to three bytes of UTF-8. */
function withoutTail(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return back < length ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

const META_BYTES = 2048

/** Decodes the text of a part. HTML without a charset names one in its `<meta>`. */
export function decodeText(bytes: Buffer, { type, charset }: { type: string; charset: string | undefined }): string {
  const isNamed = charset !== undefined && charset.trim() !== ''
  return decode(bytes, isNamed || type !== 'text/html' ? charset : metaCharset(bytes))
}

/** The charset that HTML names at its beginning: `<meta charset="…">` or `<meta http-equiv="Content-Type" content="…; charset=…">`. */
function metaCharset(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, META_BYTES)
  for (const [tag] of head.matchAll(/<meta\b[^<>]{0,500}>/gi)) {
    const charset = /\bcharset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(tag)?.[1]
    if (charset !== undefined) return charset
  }
  return undefined
}
