import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { byteRange, untilReadable } from './byte-stream.ts'

const source = (...chunks: string[]) => Readable.from(chunks.map((text) => Buffer.from(text)))
const text = async (stream: Readable) => (await buffer(stream)).toString()

describe('a byte range', () => {
  it('is the same however the stream is cut', async () => {
    for (const chunks of [['0123456789'], ['0', '12', '345', '6789'], [...'0123456789'], ['01234', '', '56789']]) {
      for (let from = 0; from <= 10; from += 1) {
        expect(await text(byteRange(source(...chunks), { from }))).toBe('0123456789'.slice(from))
        for (let length = 0; from + length <= 10; length += 1) {
          const part = await text(byteRange(source(...chunks), { from, length }))
          expect(part).toBe('0123456789'.slice(from, from + length))
        }
      }
    }
  })

  it('fails when the stream ends early', async () => {
    await expect(text(byteRange(source('abc'), { from: 1, length: 3 }))).rejects.toThrow('1 bytes early')
  })

  it('reads no further than it is read, and destroys the stream with it', async () => {
    let made = 0
    function* endless() {
      for (;;) {
        made += 1
        yield Buffer.alloc(1000)
      }
    }
    const endlessStream = () => Readable.from(endless(), { objectMode: false, highWaterMark: 1 })
    expect((await buffer(byteRange(endlessStream(), { from: 500, length: 5000 }))).length).toBe(5000)
    expect(made).toBeLessThan(15)
    const unread = endlessStream()
    byteRange(unread, { from: 0 }).destroy()
    await new Promise((resolve) => unread.once('close', resolve))
  })
})

describe('waiting for bytes', () => {
  it('leaves all bytes to the reader, and passes the error of a stream on', async () => {
    for (const chunks of [['ab', 'c'], []]) {
      const stream = source(...chunks)
      await untilReadable(stream)
      expect(await text(stream)).toBe(chunks.join(''))
    }
    const failing = new Readable({ read: () => void failing.destroy(new Error('lost')) })
    await expect(untilReadable(failing)).rejects.toThrow('lost')
  })
})
