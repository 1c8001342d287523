import iconv from 'iconv-lite'

const TILDE = 0x7e

/**
 * HZ (RFC 1843): `~{` begins and `~}` ends pairs of seven-bit bytes of GB 2312, of which a tilde may be the second; elsewhere `~~` is a
 * tilde, and one at the end of a line joins it with the next.
 */
export function decodeHz(bytes: Buffer): string {
  const out = Buffer.alloc(bytes.length)
  let length = 0
  let isDouble = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    const next = bytes[at + 1]
    if (isDouble && byte === TILDE && next === CLOSE) {
      isDouble = false
      at += 1
    } else if (isDouble && isHzByte(byte) && isHzByte(next)) {
      out[length++] = byte | 0x80
      out[length++] = (next ?? 0) | 0x80
      at += 1
    } else if (!isDouble && byte === TILDE && next !== undefined && '{~\n\r'.includes(String.fromCharCode(next))) {
      if (next === OPEN) isDouble = true
      if (next === TILDE) out[length++] = TILDE
      at += 1
    } else {
      // A line ends the mode.
      if (byte === LF) isDouble = false
      out[length++] = byte
    }
  }
  return iconv.decode(out.subarray(0, length), 'gb18030')
}

const [LF, OPEN, CLOSE] = [0x0a, 0x7b, 0x7d]

function isHzByte(byte = 0): boolean {
  return byte > 0x20 && byte < 0x7f
}
