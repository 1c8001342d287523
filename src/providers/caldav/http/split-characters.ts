const [LF, CR, SPACE, TAB] = [0x0a, 0x0d, 0x20, 0x09]
/** CR in XML. */
const REFERENCES = ['&#13;', '&#xD;', '&#xd;'].map((text) => Buffer.from(text))

/**
 * Joins the characters that a program has folded in two: it counted octets, as RFC 5545 asks, but not characters. A decoder would replace both
 * halves. Returns the same bytes where there is none.
 */
export function joinSplitCharacters(body: Uint8Array): Buffer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const pieces: Buffer[] = []
  let start = 0
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    // Only the second half of a character begins with such a byte.
    const isSplit = ((bytes[at + 2] ?? 0) & 0xc0) === 0x80 && (bytes[at + 1] === SPACE || bytes[at + 1] === TAB)
    if (!isSplit) continue
    const end = beforeLineEnd(bytes, at)
    if ((bytes[end - 1] ?? 0) < 0x80 || end < start) continue
    pieces.push(bytes.subarray(start, end))
    start = at + 2
  }
  return pieces.length === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(start)])
}

function beforeLineEnd(bytes: Buffer, lineFeed: number): number {
  if (bytes[lineFeed - 1] === CR) return lineFeed - 1
  const reference = REFERENCES.find((text) => bytes.subarray(lineFeed - text.length, lineFeed).equals(text))
  return lineFeed - (reference?.length ?? 0)
}
