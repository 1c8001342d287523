import { base64Decoder } from './base64-decoder.ts'
import { undoEscapes } from './escapes.ts'
import { uuencodeDecoder } from './uuencode-decoder.ts'

/** Decodes a Content-Transfer-Encoding in chunks, which may end anywhere. */
export interface TransferDecoder {
  write(chunk: Buffer): Buffer
  end(): Buffer
}

/** Passes the bytes of an unknown encoding through unchanged. */
export function transferDecoder(encoding: string): TransferDecoder {
  switch (encodingName(encoding)) {
    case 'base64':
      return base64Decoder()
    case 'quoted-printable':
      return quotedPrintableDecoder()
    case 'x-uuencode':
    case 'uuencode':
    case 'x-uue':
    case 'uue':
      return uuencodeDecoder()
    default:
      return { write: (chunk) => chunk, end: () => Buffer.alloc(0) }
  }
}

/** In lower case. Programs write `"base64"`, `quoted-printable;` and `base64 (comment)`. */
export function encodingName(encoding: string): string {
  return /^[\s"']*([\w-]*)/.exec(encoding)?.[1]?.toLowerCase() ?? ''
}

/** Works line by line in one pass: a pattern for spaces before a line end takes hours on a megabyte of spaces without one. */
function quotedPrintableDecoder(): TransferDecoder {
  let rest = ''
  return {
    write(chunk) {
      const text = rest + chunk.toString('latin1')
      const linesEnd = text.lastIndexOf('\n') + 1
      rest = text.slice(linesEnd)
      const decoded = decodeLines(text.slice(0, linesEnd))
      if (rest.length <= LINE_LIMIT) return decoded
      // Splits a very long line, but never within an escape, and keeps spaces at the split.
      const started = rest.indexOf('=', rest.length - 2)
      const cut = started === -1 ? rest.length : started
      const beginning = decodeEscapes(rest.slice(0, cut))
      rest = rest.slice(cut)
      return Buffer.concat([decoded, beginning])
    },
    end: () => decodeEscapes(rest),
  }
}

const LINE_LIMIT = 65_536

/** Decodes complete lines: removes padding at their ends, and joins a line that ends in `=` with the next. */
function decodeLines(text: string): Buffer {
  const lines: string[] = []
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf('\n', start) + 1
    const textEnd = text[next - 2] === '\r' && next - 2 >= start ? next - 2 : next - 1
    let end = textEnd
    while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1
    const isSoft = end > start && text[end - 1] === '='
    lines.push(text.slice(start, isSoft ? end - 1 : end), isSoft ? '' : text.slice(textEnd, next))
    start = next
  }
  return decodeEscapes(lines.join(''))
}

function decodeEscapes(text: string): Buffer {
  return undoEscapes(Buffer.from(text, 'latin1'))
}
