import { TURN_MS, yieldIfHeld } from '../../../../platform/concurrency/event-loop.ts'
import { encodingName, transferDecoder } from '../decoding/transfer-decoding.ts'
import { type Field, type MessagePart, readSource } from './message-source.ts'
import { newField, replaceField, withChildren, writeSource } from './write-source.ts'

const [LF, CR] = [0x0a, 0x0d]
/** RFC 5322 2.1.1, without the line end. */
const MAX_LINE = 998
const MAX_NESTED = 10
/** In bytes. A list of 10,000 recipients has 600 kB. */
const MAX_FIELD = 1024 * 1024

/**
 * A message without lines of more than 998 bytes and carriage returns within lines, which mail servers refuse, cut or change, and with
 * the same content. A message cannot be encoded as a whole (RFC 2046 5.2.1): parts with such lines get another transfer encoding, such
 * header fields are folded, and everything else keeps its bytes. Undefined for one that cannot be read well enough.
 */
export async function withShortLines(message: Buffer, nested = 0): Promise<Buffer | undefined> {
  if (!(await hasBadLine(message))) return message
  const read = nested > MAX_NESTED ? undefined : await readSource(message)
  const root = read && (await shortened(read.root, read.lineEnd, nested))
  if (root === undefined) return undefined
  const written = writeSource({ root, lineEnd: read?.lineEnd ?? '\r\n' })
  return (await hasBadLine(written)) ? undefined : written
}

/** Whether a line is too long, or contains a carriage return that does not end it (RFC 5322 2.2). */
async function hasBadLine(bytes: Buffer): Promise<boolean> {
  let lines = 0
  let nextCr = bytes.indexOf(CR)
  for (let at = 0; at < bytes.length; ) {
    lines += 1
    if (lines % LINES_PER_CHECK === 0) await yieldIfHeld(TURN_MS)
    const found = bytes.indexOf(LF, at)
    const end = found === -1 ? bytes.length : found
    const hasCr = found !== -1 && nextCr === end - 1
    if (nextCr !== -1 && nextCr < end && !hasCr) return true
    if (end - at - (hasCr ? 1 : 0) > MAX_LINE) return true
    if (hasCr) nextCr = bytes.indexOf(CR, end)
    at = end + 1
  }
  return false
}

async function shortened(part: MessagePart, lineEnd: string, nested: number): Promise<MessagePart | undefined> {
  const fields: Field[] = []
  for (const field of part.fields) {
    const isBad = await hasBadLine(field.bytes)
    // Folding it would hold the event loop.
    if (isBad && field.bytes.length > MAX_FIELD) return undefined
    fields.push(isBad ? folded(field, lineEnd) : field)
  }
  const { multipart } = part
  if (multipart === undefined) return shortenedLeaf({ ...part, fields }, lineEnd, nested)
  const children: MessagePart[] = []
  for (const child of multipart.children) {
    const short = await shortened(child, lineEnd, nested)
    if (short === undefined) return undefined
    children.push(short)
  }
  const { preamble, tail } = multipart
  const edited = withChildren({ ...part, fields }, children)
  if (!(await hasBadLine(preamble)) && !(await hasBadLine(tail))) return edited
  // Nobody shows what precedes and follows the parts.
  const none = Buffer.alloc(0)
  return { ...edited, content: undefined, multipart: { ...multipart, children, preamble: none, tail: none } }
}

async function shortenedLeaf(part: MessagePart, lineEnd: string, nested: number): Promise<MessagePart | undefined> {
  const { content = Buffer.alloc(0), type } = part
  const encoding = encodingName(part.encoding)
  if (!(await hasBadLine(content))) return part
  const isEncoded = encoding === 'base64' || encoding === 'quoted-printable'
  if (!isEncoded && (type === 'message/rfc822' || type === 'message/global')) {
    const inner = await withShortLines(content, nested + 1)
    return inner && { ...part, content: inner }
  }
  if (!isEncoded && /^(message|multipart)\//.test(type)) return undefined
  const decoded = await decode(content, encoding)
  const isText = type.startsWith('text/') && encoding !== 'base64' && decoded.length <= MAX_QUOTED
  const isQuoted = isText && decoded.toString('latin1').search(BARE_CR) === -1
  const field = newField('Content-Transfer-Encoding', isQuoted ? 'quoted-printable' : 'base64', lineEnd)
  const encoded = isQuoted ? await quotedPrintable(decoded) : await base64Lines(decoded)
  return { ...part, fields: replaceField(part.fields, field.name, field), content: encoded }
}

const LINES_PER_CHECK = 1000
/** In bytes. Encoding more as quoted-printable would hold the event loop. */
const MAX_QUOTED = 128 * 1024
/** A line end that quoted-printable cannot keep. */
const BARE_CR = /\r(?!\n)/g

async function decode(content: Buffer, encoding: string): Promise<Buffer> {
  const decoder = transferDecoder(encoding)
  const chunks: Buffer[] = []
  for (let at = 0; at < content.length; at += SLICE) {
    chunks.push(decoder.write(content.subarray(at, at + SLICE)))
    await yieldIfHeld(TURN_MS)
  }
  return Buffer.concat([...chunks, decoder.end()])
}

async function quotedPrintable(bytes: Buffer): Promise<Buffer> {
  const { encode, wrap } = await import('nodemailer/lib/qp')
  return Buffer.from(wrap(encode(bytes), 76), 'latin1')
}

/** Complete lines of 76 characters in base64. */
const SLICE = 57 * 1024

async function base64Lines(bytes: Buffer): Promise<Buffer> {
  const chunks: string[] = []
  for (let at = 0; at < bytes.length; at += SLICE) {
    chunks.push(bytes.toString('base64', at, at + SLICE).replace(/.{76}/g, '$&\r\n'))
    await yieldIfHeld(TURN_MS)
  }
  return Buffer.from(chunks.join(''), 'latin1')
}

/** A header field in lines of at most 998 bytes. */
function folded(field: Field, lineEnd: string): Field {
  const lines = field.bytes.toString('latin1').replace(BARE_CR, ' ').split('\n')
  return { ...field, bytes: Buffer.from(lines.map((line) => foldedLine(line, lineEnd)).join('\n'), 'latin1') }
}

function foldedLine(line: string, lineEnd: string): string {
  const pieces: string[] = []
  let start = 0
  // One less, for the space that begins a piece.
  while (line.length - start > MAX_LINE - 1) {
    const end = start + foldAt(line.slice(start, start + MAX_LINE))
    pieces.push(line.slice(start, end))
    start = end
  }
  pieces.push(line.slice(start))
  return pieces.map((piece, index) => (index === 0 || /^[ \t]/.test(piece) ? piece : ` ${piece}`)).join(lineEnd)
}

/** Where a line ends: before white space, else where a space changes nothing or little, else between two characters. */
function foldAt(window: string): number {
  const space = Math.max(window.lastIndexOf(' '), window.lastIndexOf('\t'))
  if (space > FIRST_FOLD) return space
  const mark = Math.max(...['>', ',', ';'].map((character) => window.lastIndexOf(character, MAX_LINE - 2)))
  if (mark > FIRST_FOLD) return mark + 1
  // Not within a character of UTF-8.
  const begun = /[\x80-\xbf]{1,3}$/.exec(window)?.[0].length ?? 0
  return MAX_LINE - 1 - begun
}

/** The name of the field may be in front, and a line needs more than white space. */
const FIRST_FOLD = 100
