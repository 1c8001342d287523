import type { Writable } from 'node:stream'

/** The output of a hostile server: a beginning, then chunks without end. */
export interface Stream {
  head: string
  /** The next chunk. */
  next(): string
  /** Sends one chunk per interval instead of as many as the client reads. */
  everyMs?: number
  /** Ends after about this many characters. */
  length?: number
}

/** Sends the stream until the other side closes. */
export function pour(stream: Stream, to: Writable): void {
  let left = stream.length ?? Number.POSITIVE_INFINITY
  const pourOnce = () => {
    const chunk = stream.next()
    left -= chunk.length
    return to.write(chunk, 'latin1')
  }
  to.on('error', () => {})
  to.write(stream.head, 'latin1')
  if (stream.everyMs !== undefined) {
    const timer = setInterval(pourOnce, stream.everyMs)
    to.once('close', () => clearInterval(timer))
    return
  }
  const more = () => {
    while (!to.destroyed && left > 0 && pourOnce());
    if (left <= 0 && !to.writableEnded) to.end()
  }
  to.on('drain', more)
  more()
}

export const CHUNK = 16 * 1024
