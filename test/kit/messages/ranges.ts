import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect } from 'vitest'
import { type ByteRange, byteRange } from '../../../src/platform/concurrency/byte-stream.ts'
import type { RemoteContent } from '../../../src/providers/contract/index.ts'

/** Content with a size that is not known in advance. */
export function toContent(bytes: Buffer): RemoteContent {
  return { sizeBytes: null, read: async (range: ByteRange = { from: 0 }) => byteRange(Readable.from([bytes]), range) }
}

/** Reads the ends, the middle and more than all of the content. */
export async function expectRanges(content: RemoteContent, whole: Buffer): Promise<void> {
  expect([whole.length, null]).toContain(content.sizeBytes)
  const last = whole.length - 1
  for (const [from, length] of [
    [0, 1],
    [0, whole.length],
    [last, 1],
    [Math.floor(last / 2), Math.ceil(last / 4)],
    [Math.floor(last / 3), undefined],
    [whole.length, undefined],
  ] as const) {
    const end = length === undefined ? whole.length : from + length
    expect((await buffer(await content.read({ from, length }))).equals(whole.subarray(from, end))).toBe(true)
  }
  await expect(content.read({ from: last, length: 2 }).then(buffer)).rejects.toThrow('1 bytes early')
}
