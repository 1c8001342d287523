import type { TransferDecoder } from './transfer-decoding.ts'

const NOT_BASE64 = /[^A-Za-z0-9+/=]/g
/** Encoders write lines of 60 to 76 characters; a shorter one is the last. */
const FULL_LINE = 60
/** The share of a line's characters that may be damaged, at least one. Text has more that are not base64, and spaces. */
const DAMAGED = 0.05
/** A longer line is decoded before its end has arrived. */
const LINE_LIMIT = 65_536

/**
 * Decodes base64 as mail has it. Padding ends a piece and another may follow, because some encoders pad each line and some programs append an
 * encoded footer. Text that a mailing list appended as it is, behind the last line, is left out. Other characters within a line are
 * ignored (RFC 2045 6.8).
 */
export function base64Decoder(): TransferDecoder {
  let line = ''
  /** Characters of complete lines that are not decoded yet. */
  let run = ''
  let longest = 0
  let isLast = false
  let hasEnded = false

  /** Adds a line to the run. Returns the pieces that it ends with padding. */
  function addLine(text: string): Buffer[] {
    const content = text.trim()
    if (hasEnded || content === '') return []
    const clean = content.replace(NOT_BASE64, '')
    if (isLast && run.length % 4 === 0 && isFooter(content, clean)) {
      hasEnded = true
      return []
    }
    longest = Math.max(longest, content.length)
    isLast = clean.endsWith('=') || content.length < longest || content.length < FULL_LINE
    if (!clean.includes('=')) {
      run += clean
      return []
    }
    const pieces = (run + clean).split(/=+/)
    run = pieces.pop() ?? ''
    return pieces.filter((piece) => piece !== '').map((piece) => Buffer.from(piece, 'base64'))
  }

  /** Decodes the quanta of the run that are complete. */
  function decodeRun(): Buffer {
    const whole = run.length - (run.length % 4)
    const decoded = Buffer.from(run.slice(0, whole), 'base64')
    run = run.slice(whole)
    return decoded
  }

  return {
    write(chunk) {
      const lines = (line + chunk.toString('latin1')).split('\n')
      line = lines.pop() ?? ''
      const decoded = lines.flatMap(addLine)
      if (line.length > LINE_LIMIT) {
        decoded.push(...addLine(line))
        line = ''
        isLast = false
      }
      decoded.push(decodeRun())
      return Buffer.concat(decoded)
    },
    end() {
      const decoded = addLine(line)
      return Buffer.concat([...decoded, Buffer.from(run, 'base64')])
    },
  }
}

function isFooter(line: string, base64: string): boolean {
  return /\s/.test(line) || line.length - base64.length > Math.max(1, DAMAGED * line.length)
}
