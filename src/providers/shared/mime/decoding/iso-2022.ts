import iconv from 'iconv-lite'

/** A set of characters that an escape sequence selects, and how its bytes become those of a charset with a table. */
interface CharacterSet {
  charset: string
  /** Sets the high bit, and puts this byte before each character. */
  prefix?: number
  isSevenBit: boolean
  /** Bytes of one character. */
  width: 1 | 2
}

const ASCII: CharacterSet = { charset: 'windows-1252', isSevenBit: false, width: 1 }
const KANA: CharacterSet = { charset: 'eucjp', prefix: 0x8e, isSevenBit: true, width: 1 }
const JIS_0208: CharacterSet = { charset: 'eucjp', isSevenBit: true, width: 2 }
const JIS_0212: CharacterSet = { charset: 'eucjp', prefix: 0x8f, isSevenBit: true, width: 2 }
const KS_X_1001: CharacterSet = { charset: 'cp949', isSevenBit: true, width: 2 }
const GB_2312: CharacterSet = { charset: 'gb18030', isSevenBit: true, width: 2 }
const LATIN_1: CharacterSet = { charset: 'iso-8859-1', isSevenBit: true, width: 1 }
const GREEK: CharacterSet = { charset: 'iso-8859-7', isSevenBit: true, width: 1 }

/** Character sets by the bytes after ESC. They apply at once (G0), after SO (G1), or to one character after `ESC N` (G2). */
const DESIGNATIONS: Readonly<Record<string, { to: 'g0' | 'g1' | 'g2'; set: CharacterSet }>> = {
  '(B': { to: 'g0', set: ASCII },
  '(J': { to: 'g0', set: ASCII },
  '(H': { to: 'g0', set: ASCII },
  '(I': { to: 'g0', set: KANA },
  $A: { to: 'g0', set: GB_2312 },
  '$@': { to: 'g0', set: JIS_0208 },
  $B: { to: 'g0', set: JIS_0208 },
  '$(@': { to: 'g0', set: JIS_0208 },
  '$(A': { to: 'g0', set: GB_2312 },
  '$(B': { to: 'g0', set: JIS_0208 },
  '$(C': { to: 'g0', set: KS_X_1001 },
  '$(D': { to: 'g0', set: JIS_0212 },
  '$(O': { to: 'g0', set: JIS_0208 },
  '$(Q': { to: 'g0', set: JIS_0208 },
  '$)A': { to: 'g1', set: GB_2312 },
  '$)C': { to: 'g1', set: KS_X_1001 },
  ')I': { to: 'g1', set: KANA },
  '.A': { to: 'g2', set: LATIN_1 },
  '.F': { to: 'g2', set: GREEK },
}

const ESC = 0x1b
const SHIFT_OUT = 0x0e
const SHIFT_IN = 0x0f
const LINE_END = 0x0a
const MAX_SEQUENCE = 3

/**
 * Decodes ISO-2022-JP with its extensions (RFC 1468, 1554), ISO-2022-KR (RFC 1557) and ISO-2022-CN (RFC 1922, GB 2312 only) with the
 * tables of the EUC charsets. Text that begins without an escape sequence in Korean or Chinese has its usual designation.
 */
export function decodeIso2022(bytes: Buffer, name: string): string {
  const pieces: string[] = []
  const g1Default = name.includes('kr') ? KS_X_1001 : name.includes('cn') ? GB_2312 : KANA
  const sets = { g0: ASCII, g1: g1Default, g2: LATIN_1 }
  let isShifted = false
  let start = 0
  const flush = (end: number) => {
    if (end > start) pieces.push(decodeRun(bytes.subarray(start, end), isShifted ? sets.g1 : sets.g0))
  }
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === ESC) {
      flush(at)
      const length = readEscape(bytes, at + 1, sets, pieces)
      at += length
      start = at + 1
    } else if (byte === SHIFT_OUT || byte === SHIFT_IN) {
      flush(at)
      isShifted = byte === SHIFT_OUT
      start = at + 1
    } else if (byte === LINE_END) {
      // The standards end every mode with the line; text that forgot to would lose the next one.
      flush(at)
      isShifted = false
      sets.g0 = ASCII
      start = at
    }
  }
  flush(bytes.length)
  return pieces.join('')
}

/** Applies the sequence that follows ESC and returns its length. Unknown ones are left out. */
function readEscape(
  bytes: Buffer,
  at: number,
  sets: { g0: CharacterSet; g1: CharacterSet; g2: CharacterSet },
  pieces: string[],
): number {
  if (bytes[at] === 0x4e && bytes[at + 1] !== undefined) {
    pieces.push(decodeRun(bytes.subarray(at + 1, at + 2), sets.g2))
    return 2
  }
  for (let length = 2; length <= MAX_SEQUENCE; length += 1) {
    const designation = DESIGNATIONS[bytes.toString('latin1', at, at + length)]
    if (designation === undefined) continue
    sets[designation.to] = designation.set
    return length
  }
  return 0
}

/** Bytes of one set. Spaces and line ends within two-byte sets stay what they are. */
function decodeRun(bytes: Buffer, { charset, prefix, isSevenBit, width }: CharacterSet): string {
  if (!isSevenBit) return iconv.decode(bytes, charset)
  const out = Buffer.alloc(bytes.length * (prefix === undefined ? 1 : 2))
  let length = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if ((byte & 0x7f) <= 0x20) {
      out[length++] = byte
      continue
    }
    if (prefix !== undefined) out[length++] = prefix
    out[length++] = byte | 0x80
    if (width === 2) {
      at += 1
      out[length++] = (bytes[at] ?? 0x20) | 0x80
    }
  }
  return iconv.decode(out.subarray(0, length), charset)
}
