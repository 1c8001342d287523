import type { TransferDecoder } from './transfer-decoding.ts'

const [SPACE, END] = [0x20, 0x60]
const MAX_LINE = 256

/** Decodes uuencode: lines between `begin 644 name` and `end`, each beginning with its length. */
export function uuencodeDecoder(): TransferDecoder {
  let rest = ''
  let state: 'before' | 'inside' | 'after' = 'before'

  function decodeLine(text: string): Buffer {
    const line = text.replace(/\r$/, '')
    if (state === 'before') {
      if (/^begin(?:-base64)? [0-7]{3,4} /.test(line)) state = 'inside'
      return Buffer.alloc(0)
    }
    if (state === 'after' || line === 'end') {
      state = 'after'
      return Buffer.alloc(0)
    }
    return lineBytes(line)
  }

  return {
    write(chunk) {
      const lines = (rest + chunk.toString('latin1')).split('\n')
      // No line of this encoding is longer.
      rest = (lines.pop() ?? '').slice(0, MAX_LINE)
      return Buffer.concat(lines.map(decodeLine))
    },
    end: () => decodeLine(rest),
  }
}

function lineBytes(line: string): Buffer {
  const length = sixBits(line.charCodeAt(0))
  const bytes = Buffer.alloc(Math.ceil((line.length - 1) / 4) * 3)
  for (let at = 1, to = 0; at < line.length; at += 4, to += 3) {
    const [a, b, c, d] = [0, 1, 2, 3].map((offset) => sixBits(line.charCodeAt(at + offset)))
    bytes.writeUIntBE(((a ?? 0) << 18) | ((b ?? 0) << 12) | ((c ?? 0) << 6) | (d ?? 0), to, 3)
  }
  return bytes.subarray(0, length)
}

function sixBits(code: number): number {
  return Number.isNaN(code) || code === END || code < SPACE ? 0 : (code - SPACE) & 0x3f
}
