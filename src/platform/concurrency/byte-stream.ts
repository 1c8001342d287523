import { Readable } from 'node:stream'
import { TURN_MS, yieldIfHeld } from './event-loop.ts'

/** Without `length`: to the end. */
export interface ByteRange {
  from: number
  length?: number | undefined
}

/**
 * Exactly these bytes of a stream: it fails when the stream ends before `length` bytes. It holds one chunk at a time. Destroying the
 * result destroys the stream.
 */
export function byteRange(source: Readable, range: ByteRange): Readable {
  const bytes = Readable.from(readChunks(source, range), { objectMode: false, highWaterMark: 1 })
  return bytes.once('close', () => source.destroy())
}

async function* readChunks(source: Readable, { from, length }: ByteRange): AsyncGenerator<Buffer> {
  let skip = from
  let left = length ?? Number.POSITIVE_INFINITY
  for await (const chunk of source as AsyncIterable<Buffer>) {
    const part = chunk.subarray(skip, skip + left)
    skip = Math.max(0, skip - chunk.length)
    left -= part.length
    if (part.length > 0) yield part
    if (left === 0) return
    await yieldIfHeld(TURN_MS)
  }
  if (length !== undefined && left > 0) throw new Error(`the content ended ${left} bytes early`)
}

/** Resolves when the stream has bytes, or has ended without any. Rejects with its error. */
export function untilReadable(stream: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      stream.off('readable', done).off('error', fail)
      resolve()
    }
    const fail = (error: Error) => {
      stream.off('readable', done)
      reject(error)
    }
    stream.once('readable', done).once('error', fail)
  })
}
