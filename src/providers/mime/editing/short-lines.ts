import { TURN_MS, yieldIfHeld } from '../../../lib/event-loop.ts'
import { transferDecoder } from '../transfer-decoding.ts'
import { type Field, type MessagePart, readSource } from './message-source.ts'
import { newField, replaceField, withChildren, writeSource } from './write-source.ts'

/** RFC 5322 2.1.1, without the line end. */
const MAX_LINE = 998
const MAX_NESTED = 10

/**
 * A message without lines of more than 998 bytes, which mail servers refuse or cut, and with the same content. A message cannot be
 * encoded as a whole (RFC 2046 5.2.1): parts with long lines get another transfer encoding, long header fields are folded, and everything
 * else keeps its bytes. Undefined for one that cannot be read well enough.
 */
export async function withShortLines(message: Buffer, nested = 0): Promise<Buffer | undefined> {
  if (!(await hasLongLine(message))) return message
  const read = nested > MAX_NESTED ? undefined : await readSource(message)
  const root = read && (await shortened(read.root, read.lineEnd, nested))
  if (root === undefined) return undefined
  const written = writeSource({ root, lineEnd: read?.lineEnd ?? '\r\n' })
  return (await hasLongLine(written)) ? undefined : written
}

async function hasLongLine(bytes: Buffer): Promise<boolean> {
  let lines = 0
  for (let at = 0; at < bytes.length; ) {
    lines += 1
    if (lines % LINES_PER_CHECK === 0) await yieldIfHeld(TURN_MS)
    const end = bytes.indexOf('\n', at, 'latin1')
    const length = (end === -1 ? bytes.length : end) - at
    if (length - (bytes[at + length - 1] === CR ? 1 : 0) > MAX_LINE) return true
    at += length + 1
  }
  return false
}

async function shortened(part: MessagePart, lineEnd: string, nested: number): Promise<MessagePart | undefined> {
  const fields = part.fields.map((field) => folded(field, lineEnd))
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
  if (!(await hasLongLine(preamble)) && !(await hasLongLine(tail))) return edited
  // Nobody shows what precedes and follows the parts.
  const none = Buffer.alloc(0)
  return { ...edited, content: undefined, multipart: { ...multipart, children, preamble: none, tail: none } }
}

async function shortenedLeaf(part: MessagePart, lineEnd: string, nested: number): Promise<MessagePart | undefined> {
  const { content = Buffer.alloc(0), type, encoding } = part
  if (!(await hasLongLine(content))) return part
  const isEncoded = encoding === 'base64' || encoding === 'quoted-printable'
  if (!isEncoded && (type === 'message/rfc822' || type === 'message/global')) {
    const inner = await withShortLines(content, nested + 1)
    return inner && { ...part, content: inner }
  }
  if (!isEncoded && /^(message|multipart)\//.test(type)) return undefined
  const decoded = await decode(content, encoding)
  const isText = type.startsWith('text/') && encoding !== 'base64' && decoded.length <= MAX_QUOTED
  const isQuoted = isText && !BARE_CR.test(decoded.toString('latin1'))
  const field = newField('Content-Transfer-Encoding', isQuoted ? 'quoted-printable' : 'base64', lineEnd)
  const encoded = isQuoted ? await quotedPrintable(decoded) : await base64Lines(decoded)
  return { ...part, fields: replaceField(part.fields, field.name, field), content: encoded }
}

const CR = 0x0d
const LINES_PER_CHECK = 1000
/** In bytes. Encoding more as quoted-printable would hold the event loop. */
const MAX_QUOTED = 128 * 1024
/** A line end that quoted-printable cannot keep. */
const BARE_CR = /\r(?!\n)/

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
  const lines = field.bytes.toString('latin1').split('\n')
  if (lines.every(({ length }) => length <= MAX_LINE)) return field
  return { ...field, bytes: Buffer.from(lines.map((line) => foldedLine(line, lineEnd)).join('\n'), 'latin1') }
}

function foldedLine(given: string, lineEnd: string): string {
  const pieces: string[] = []
  let line = given
  while (line.length > MAX_LINE) {
    const at = foldAt(line)
    pieces.push(line.slice(0, at))
    const rest = line.slice(at)
    line = /^[ \t]/.test(rest) ? rest : ` ${rest}`
  }
  return [...pieces, line].join(lineEnd)
}

/** Before white space, else where a space changes nothing or little, else between two characters. */
function foldAt(line: string): number {
  const window = line.slice(0, MAX_LINE)
  const space = Math.max(window.lastIndexOf(' '), window.lastIndexOf('\t'))
  if (space > FIRST_FOLD) return space
  const mark = Math.max(window.lastIndexOf('>'), window.lastIndexOf(','), window.lastIndexOf(';'))
  if (mark > FIRST_FOLD) return mark + 1
  // Not within a character of UTF-8.
  const begun = /[\x80-\xbf]{1,3}$/.exec(line.slice(0, MAX_LINE + 1))?.[0].length ?? 0
  return MAX_LINE - begun
}

/** The name of the field may be in front, and a line needs more than white space. */
const FIRST_FOLD = 100
