export interface JsonLimits {
  /** Levels of nested lists and objects. Code that recurses over a parsed value relies on it. */
  depth: number
  /** Lists, objects, strings, numbers, booleans and nulls. Parsing takes up to 1 µs for each. */
  values: number
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * The limit that a JSON text exceeds; undefined when none. Call it before `JSON.parse`, which would hold the event loop for
 * seconds on a few megabytes of brackets. Takes linear time on any text, also on one that is not JSON.
 */
export function exceededJsonLimit(text: string, limits: JsonLimits): keyof JsonLimits | undefined {
  let depth = 0
  let values = 1
  /** The position of the last bracket while nothing but space followed it. */
  let openedAt = -1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      openedAt = -1
    } else if (code === COMMA) {
      values += 1
      openedAt = -1
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1
      openedAt = at
      if (depth > limits.depth) return 'depth'
      values += 1
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      const isEmpty = openedAt !== -1 && text.slice(openedAt + 1, at).trim() === ''
      if (isEmpty) values -= 1
      depth -= 1
      openedAt = -1
    }
    if (values > limits.values && openedAt === -1) return 'values'
  }
  return undefined
}

/** The position of the closing quote, or the end of the text. */
function endOfString(text: string, openedAt: number): number {
  for (let from = openedAt + 1; ; ) {
    const at = text.indexOf('"', from)
    if (at === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at
    from = at + 1
  }
}
