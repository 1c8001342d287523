const EQUALS = 0x3d

/** Undoes `=41` escapes, in place. An equals sign without two hexadecimal digits stays. Returns the shorter bytes. */
export function undoEscapes(bytes: Buffer): Buffer {
  let from = bytes.indexOf(EQUALS)
  if (from === -1) return bytes
  let to = from
  for (; from < bytes.length; from += 1) {
    const byte = bytes[from] ?? 0
    const high = byte === EQUALS ? hexDigit(bytes[from + 1]) : -1
    const low = high === -1 ? -1 : hexDigit(bytes[from + 2])
    if (low === -1) {
      bytes[to] = byte
    } else {
      bytes[to] = high * 16 + low
      from += 2
    }
    to += 1
  }
  return bytes.subarray(0, to)
}

/** The value of a digit in either case, or -1. */
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
