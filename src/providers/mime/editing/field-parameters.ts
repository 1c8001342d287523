import { withoutComments } from '../comments.ts'

/** A field such as Content-Type, as far as its parts matter to where the bytes of a message belong. */
export interface FieldParameters {
  /** In lower case. */
  value: string
  /** By the name in lower case. Values that RFC 2231 divides are joined. */
  parameters: ReadonlyMap<string, string>
}

const MAX_PARAMETERS = 100

/** Reads a field as forgivingly as mail programs do. The first of two parameters of one name counts. */
export function readFieldParameters(field: string): FieldParameters {
  const [value = '', ...pieces] = piecesOf(withoutComments(field))
  const parameters = new Map<string, string>()
  const sections = new Map<string, string[]>()
  for (const piece of pieces.slice(0, MAX_PARAMETERS)) {
    const equals = piece.indexOf('=')
    const [, name = '', number, star] = SECTION.exec(piece.slice(0, equals).trim().toLowerCase()) ?? []
    if (equals <= 0 || name === '') continue
    const content = unquoted(piece.slice(equals + 1).trim())
    if (number === undefined && star === undefined) {
      if (!parameters.has(name)) parameters.set(name, content)
      continue
    }
    const known = sections.get(name) ?? []
    known[Number(number ?? 0)] ??= star === undefined ? content : percentDecoded(content)
    sections.set(name, known)
  }
  for (const [name, known] of sections) parameters.set(name, known.join(''))
  return { value: value.trim().toLowerCase(), parameters }
}

/** A section of a value that RFC 2231 divides, percent-encoded if it ends in a star. */
const SECTION = /^([^*]+)(?:\*(\d{1,2}))?(\*)?$/

/** Without the charset and the language that begin the first section. One character for each byte. */
function percentDecoded(text: string): string {
  const content = text.replace(/^[\w.:-]*'[\w-]*'/, '')
  return content.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function piecesOf(field: string): string[] {
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

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value
  return value.slice(1, value.endsWith('"') && value.length > 1 ? -1 : undefined).replace(/\\(["\\])/g, '$1')
}
