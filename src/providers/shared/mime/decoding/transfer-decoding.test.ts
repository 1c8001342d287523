import { describe, expect, it } from 'vitest'
import { fc } from '../../../../../test/kit/random/random.ts'
import { transferDecoder } from './transfer-decoding.ts'

/** Decodes the text in chunks of these lengths. */
function decodeInPieces(encoding: string, text: string, sizes: readonly number[]): Buffer {
  const decoder = transferDecoder(encoding)
  const parts: Buffer[] = []
  let rest = Buffer.from(text, 'latin1')
  for (let i = 0; rest.length > 0; i += 1) {
    const size = Math.max(1, sizes[i % sizes.length] ?? 1)
    parts.push(decoder.write(rest.subarray(0, size)))
    rest = rest.subarray(size)
  }
  return Buffer.concat([...parts, decoder.end()])
}

const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 6 })

describe('a transfer encoding is decoded wherever the chunks end', () => {
  it('decodes base64 with line ends and invalid characters', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), sizes, (bytes, cuts) => {
        const encoded = Buffer.from(bytes).toString('base64').replace(/.{76}/g, '$&\r\n')
        expect(decodeInPieces('BASE64', encoded, cuts)).toEqual(Buffer.from(bytes))
      }),
    )
  })

  it('decodes short base64 lines that are damaged, and not the text behind them', () => {
    const lines = 'Grüße aus Köln, und noch ein Satz davor'.match(/.{1,9}/g)?.map((line) => Buffer.from(line)) ?? []
    const damaged = Buffer.concat(lines).toString('base64').replace(/.{20}/g, '$&!\r\n')
    fc.assert(
      fc.property(sizes, (cuts) => {
        const decoded = decodeInPieces('base64', `${damaged}\r\n-- \r\nlist footer\r\n`, cuts)
        expect(decoded.equals(Buffer.concat(lines))).toBe(true)
      }),
    )
  })

  it('decodes quoted-printable with soft line breaks', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), sizes, (bytes, cuts) => {
        const escaped = [...bytes].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`)
        const encoded = escaped.map((text, i) => (i % 20 === 19 ? `${text}=\r\n` : text)).join('')
        expect(decodeInPieces('quoted-printable', encoded, cuts)).toEqual(Buffer.from(bytes))
      }),
    )
  })

  it('decodes an endless quoted-printable line without buffering it', () => {
    const text = 'a'.repeat(300_000)
    expect(decodeInPieces('quoted-printable', text, [50_000]).toString()).toBe(text)
  })

  it('removes the padding at quoted-printable line ends', () => {
    fc.assert(
      fc.property(sizes, (cuts) => {
        const decoded = decodeInPieces('quoted-printable', 'one \t\r\n two = \r\nthree\t\n\n=\r\nfo=75r  ', cuts)
        expect(decoded.toString()).toBe('one\r\n two three\n\nfour  ')
      }),
    )
  })

  it('decodes megabytes of spaces without a line end in linear time', () => {
    const text = ' '.repeat(4 * 1024 * 1024)
    expect(decodeInPieces('quoted-printable', text, [512 * 1024]).equals(Buffer.from(text))).toBe(true)
    expect(decodeInPieces('quoted-printable', `${text}\r\n`, [8 * 1024 * 1024]).toString()).toBe('\r\n')
  })

  it('leaves the bytes of an unknown encoding unchanged', () => {
    expect(decodeInPieces('telepathy', 'a=20b', [2]).toString()).toBe('a=20b')
  })
})
