/**
 * Splits texts into the words that both databases index, so that they find the same messages. Their own tokenisers differ, and
 * neither finds 会議 in 東京都で会議. Words are folded: case, accents, ligatures and width do not matter.
 *
 * Scripts without spaces become groups of three characters, one for each character: a query finds a word anywhere in a row of them, and one
 * or two characters are the beginning of a group. An address is a word of its own beside its parts, so that a search for an address finds
 * only that one.
 */

/** Increase it with every change of the words: the index is then built anew. */
export const TOKENISER_VERSION = 2

interface QueryWord {
  word: string
  /** Also finds longer words that begin with it. */
  isPrefix: boolean
}

/** In characters. Longer words are equal when they begin alike. */
const MAX_WORD = 100

/** Every word by which a search can find this text. */
export function indexedWords(text: string): Set<string> {
  const folded = fold(text)
  const words = new Set<string>()
  for (const { start, end } of addresses(folded)) words.add(shortened(folded.slice(start, end)))
  for (const [run] of folded.matchAll(RUN)) {
    const parts = run.split(APOSTROPHE)
    for (const part of parts) for (const word of splitWords(part)) words.add(word)
    // O'Brien is found as OBrien, too.
    if (parts.length > 1) words.add(shortened(parts.join('')))
  }
  return words
}

/** The words that a message must contain, all of them. The last one may continue in the message. */
export function queryWords(query: string): QueryWord[] {
  const folded = fold(query)
  const words: QueryWord[] = []
  let position = 0
  const addUntil = (end: number) => {
    for (const [run] of folded.slice(position, end).matchAll(RUN)) {
      for (const part of run.split(APOSTROPHE)) words.push(...splitQueryWords(part))
    }
  }
  for (const { start, end } of addresses(folded)) {
    addUntil(start)
    words.push({ word: shortened(folded.slice(start, end)), isPrefix: false })
    position = end
  }
  addUntil(folded.length)
  const last = words.at(-1)
  if (last !== undefined && !IS_UNSPACED.test(last.word)) last.isPrefix = true
  return words
}

/** The words of a query with their accents, rows of characters as they are. */
export function plainWords(query: string): string[] {
  const text = query.normalize('NFKC').toLowerCase()
  const words: string[] = []
  let position = 0
  const addUntil = (end: number) => {
    for (const [run] of text.slice(position, end).matchAll(RUN)) {
      words.push(...run.split(APOSTROPHE).filter((part) => LETTER_OR_DIGIT.test(part)))
    }
  }
  for (const { start, end } of addresses(text)) {
    addUntil(start)
    words.push(text.slice(start, end))
    position = end
  }
  addUntil(text.length)
  return words.map(shortened)
}

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u
const ASCII = /^[\0-\x7f]*$/
/** Accents and vowel points, but not the vowel signs of Thai or Hindi, nor the voicing marks of Japanese. */
const MARKS = new RegExp(
  `[${[
    String.raw`\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f`,
    // Cyrillic, Hebrew, Arabic with the lengthening stroke.
    String.raw`\u0483-\u0489`,
    String.raw`\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7`,
    String.raw`\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed`,
    // Variants of emoji.
    String.raw`\ufe00-\ufe0f`,
  ].join('')}]`,
  'g',
)
/** Characters inside words that nobody sees or types, and the skin tones of emoji. */
const INVISIBLE = /\u00ad|\u200c|\u200d|\u2060|\ufeff|[\u{1f3fb}-\u{1f3ff}]/gu
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŧ: 't',
  þ: 'th',
  ŋ: 'n',
  ς: 'σ',
}
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g')
const ARABIC_DIGIT = /[\u0660-\u0669\u06f0-\u06f9]/g

function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(MARKS, '')
    .replace(INVISIBLE, '')
    .replace(LETTER, (letter) => LETTERS[letter] ?? letter)
    .replace(ARABIC_DIGIT, (digit) => String(digit.charCodeAt(0) & 0xf))
    .normalize('NFC')
}

/** Letters and digits, joined by apostrophes; or one emoji. */
const RUN =
  /[\p{L}\p{N}\p{M}]+(?:['\u2019\u02bc][\p{L}\p{N}\p{M}]+)*|\p{Extended_Pictographic}|\p{Regional_Indicator}/gu
const APOSTROPHE = /['\u2019\u02bc]/
/** Scripts that are written without spaces, and Korean, which appends particles to its words. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\u30fc]+/gu
const IS_UNSPACED = new RegExp(`^${UNSPACED.source}$`, 'u')

function* pieces(part: string): Generator<{ text: string; isUnspaced: boolean }> {
  let position = 0
  for (const { 0: text, index } of part.matchAll(UNSPACED)) {
    if (index > position) yield { text: part.slice(position, index), isUnspaced: false }
    yield { text, isUnspaced: true }
    position = index + text.length
  }
  if (position < part.length) yield { text: part.slice(position), isUnspaced: false }
}

function* splitWords(part: string): Generator<string> {
  for (const { text, isUnspaced } of pieces(part)) {
    if (!isUnspaced) yield shortened(text)
    else yield* groups([...text])
  }
}

function* splitQueryWords(part: string): Generator<QueryWord> {
  for (const { text, isUnspaced } of pieces(part)) {
    const characters = isUnspaced ? [...text] : []
    if (!isUnspaced) yield { word: shortened(text), isPrefix: false }
    else if (characters.length < GROUP) yield { word: text, isPrefix: true }
    else for (const word of groups(characters).slice(0, 1 - GROUP)) yield { word, isPrefix: false }
  }
}

const GROUP = 3

/** The group that begins at each character. The last ones are shorter. */
function groups(characters: readonly string[]): string[] {
  return characters.map((_, index) => characters.slice(index, index + GROUP).join(''))
}

/** Splitting to characters costs more than the rest of the tokeniser, so only long words are. */
function shortened(word: string): string {
  return word.length <= MAX_WORD ? word : [...word.slice(0, 2 * MAX_WORD)].slice(0, MAX_WORD).join('')
}

const ADDRESS = /[\p{L}\p{N}\p{M}._%+-]/u
const MAX_ADDRESS = 254

/** The positions of each `local@domain`. Searches from each @, because an expression would take quadratic time on long words. */
function* addresses(text: string): Generator<{ start: number; end: number }> {
  let free = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let start = at
    while (start > free && at - start < MAX_ADDRESS && ADDRESS.test(text[start - 1] ?? '')) start -= 1
    let end = at + 1
    while (end < text.length && end - at < MAX_ADDRESS && ADDRESS.test(text[end] ?? '')) end += 1
    // The full stop of a sentence is not part of the address.
    while (/[._%+-]/.test(text[end - 1] ?? '')) end -= 1
    if (start === at || end <= at + 1) continue
    yield { start, end }
    free = end
  }
}
