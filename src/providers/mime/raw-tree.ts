import { TURN_MS, yieldIfHeld } from '../../lib/event-loop.ts'
import { type Header, headerValue, parseHeaders } from './headers.ts'
import { readParameters } from './parameters.ts'
import { defaultType, describePart, knownType, type Part } from './part.ts'
import { transferDecoder } from './transfer-decoding.ts'

/** A message or a part of it as positions in the message's bytes, which may be only its beginning. */
export interface RawPart {
  /** As `Part` has it. */
  id: string
  /** Of the multipart that contains it; empty for the message itself. */
  parentType: string
  type: string
  /** Where its header fields begin. */
  start: number
  /** Where its content begins, and ends, without the line end before the next delimiter. */
  bodyStart: number
  bodyEnd: number
  /** False when the bytes end within it, so that more may follow. */
  isComplete: boolean
  children: RawPart[]
}

const [LF, CR, DASH] = [0x0a, 0x0d, 0x2d]
/** RFC 2046 permits 70. */
const MAX_BOUNDARY = 200
const MAX_DEPTH = 100
/** What follows the last of them is left out. */
const MAX_PARTS = 2000
const MAX_HEADER_BYTES = 64 * 1024
const PAUSE_EVERY = 2000

/** Finds the parts of a message in its bytes. Linear, in one pass; never throws. `isWhole`: the bytes do not end before the message does. */
export function rawTree(source: Buffer, { isWhole = true } = {}): RawPart {
  const scan = new Scan(source)
  for (const _pause of scan.steps());
  return scan.finish(isWhole)
}

/** The same for a message of megabytes, with pauses for other work. */
export async function largeRawTree(source: Buffer, { isWhole = true } = {}): Promise<RawPart> {
  const scan = new Scan(source)
  for (const _pause of scan.steps()) await yieldIfHeld(TURN_MS)
  return scan.finish(isWhole)
}

interface OpenMultipart {
  part: RawPart
  boundary: string
}

interface Delimiter {
  level: number
  isLast: boolean
  lineStart: number
  next: number
}

class Scan {
  readonly #source: Buffer
  readonly #root: RawPart
  /** From the outermost to the innermost. */
  readonly #open: OpenMultipart[] = []
  /** Levels by boundary. Broken programs use one boundary for two. */
  readonly #levels = new Map<string, number[]>()
  /** The part without parts that the position is in. */
  #leaf: RawPart | undefined
  #parts = 0
  #at = 0

  constructor(source: Buffer) {
    this.#source = source
    this.#root = this.#begin(0, '', '')
  }

  *steps(): Generator<void> {
    let lines = 0
    while (this.#open.length > 0 && this.#parts < MAX_PARTS) {
      const lineStart = this.#nextDashes()
      if (lineStart === undefined) return
      const delimiter = this.#delimiterAt(lineStart)
      this.#at = delimiter?.next ?? lineStart + 2
      if (delimiter !== undefined) this.#pass(delimiter)
      lines += 1
      if (lines % PAUSE_EVERY === 0) yield
    }
  }

  finish(isWhole: boolean): RawPart {
    const end = this.#parts < MAX_PARTS ? this.#source.length : this.#at
    for (const { part } of this.#open) this.#end(part, end, isWhole)
    if (this.#root.children.length === 0) this.#end(this.#root, end, isWhole)
    if (this.#leaf !== undefined) this.#end(this.#leaf, end, isWhole)
    const root = this.#root
    return root.id === '' && root.children.length === 0 ? { ...root, id: '1' } : root
  }

  #end(part: RawPart, at: number, isComplete: boolean): void {
    part.bodyEnd = Math.max(part.bodyStart, at)
    part.isComplete = isComplete
    // Without a delimiter, the text after the header is all there is to show.
    if (isComplete && part.children.length === 0 && part.type.startsWith('multipart/')) part.type = 'text/plain'
  }

  /** Begins a part at its header. */
  #begin(start: number, id: string, parentType: string): RawPart {
    const bodyStart = this.#headerEnd(start)
    const head = this.#source.subarray(start, Math.min(bodyStart, start + MAX_HEADER_BYTES))
    const contentType = headerValue(parseHeaders(head), 'content-type') ?? ''
    const { value, parameters } = readParameters(contentType)
    const type = value === '' ? defaultType(parentType) : knownType(value, parameters.get('name'))
    const boundary = parameters.get('boundary')?.trimEnd() ?? ''
    const isMultipart =
      type.startsWith('multipart/') &&
      boundary !== '' &&
      boundary.length <= MAX_BOUNDARY &&
      this.#open.length < MAX_DEPTH
    const part: RawPart = {
      id: id === '' && !isMultipart ? '1' : id,
      parentType,
      type,
      start,
      bodyStart,
      bodyEnd: bodyStart,
      isComplete: true,
      children: [],
    }
    this.#parts += 1
    this.#at = bodyStart
    this.#leaf = isMultipart ? undefined : part
    if (isMultipart) this.#push(part, Buffer.from(boundary).toString('latin1'))
    return part
  }

  #push(part: RawPart, boundary: string): void {
    const level = this.#open.push({ part, boundary }) - 1
    const levels = this.#levels.get(boundary)
    if (levels === undefined) this.#levels.set(boundary, [level])
    else levels.push(level)
  }

  #pop(): OpenMultipart | undefined {
    const multipart = this.#open.pop()
    const levels = this.#levels.get(multipart?.boundary ?? '')
    levels?.pop()
    if (multipart !== undefined && levels?.length === 0) this.#levels.delete(multipart.boundary)
    return multipart
  }

  /** Closes what the delimiter ends, and begins the next part. */
  #pass({ level, isLast, lineStart, next }: Delimiter): void {
    const end = this.#withoutLineEnd(lineStart)
    if (this.#leaf !== undefined) this.#end(this.#leaf, end, true)
    this.#leaf = undefined
    while (this.#open.length > level + 1) {
      const inner = this.#pop()
      if (inner !== undefined) this.#end(inner.part, end, true)
    }
    const multipart = this.#open[level]
    if (multipart === undefined) return
    if (isLast) {
      this.#pop()
      this.#end(multipart.part, next, true)
      return
    }
    const { part } = multipart
    const number = part.children.length + 1
    part.children.push(this.#begin(next, part.id === '' ? `${number}` : `${part.id}.${number}`, part.type))
  }

  /** The next line that begins with two dashes. */
  #nextDashes(): number | undefined {
    const source = this.#source
    for (let at = this.#at; ; ) {
      const found = source.indexOf('--', at, 'latin1')
      if (found === -1) return undefined
      if (found === 0 || source[found - 1] === LF) return found
      at = found + 1
    }
  }

  /** The delimiter of an open multipart at a line, if it is one. */
  #delimiterAt(lineStart: number): Delimiter | undefined {
    const source = this.#source
    const lineEnd = source.indexOf(LF, lineStart)
    const end = lineEnd === -1 ? source.length : lineEnd
    if (end - lineStart > MAX_BOUNDARY + 100) return undefined
    const line = source.toString('latin1', lineStart + 2, end).trimEnd()
    const next = lineEnd === -1 ? source.length : lineEnd + 1
    const level = this.#levels.get(line)?.at(-1)
    if (level !== undefined) return { level, isLast: false, lineStart, next }
    const last = line.endsWith('--') ? this.#levels.get(line.slice(0, -2))?.at(-1) : undefined
    return last === undefined ? undefined : { level: last, isLast: true, lineStart, next }
  }

  /** Where the content begins: behind the empty line, or at a delimiter before it. */
  #headerEnd(start: number): number {
    const source = this.#source
    for (let at = start; at < source.length; ) {
      if (source[at] === LF) return at + 1
      if (source[at] === CR && source[at + 1] === LF) return at + 2
      if (source[at] === DASH && source[at + 1] === DASH && this.#delimiterAt(at) !== undefined) return at
      const next = source.indexOf(LF, at)
      if (next === -1) break
      at = next + 1
    }
    return source.length
  }

  /** The line end before a delimiter is a part of it. */
  #withoutLineEnd(lineStart: number): number {
    if (this.#source[lineStart - 1] !== LF) return lineStart
    return this.#source[lineStart - 2] === CR ? lineStart - 2 : lineStart - 1
  }
}

/** The parts of a message as `Part`. `charset`: of header fields outside ASCII, unless a part declares one. */
export function describeRawPart(source: Buffer, raw: RawPart, charset?: string): Part {
  const part = describePart(rawFields(source, raw, charset), {
    id: raw.id,
    parentType: raw.parentType,
    encodedBytes: raw.bodyEnd - raw.bodyStart,
    sizeBytes: undefined,
    children: raw.children.map((child) => describeRawPart(source, child, charset)),
  })
  return part.type.startsWith('multipart/') ? { ...part, type: raw.type } : part
}

export function rawFields(source: Buffer, { start, bodyStart }: RawPart, charset?: string): Header[] {
  return parseHeaders(source.subarray(start, Math.min(bodyStart, start + MAX_HEADER_BYTES)), charset)
}

/** A part and all parts within it, in order. */
export function allRawParts(root: RawPart): RawPart[] {
  const parts: RawPart[] = []
  const waiting = [root]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    parts.push(part)
    waiting.push(...part.children.toReversed())
  }
  return parts
}

/** The content of a part, its transfer encoding undone. */
export function decodedContent(content: Buffer, encoding: string): Buffer {
  const decoder = transferDecoder(encoding)
  return Buffer.concat([decoder.write(content), decoder.end()])
}
