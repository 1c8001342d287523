import { LRUCache } from 'lru-cache'
import { cleanText, detached } from '../../../../platform/formats/text.ts'
import { decode } from '../decoding/charset.ts'
import { withoutComments } from './comments.ts'
import { decodeWords } from './encoded-words.ts'

/** The value of Content-Type or Content-Disposition, and its parameters. */
interface ParameterField {
  /** In lower case. */
  value: string
  /** By the name in lower case; encoded words and RFC 2231 undone. */
  parameters: ReadonlyMap<string, string>
}

const MAX_FIELD = 8192
const MAX_PARAMETERS = 100

/**
 * Reads a field with parameters (RFC 2045, RFC 2231). As forgiving as mail programs: values with spaces and without quotes, encoded words
 * in quotes, percent escapes without a charset. The first of two parameters of one name counts.
 */
export function readParameters(field: string): ParameterField {
  if (field.length > SHORT_FIELD) return parsed(field)
  const cached = shortFields.get(field)
  if (cached !== undefined) return cached
  const own = detached(field)
  const read = parsed(own)
  shortFields.set(own, read)
  return read
}

/** Most parts have one of a few types. */
const shortFields = new LRUCache<string, ParameterField>({ max: 500 })
const SHORT_FIELD = 100

function parsed(field: string): ParameterField {
  const [value = '', ...pieces] = splitAtSemicolons(cleanField(field))
  const plain = new Map<string, string>()
  const sections = new Map<string, Section[]>()
  for (const piece of pieces.slice(0, MAX_PARAMETERS)) {
    const equals = piece.indexOf('=')
    if (equals <= 0) continue
    const [, name = '', number, star] =
      /^([^*]*)(?:\*(\d{1,3}))?(\*)?$/.exec(piece.slice(0, equals).trim().toLowerCase()) ?? []
    if (name === '') continue
    const content = unquoted(piece.slice(equals + 1).trim())
    if (number === undefined && star === undefined) {
      // A boundary is compared with bytes.
      if (!plain.has(name)) plain.set(name, name === 'boundary' ? content : cleanText(decodeWords(content)))
      continue
    }
    const pieces = sections.get(name) ?? []
    pieces.push({ number: Number(number ?? 0), isEncoded: star !== undefined, content })
    sections.set(name, pieces)
  }
  const parameters = new Map(plain)
  // The extended form is the more precise one.
  for (const [name, pieces] of sections) parameters.set(name, cleanText(joined(pieces)))
  return { value: value.trim().toLowerCase(), parameters }
}

/** Without comments, but for a name that contains parentheses although it is not in quotes: `name=Report (1).pdf`. */
function cleanField(text: string): string {
  const field = text.slice(0, MAX_FIELD)
  return PARENTHESES_IN_NAME.test(field) ? field : withoutComments(field)
}

const PARENTHESES_IN_NAME = /name\s*=\s*[^\s";(][^";(]{0,250}\(/i

/** The charset parameter of a Content-Type. */
export function charsetParameter(contentType: string): string | undefined {
  return readParameters(contentType).parameters.get('charset')
}

/** A part of a value that RFC 2231 divides. */
interface Section {
  number: number
  isEncoded: boolean
  content: string
}

function joined(sections: readonly Section[]): string {
  const sorted = [...sections].sort((left, right) => left.number - right.number)
  const [, charset, first] = /^([\w.:-]*)'[^']*'([\s\S]*)$/.exec(sorted[0]?.isEncoded ? sorted[0].content : '') ?? []
  const bytes = sorted.map(({ isEncoded, content }, index) => {
    const text = index === 0 && first !== undefined ? first : content
    return isEncoded ? percentBytes(text) : Buffer.from(text, 'utf8')
  })
  const text = decode(Buffer.concat(bytes), charset)
  return charset === undefined ? decodeWords(text) : text
}

function percentBytes(text: string): Buffer {
  const pieces = text.split(/((?:%[0-9a-f]{2})+)/i)
  return Buffer.concat(
    pieces.map((piece, index) =>
      index % 2 === 1 ? Buffer.from(piece.replaceAll('%', ''), 'hex') : Buffer.from(piece, 'utf8'),
    ),
  )
}

function splitAtSemicolons(field: string): string[] {
  const pieces: string[] = []
  let start = 0
  let isQuoted = false
  for (let at = 0; at < field.length; at += 1) {
    const char = field[at]
    if (isQuoted && char === '\\') at += 1
    else if (char === '"') isQuoted = !isQuoted
    else if (char === ';' && !isQuoted) {
      pieces.push(field.slice(start, at))
      start = at + 1
    }
  }
  pieces.push(field.slice(start))
  return pieces
}

/** Windows programs forget to escape the backslashes of a path: only quotes and backslashes are escaped. */
function unquoted(value: string): string {
  if (!value.startsWith('"')) return value
  const end = value.endsWith('"') && value.length > 1 ? -1 : undefined
  return value.slice(1, end).replace(/\\(["\\])/g, '$1')
}
