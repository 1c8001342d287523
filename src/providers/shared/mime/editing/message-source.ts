import { TURN_MS, yieldIfHeld } from '../../../../platform/concurrency/event-loop.ts'
import { allParts, describeFields, type PartDescription } from '../tree/part.ts'
import { largeRawTree, MAX_PARTS, type RawPart, rawFields } from '../tree/raw-tree.ts'

/** A header field with its bytes: its folds and its line end. */
export interface Field {
  /** In lower case. Empty for a line that is no field. */
  name: string
  bytes: Buffer
}

/** A message or a part of it, in the bytes of its source. Never changed in place: an edit makes another one that shares the rest. */
export interface MessagePart extends PartDescription {
  fields: readonly Field[]
  /** The empty line after the fields. Empty where the source ends before it. */
  gap: Buffer
  /** Encoded, as in the source. Undefined for a multipart whose parts were changed. */
  content: Buffer | undefined
  /** Undefined also for a multipart whose parts cannot be found. */
  multipart: Multipart | undefined
}

export interface Multipart {
  /** One character for each byte. */
  boundary: string
  /** The bytes before the first delimiter line. */
  preamble: Buffer
  children: readonly MessagePart[]
  /** The bytes after the last delimiter. */
  tail: Buffer
}

export interface MessageSource {
  root: MessagePart
  /** The end of each line. */
  lineEnd: '\r\n' | '\n'
}

const [LF, CR, SPACE, TAB] = [0x0a, 0x0d, 0x20, 0x09]
/** Limits the fields of all parts together. */
const MAX_FIELDS = 50_000
const LINES_PER_PAUSE = 500

/**
 * Reads a message with pauses for other work. Undefined for one with more parts or fields than messages have. Every byte of the source
 * is in a field, gap, content, preamble or tail, except for delimiter lines.
 */
export async function readSource(source: Buffer): Promise<MessageSource | undefined> {
  const raw = await largeRawTree(source)
  if (allParts(raw).length >= MAX_PARTS) return undefined
  const root = await readPart({ source, fields: 0 }, raw)
  return root && { root, lineEnd: detectLineEnd(source) }
}

interface Reading {
  source: Buffer
  /** The number of header fields that were read. */
  fields: number
}

async function readPart(reading: Reading, raw: RawPart): Promise<MessagePart | undefined> {
  const { source } = reading
  const head = await readHead(reading, raw)
  if (head === undefined) return undefined
  const own = { ...head, ...describeFields(rawFields(source, raw), raw.parentType) }
  const content = source.subarray(raw.bodyStart, raw.bodyEnd)
  if (raw.delimiters === undefined) return { ...own, content, multipart: undefined }
  const { boundary, first, lastEnd, isClosed } = raw.delimiters
  // A source that ends with a delimiter was cut off: no part follows.
  const isCut = raw.children.at(-1)?.start === source.length
  const children: MessagePart[] = []
  for (const rawChild of isCut ? raw.children.slice(0, -1) : raw.children) {
    const child = await readPart(reading, rawChild)
    if (child === undefined) return undefined
    children.push(child)
  }
  const tail = source.subarray(isClosed || isCut ? lastEnd : raw.bodyEnd, raw.bodyEnd)
  const preamble = source.subarray(raw.bodyStart, first)
  return { ...own, content, multipart: children.length === 0 ? undefined : { boundary, preamble, children, tail } }
}

type Head = Pick<MessagePart, 'fields' | 'gap'>

/** Header fields up to the empty line, or to the content where a program has left the empty line out. */
async function readHead(reading: Reading, { start, bodyStart }: RawPart): Promise<Head | undefined> {
  const { source } = reading
  const fields: Field[] = []
  let fieldStart = start
  const endField = (end: number) => {
    if (end > fieldStart)
      fields.push({ name: readName(source, fieldStart, end), bytes: source.subarray(fieldStart, end) })
    fieldStart = end
  }
  let lines = 0
  for (let at = start; at < bodyStart; ) {
    if (source[at] === LF || (source[at] === CR && source[at + 1] === LF)) {
      endField(at)
      return { fields, gap: source.subarray(at, bodyStart) }
    }
    if (source[at] !== SPACE && source[at] !== TAB) {
      endField(at)
      reading.fields += 1
      if (reading.fields > MAX_FIELDS) return undefined
    }
    const lineEnd = source.indexOf(LF, at)
    at = lineEnd === -1 ? bodyStart : lineEnd + 1
    lines += 1
    if (lines % LINES_PER_PAUSE === 0) await yieldIfHeld(TURN_MS)
  }
  endField(bodyStart)
  return { fields, gap: source.subarray(bodyStart, bodyStart) }
}

const MAX_NAME = 200

function readName(source: Buffer, start: number, end: number): string {
  const text = source.toString('latin1', start, Math.min(end, start + MAX_NAME))
  return /^([\x21-\x39\x3b-\x7e]+)[ \t]*:/.exec(text)?.[1]?.toLowerCase() ?? ''
}

function detectLineEnd(source: Buffer): '\r\n' | '\n' {
  const first = source.indexOf(LF)
  return first > 0 && source[first - 1] !== CR ? '\n' : '\r\n'
}
