/** A line that divides the parts of an open multipart. */
export interface DelimiterLine {
  start: number
  /** Behind the delimiter itself; white space may follow. */
  delimiterEnd: number
  /** Where the next line begins. */
  next: number
  /** Of its multipart: 0 is the outermost one. */
  level: number
  isLast: boolean
}

const [LF, CR, DASH] = [0x0a, 0x0d, 0x2d]
/** RFC 2046 permits 70. */
export const MAX_BOUNDARY = 200
const MAX_PADDING = 100
/** How much one call of `indexOf` searches: a pause follows. */
const WINDOW = 1024 * 1024
const PAUSE_EVERY = 500

/** Finds the delimiter lines of a message, of every multipart that is open at the position. */
export class DelimiterScan {
  /** The last delimiter found. Undefined at the end of the source. */
  line: DelimiterLine | undefined
  readonly #source: Buffer
  readonly #boundaries: string[] = []

  constructor(source: Buffer) {
    this.#source = source
  }

  get depth(): number {
    return this.#boundaries.length
  }

  /** Returns the level of the multipart. */
  open(boundary: string): number {
    return this.#boundaries.push(boundary) - 1
  }

  /** Closes the multipart at this level, and those within it. */
  close(level: number): void {
    this.#boundaries.length = level
  }

  /** Finds the next delimiter from a position on, which begins a line. Yields between steps. */
  *advance(from: number): Generator<void, void> {
    this.line = undefined
    if (this.#boundaries.length === 0) return
    for (const start of dashedLines(this.#source, from)) {
      if (start === undefined) yield
      else this.line = this.delimiterAt(start)
      if (this.line !== undefined) return
    }
  }

  /** The delimiter at the line that begins here, if it is one. */
  delimiterAt(start: number): DelimiterLine | undefined {
    const source = this.#source
    if (source[start] !== DASH || source[start + 1] !== DASH) return undefined
    const window = source.subarray(start, start + MAX_BOUNDARY + MAX_PADDING)
    const lineEnd = window.indexOf(LF)
    if (lineEnd === -1 && window.length === MAX_BOUNDARY + MAX_PADDING) return undefined
    const text = window.toString('latin1', 2, lineEnd === -1 ? window.length : lineEnd).trimEnd()
    const next = lineEnd === -1 ? source.length : start + lineEnd + 1
    for (let level = this.#boundaries.length - 1; level >= 0; level -= 1) {
      const boundary = this.#boundaries[level] ?? ''
      if (!text.startsWith(boundary)) continue
      const rest = text.slice(boundary.length)
      const delimiterEnd = start + 2 + text.length
      // A source that ends with a delimiter was cut off. No part follows.
      if (rest === '') return { start, delimiterEnd, next, level, isLast: next === source.length }
      if (rest === '--') return { start, delimiterEnd, next, level, isLast: true }
    }
    return undefined
  }

  /** Where the content before this line ends: the line end before a delimiter is a part of it. */
  endBefore(lineStart: number): number {
    if (this.#source[lineStart - 1] !== LF) return lineStart
    return this.#source[lineStart - 2] === CR ? lineStart - 2 : lineStart - 1
  }
}

/** Where the lines that begin with two dashes begin, from a position on. Undefined for a pause between steps. */
export function* dashedLines(source: Buffer, from: number): Generator<number | undefined> {
  if ((from === 0 || source[from - 1] === LF) && source[from] === DASH && source[from + 1] === DASH) yield from
  let found = 0
  for (let at = from; at < source.length; ) {
    // Two bytes more: the line may begin at the end of the window.
    const next = source.subarray(at, at + WINDOW + 2).indexOf('\n--', 0, 'latin1')
    if (next === -1) {
      at += WINDOW
      yield undefined
      continue
    }
    yield at + next + 1
    at += next + 3
    found += 1
    if (found % PAUSE_EVERY === 0) yield undefined
  }
}
