import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { base64Member } from './live-reads.ts'

async function read(text: string, cuts: number[] = []): Promise<Buffer> {
  async function* chunks() {
    let from = 0
    for (const cut of [...cuts, text.length].sort((one, other) => one - other)) {
      yield Buffer.from(text.slice(from, cut))
      from = Math.max(from, cut)
    }
  }
  const pieces: Buffer[] = []
  for await (const piece of base64Member(chunks(), 'raw', 'reading')) pieces.push(piece)
  return Buffer.concat(pieces)
}

describe('a base64url string in a JSON response', () => {
  it('is decoded as it arrives, wherever the chunks end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.array(fc.nat(500), { maxLength: 20 }),
        async (content, cuts) => {
          const bytes = Buffer.from(content)
          const text = `{"snippet": "\\"raw\\": \\"AAAA\\"",\n "raw": "${bytes.toString('base64url')}", "id": "1"}`
          expect(await read(text, cuts)).toEqual(bytes)
        },
      ),
    )
  })

  it.each(['QUJD', 'QUI=', 'QUI\\u003d', 'QQ=='])('ends at the quote or at its padding: %s', async (data) => {
    expect(await read(`{"raw":"${data}"}`)).toEqual(Buffer.from(data.replace(/[=\\].*/, ''), 'base64url'))
  })

  it.each(['{"raw":"QUJD', '{"other":"QUJD"}', '{"raw":"QU JD"}', '', 'x'.repeat(300_000)])(
    'missing or broken off it is unavailable',
    async (text) => {
      await expect(read(text)).rejects.toMatchObject({ name: 'ProviderError', kind: 'unavailable' })
    },
  )
})
