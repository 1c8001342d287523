import type { TransferDecoder } from './transfer-decoding.ts'

const NOT_BASE64 = /[^A-Za-z0-9+/=]/g
/** Encoders write lines of 60 to 76 characters; a shorter one is the last. */
const FULL_LINE = 60
/** A longer line is decoded before its end has arrived. */
const LINE_LIMIT = 65_536

/**
 * Decodes base64 as mail has it. Padding ends a piece and another may follow, because some encoders pad each line and some programs append an
 * encoded footer. Text that a mailing list appended as it is, behind the last line, is left out. Other characters within a line are
 * ignored (RFC 2045 6.8).
 */
export function base64Decoder(): TransferDecoder {
  let line = ''
  /** Up to three characters that wait for the rest of their quantum. */
  let quantum = ''
  let longest = 0
  let isLast = false
  let hasEnded = false

  function decodePieces(text: string): Buffer[] {
    const pieces = (quantum + text).split(/=+/)
    const open = pieces.pop() ?? ''
    const whole = open.length - (open.length % 4)
    quantum = open.slice(whole)
    return [...pieces, open.slice(0, whole)].map((piece) => Buffer.from(piece, 'base64'))
  }

  function decodeLine(text: string): Buffer[] {
    const content = text.trim()
    if (hasEnded || content === '') return []
    const clean = content.replace(NOT_BASE64, '')
    if (isLast && quantum === '' && clean !== content) {
      hasEnded = true
      return []
    }
    longest = Math.max(longest, content.length)
    isLast = clean.endsWith('=') || content.length < longest || content.length < FULL_LINE
    return decodePieces(clean)
  }

  return {
    write(chunk) {
      const lines = (line + chunk.toString('latin1')).split('\n')
      line = lines.pop() ?? ''
      const decoded = lines.flatMap(decodeLine)
      if (line.length > LINE_LIMIT) {
        decoded.push(...decodeLine(line))
        line = ''
        isLast = false
      }
      return Buffer.concat(decoded)
    },
    end() {
      const decoded = decodeLine(line)
      return Buffer.concat([...decoded, Buffer.from(quantum, 'base64')])
    },
  }
}
