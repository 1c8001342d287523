/** The bytes that decide: a longer text repeats itself. */
const MAX_BYTES = 16 * 1024
const ESC = 0x1b

/**
 * The charset of text that names none, or one that nobody knows, and that is not UTF-8. Recognises the multi-byte charsets of East Asia by
 * the shape of their bytes and by frequent characters, and Cyrillic by words without ASCII letters. Everything else is windows-1252, which
 * is right for western European languages.
 */
export function guessCharset(bytes: Buffer): string {
  const sample = bytes.subarray(0, MAX_BYTES)
  if (hasJapaneseEscape(sample)) return 'iso-2022-jp'
  const euc = eucPairs(sample)
  if (euc !== undefined) return euc
  const double = doubleBytes(sample)
  if (double !== undefined) return double
  return cyrillic(sample) ?? 'windows-1252'
}

function hasJapaneseEscape(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(ESC); at !== -1; at = bytes.indexOf(ESC, at + 1)) {
    if (bytes[at + 1] === 0x24 && (bytes[at + 2] === 0x42 || bytes[at + 2] === 0x40)) return true
  }
  return false
}

const MIN_PAIRS = 2

/** Charsets in which both bytes of a character are above 0xA0. Undefined if one high byte is alone. */
function eucPairs(bytes: Buffer): string | undefined {
  let pairs = 0
  let kana = 0
  let hangul = 0
  let common = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const lead = bytes[at] ?? 0
    if (lead < 0x80) continue
    const trail = bytes[at + 1]
    if (trail === undefined && at > 0 && pairs >= MIN_PAIRS) break
    if (lead < 0xa1 || lead === 0xff || trail === undefined || trail < 0xa1 || trail === 0xff) return undefined
    pairs += 1
    if (lead === 0xa4 || lead === 0xa5) kana += 1
    if (lead >= 0xb0 && lead <= 0xc8) hangul += 1
    if (lead >= 0xb0 && lead <= 0xd7) common += 1
    at += 1
  }
  // A Cyrillic word of an even length consists of such pairs as well.
  if (pairs < MIN_PAIRS || cyrillic(bytes) !== undefined) return undefined
  if (kana * 4 >= pairs) return 'euc-jp'
  if (hangul === pairs) return 'cp949'
  return common * 4 >= pairs * 3 ? 'gb18030' : undefined
}

/** Charsets whose second byte may be ASCII: Shift_JIS, Big5 and code pages 936 and 949. */
function doubleBytes(bytes: Buffer): string | undefined {
  const shiftJis = countPairs(bytes, isShiftJisPair)
  if (shiftJis !== undefined && shiftJis.frequent * 4 >= shiftJis.pairs) return 'shift_jis'
  const big5 = countPairs(bytes, isBig5Pair)
  if (big5 !== undefined && big5.frequent * 2 >= big5.pairs && big5.pairs >= MIN_PAIRS + 1) return 'big5'
  const hangul = countPairs(bytes, isUhcPair)
  if (hangul !== undefined && hangul.frequent * 2 >= hangul.pairs && hangul.pairs >= MIN_PAIRS + 1) return 'cp949'
  return undefined
}

/** `undefined` if the bytes are none of a character, `true` if they are those of a frequent one. */
type Pair = (lead: number, trail: number) => boolean | undefined

function countPairs(bytes: Buffer, pair: Pair): { pairs: number; frequent: number } | undefined {
  let pairs = 0
  let frequent = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const lead = bytes[at] ?? 0
    if (lead < 0x80) continue
    const trail = bytes[at + 1]
    if (trail === undefined) break
    const isFrequent = pair(lead, trail)
    if (isFrequent === undefined) return undefined
    pairs += 1
    if (isFrequent) frequent += 1
    at += 1
  }
  return pairs >= MIN_PAIRS ? { pairs, frequent } : undefined
}

/** Hiragana and katakana are frequent. */
function isShiftJisPair(lead: number, trail: number): boolean | undefined {
  const isLead = (lead >= 0x81 && lead <= 0x9f) || (lead >= 0xe0 && lead <= 0xef)
  if (!isLead || trail < 0x40 || trail === 0x7f || trail > 0xfc) return undefined
  return (lead === 0x82 && trail >= 0x9f && trail <= 0xf1) || (lead === 0x83 && trail <= 0x96)
}

/** The characters of the first level are frequent. */
function isBig5Pair(lead: number, trail: number): boolean | undefined {
  const isTrail = (trail >= 0x40 && trail <= 0x7e) || (trail >= 0xa1 && trail <= 0xfe)
  if (lead < 0xa1 || lead > 0xf9 || !isTrail) return undefined
  return lead >= 0xa4 && lead <= 0xc6
}

/** Hangul is frequent: that of KS X 1001, and the syllables that code page 949 adds. */
function isUhcPair(lead: number, trail: number): boolean | undefined {
  const isTrail =
    (trail >= 0x41 && trail <= 0x5a) || (trail >= 0x61 && trail <= 0x7a) || (trail >= 0x81 && trail <= 0xfe)
  if (lead < 0x81 || lead === 0xff || !isTrail) return undefined
  return lead <= 0xc8
}

const CYRILLIC_WORD = 3

const VOWELS_1251 = Buffer.from('e0e5e8eef3fbfdfeffb8', 'hex')
const VOWELS_KOI8 = Buffer.from('c1c5c9cfd5d9dcc0d1a3', 'hex')

/** Small letters are the majority, of windows-1251 from 0xE0 on and of KOI8-R below, and a quarter of them are vowels. */
function cyrillic(bytes: Buffer): string | undefined {
  const { words, mixed, letters } = highWords(bytes)
  if (words === 0 || mixed > words) return undefined
  const from = (low: number, high: number) => letters.filter((byte) => byte >= low && byte <= high).length
  const [small1251, smallKoi8] = [from(0xe0, 0xff), from(0xc0, 0xdf)]
  if ((small1251 + smallKoi8) * 10 < letters.length * 9) return undefined
  const isWindows = small1251 >= smallKoi8
  const vowels = letters.filter((byte) => (isWindows ? VOWELS_1251 : VOWELS_KOI8).includes(byte)).length
  if (vowels * 4 < letters.length) return undefined
  return isWindows ? 'windows-1251' : 'koi8-r'
}

/** Runs of at least three bytes above ASCII, words that mix them with ASCII letters, and all bytes of the runs. */
function highWords(bytes: Buffer): { words: number; mixed: number; letters: number[] } {
  let words = 0
  let mixed = 0
  const letters: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const start = at
    let ascii = 0
    while (at < bytes.length && isLetter(bytes[at] ?? 0)) {
      if ((bytes[at] ?? 0) < 0x80) ascii += 1
      at += 1
    }
    const high = at - start - ascii
    if (high > 0 && ascii > 0) mixed += 1
    else if (high >= CYRILLIC_WORD) {
      words += 1
      for (let index = start; index < at; index += 1) letters.push(bytes[index] ?? 0)
    }
    if (at === start) at += 1
  }
  return { words, mixed, letters }
}

function isLetter(byte: number): boolean {
  return byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
}
