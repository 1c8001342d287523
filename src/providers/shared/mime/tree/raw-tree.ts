import { TURN_MS, yieldIfHeld } from '../../../../platform/concurrency/event-loop.ts'
import { transferDecoder } from '../decoding/transfer-decoding.ts'
import { type Header, headerValue, parseHeaders } from '../headers/headers.ts'
import { readParameters } from '../headers/parameters.ts'
import { dashedLines } from './dashed-lines.ts'
import { defaultType, describePart, knownType, type Part } from './part.ts'

/** A message or a part of it as positions in the message's bytes, which may be only its beginning. */
export interface RawPart {
  /** As `Part` has it. */
  id: string
  /** The type of the multipart that contains it; empty for the message itself. */
  parentType: string
  type: string
  /** Where its header fields begin. */
  start: number
  /** Where its content begins, and ends, without the line end before the next delimiter. */
  bodyStart: number
  bodyEnd: number
  /** False when the bytes end within it, so that more may follow. */
  isComplete: boolean
  /** Undefined for a part without parts. */
  delimiters: Delimiters | undefined
  children: RawPart[]
}

/** The lines between the parts of a multipart. */
interface Delimiters {
  /** One character for each byte. */
  boundary: string
  /** Where the first one begins. */
  first: number
  /** Behind the last one; white space and its line end may follow. */
  lastEnd: number
  /** Whether the last one says that no part follows. */
  isClosed: boolean
}

const [LF, CR, DASH] = [0x0a, 0x0d, 0x2d]
/** RFC 2046 permits 70. */
export const MAX_BOUNDARY = 200
/** White space behind a delimiter, and its two dashes. */
const MAX_PADDING = 100
const MAX_DEPTH = 100
/** Further parts are left out. */
export const MAX_PARTS = 2000
/** A list of 10,000 recipients has 600 kB. */
const MAX_HEADER_BYTES = 1024 * 1024
const LINES_PER_PAUSE = 2000

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

/** A delimiter line of an open multipart. */
interface Delimiter {
  /** The level of its multipart: 0 is the outermost one. */
  level: number
  isLast: boolean
  lineStart: number
  textEnd: number
  /** Where the next line begins. */
  next: number
}

class Scan {
  readonly #source: Buffer
  #root: RawPart | undefined
  /** From the outermost to the innermost. */
  readonly #open: OpenMultipart[] = []
  /** Levels by boundary. Broken programs use one boundary for two. */
  readonly #levels = new Map<string, number[]>()
  /** The part whose end the next delimiter is: one without parts, or a multipart behind its last delimiter. */
  #ending: RawPart | undefined
  #parts = 0
  #at = 0

  constructor(source: Buffer) {
    this.#source = source
  }

  /** Yields where other work may have its turn. */
  *steps(): Generator<void> {
    this.#root = yield* this.#begin(0, '', '')
    while (this.#open.length > 0 && this.#parts < MAX_PARTS) {
      const delimiter = yield* this.#nextDelimiter()
      if (delimiter === undefined) return
      this.#at = delimiter.next
      yield* this.#pass(delimiter)
      yield
    }
  }

  finish(isWhole: boolean): RawPart {
    const root = this.#root
    if (root === undefined) throw new Error('bug: a tree was read before its scan')
    const end = this.#parts < MAX_PARTS ? this.#source.length : this.#at
    for (const { part } of this.#open) this.#end(part, end, isWhole)
    if (this.#ending !== undefined) this.#end(this.#ending, end, isWhole)
    return root.id === '' && root.children.length === 0 ? { ...root, id: '1' } : root
  }

  #end(part: RawPart, at: number, isComplete: boolean): void {
    part.bodyEnd = Math.max(part.bodyStart, at)
    part.isComplete = isComplete
    // Without a delimiter, the text after the header is all there is to show.
    if (isComplete && part.children.length === 0 && part.type.startsWith('multipart/')) part.type = 'text/plain'
  }

  /** Begins a part at its header. */
  *#begin(start: number, id: string, parentType: string): Generator<void, RawPart> {
    const bodyStart = yield* this.#headerEnd(start)
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
      delimiters: undefined,
      children: [],
    }
    this.#parts += 1
    this.#at = bodyStart
    this.#ending = isMultipart ? undefined : part
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
  *#pass({ level, isLast, lineStart, textEnd, next }: Delimiter): Generator<void> {
    const end = this.#withoutLineEnd(lineStart)
    if (this.#ending !== undefined) this.#end(this.#ending, end, true)
    this.#ending = undefined
    while (this.#open.length > level + 1) {
      const inner = this.#pop()
      if (inner !== undefined) this.#end(inner.part, end, true)
    }
    const multipart = this.#open[level]
    if (multipart === undefined) return
    const { part, boundary } = multipart
    part.delimiters = {
      boundary,
      first: part.delimiters?.first ?? lineStart,
      lastEnd: textEnd,
      isClosed: isLast,
    }
    if (isLast) {
      this.#pop()
      this.#ending = part
      return
    }
    const number = part.children.length + 1
    const child = yield* this.#begin(next, part.id === '' ? `${number}` : `${part.id}.${number}`, part.type)
    part.children.push(child)
  }

  *#nextDelimiter(): Generator<void, Delimiter | undefined> {
    for (const lineStart of dashedLines(this.#source, this.#at)) {
      const delimiter = lineStart === undefined ? undefined : this.#delimiterAt(lineStart)
      if (delimiter !== undefined) return delimiter
      if (lineStart === undefined) yield
    }
    return undefined
  }

  /** The delimiter at a line, if it is one. */
  #delimiterAt(lineStart: number): Delimiter | undefined {
    const window = this.#source.subarray(lineStart, lineStart + MAX_BOUNDARY + MAX_PADDING)
    const lineEnd = window.indexOf(LF)
    if (lineEnd === -1 && lineStart + window.length < this.#source.length) return undefined
    const line = window.toString('latin1', 2, lineEnd === -1 ? window.length : lineEnd).trimEnd()
    const place = {
      lineStart,
      textEnd: lineStart + 2 + line.length,
      next: lineEnd === -1 ? this.#source.length : lineStart + lineEnd + 1,
    }
    const level = this.#levels.get(line)?.at(-1)
    if (level !== undefined) return { ...place, level, isLast: false }
    const last = line.endsWith('--') ? this.#levels.get(line.slice(0, -2))?.at(-1) : undefined
    return last === undefined ? undefined : { ...place, level: last, isLast: true }
  }

  /** Where the content begins: behind the empty line, or at a delimiter before it. */
  *#headerEnd(start: number): Generator<void, number> {
    const source = this.#source
    let lines = 0
    for (let at = start; at < source.length; ) {
      if (source[at] === LF) return at + 1
      if (source[at] === CR && source[at + 1] === LF) return at + 2
      if (source[at] === DASH && source[at + 1] === DASH && this.#delimiterAt(at) !== undefined) return at
      const next = source.indexOf(LF, at)
      if (next === -1) break
      at = next + 1
      lines += 1
      if (lines % LINES_PER_PAUSE === 0) yield
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

/** The content of a part, its transfer encoding undone. */
export function decodedContent(content: Buffer, encoding: string): Buffer {
  const decoder = transferDecoder(encoding)
  const bytes = decoder.write(content)
  const rest = decoder.end()
  return rest.length === 0 ? bytes : Buffer.concat([bytes, rest])
}

const MAX_COUNTED = 64 * 1024

/** Size of the decoded content in bytes. Undefined for a large one, of which it is estimated. */
export function exactSize(content: Buffer, encoding: string): number | undefined {
  return content.length > MAX_COUNTED ? undefined : decodedContent(content, encoding).length
}
