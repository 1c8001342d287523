export interface JsonLimits {
  /** Levels of nested lists and objects. Code that recurses over a parsed value relies on it. */
  depth: number
  /** Lists, objects, strings, numbers, booleans and nulls. Parsing takes up to 1 µs for each. */
  values: number
}

export const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
export const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT] = [0x5b, 0x5d, 0x7b]
const [CLOSE_OBJECT, SPACE] = [0x7d, 0x20]

/** Called with the character code and the position of each comma, bracket and enclosing quote, after it was counted. */
type OnToken = (code: number, at: number) => void

/** Counts the levels and values of a JSON text, which may arrive in chunks. Takes linear time on any text, also on one that is not JSON. */
export class JsonScanner {
  readonly #limits: JsonLimits
  #depth = 0
  #values = 1
  #isInString = false
  /** The text ended behind a backslash within a string. */
  #isEscaped = false
  /** Only space followed the last opening bracket. */
  #isEmpty = false

  constructor(limits: JsonLimits) {
    this.#limits = limits
  }

  get depth(): number {
    return this.#depth
  }

  get values(): number {
    return this.#values
  }

  get isInString(): boolean {
    return this.#isInString
  }

  /** Reads the next chunk. Returns the limit that was exceeded, undefined when none. */
  scan(text: string, onToken?: OnToken): keyof JsonLimits | undefined {
    for (let at = 0; at < text.length; at += 1) {
      let code = text.charCodeAt(at)
      if (this.#isInString || code === QUOTE) {
        if (!this.#isInString) {
          this.#isInString = true
          this.#isEmpty = false
          onToken?.(QUOTE, at)
          at += 1
        }
        at = this.#closingQuote(text, at)
        if (at === -1) break
        this.#isInString = false
        code = QUOTE
      } else if (code === COMMA) {
        this.#values += 1
        this.#isEmpty = false
      } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        this.#depth += 1
        if (this.#depth > this.#limits.depth) return 'depth'
        this.#values += 1
        this.#isEmpty = true
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        if (this.#isEmpty) this.#values -= 1
        this.#depth -= 1
        this.#isEmpty = false
      } else {
        if (code > SPACE) this.#isEmpty = false
        continue
      }
      if (this.#values > this.#limits.values && !this.#isEmpty) return 'values'
      onToken?.(code, at)
    }
    return undefined
  }

  /** The position of the quote that ends the string; -1 when this text does not contain it. */
  #closingQuote(text: string, start: number): number {
    if (start >= text.length) return -1
    let from = this.#isEscaped ? start + 1 : start
    for (;;) {
      const at = text.indexOf('"', from)
      const end = at === -1 ? text.length : at
      let backslashes = 0
      while (end - backslashes > from && text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1
      this.#isEscaped = backslashes % 2 === 1
      if (at === -1) return -1
      if (!this.#isEscaped) return at
      this.#isEscaped = false
      from = at + 1
    }
  }
}

/** The limit that a JSON text exceeds; undefined when none. Call it before `JSON.parse`, which would hold the event loop for seconds on a few megabytes of brackets. */
export function exceededJsonLimit(text: string, limits: JsonLimits): keyof JsonLimits | undefined {
  return new JsonScanner(limits).scan(text)
}
