import { decodeCharset } from '../../shared/mime/index.ts'
import type { CardLine } from './card.ts'

/** Limits a text as it is written. Fields of contacts are shorter. */
const MAX_TEXT_LENGTH = 64 * 1024
const MAX_PARTS = 200

/** The text of a line as people see it. */
export function textValue(line: CardLine): string {
  return unescaped(decodedValue(line))
}

/** The parts of `Ms;Dr.` or `a,b`, as people see them. */
export function parts(line: CardLine, separator: ';' | ','): string[] {
  return splitEscaped(decodedValue(line), separator).map(unescaped)
}

/** The parts as they are written. */
export function rawParts(value: string): string[] {
  return splitEscaped(value, ';')
}

/** Values of lists inside a part, `John,Philip`, are shown with spaces between them. */
export function listAsText(part: string): string {
  return splitEscaped(part, ',').map(unescaped).join(' ').trim()
}

/** Without the encoding of vCard 2.1. */
export function decodedValue({ parameters, value }: CardLine): string {
  const beginning = value.slice(0, MAX_TEXT_LENGTH)
  const encodings = [...(parameters.get('ENCODING') ?? []), ...(parameters.get('TYPE') ?? [])]
  if (!encodings.some((encoding) => encoding.toUpperCase() === 'QUOTED-PRINTABLE')) return beginning
  const bytes = Buffer.from(
    beginning.replaceAll(/=([0-9a-f]{2})/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
  return decodeCharset(bytes, parameters.get('CHARSET')?.[0])
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([\\;,:nN])/g, (_match, escaped: string) =>
    escaped.toLowerCase() === 'n' ? '\n' : escaped,
  )
}

function splitEscaped(text: string, separator: ';' | ','): string[] {
  const found: string[] = []
  let start = 0
  for (let at = 0; at < text.length && found.length < MAX_PARTS; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === separator) {
      found.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...found, text.slice(start)]
}

/** A text as a part of a value. */
export function escapeText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
}
