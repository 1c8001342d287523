import type { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import { readLive } from '../../../accounts/index.ts'
import { type ByteRange, untilReadable } from '../../../platform/concurrency/byte-stream.ts'
import { TURN_MS, yieldIfHeld } from '../../../platform/concurrency/event-loop.ts'
import { atMost } from '../../../platform/lru.ts'
import type { RemoteContent, RemoteFile } from '../../../providers/contract/index.ts'

/** A message or an attachment to download. Its methods throw like `readLive`. */
export interface Content extends Pick<RemoteFile, 'contentType' | 'filename'> {
  /** Changes whenever the bytes may have changed. */
  key: string
  /** Exact; null while unknown. */
  sizeBytes: number | null
  /** Reads everything to learn an unknown size, which is then remembered. Undefined when that takes too long. */
  measure(): Promise<number | undefined>
  /** Begins to read these bytes. The caller must read or destroy the stream. */
  read(range?: ByteRange): Promise<Readable>
}

/** An entry takes about 200 bytes. */
const MAX_SIZES = 10_000
/** Providers accept messages of up to 150 MB. */
const MAX_MEASURED_BYTES = 256 * 1024 * 1024
const MAX_MEASURING_MS = 60_000

/** Returns a function that makes `Content`. Its contents share the memory of the sizes. */
export function contentOpener() {
  // Requests for several ranges at once measure once.
  const sizes = new LRUCache<string, number, RemoteContent>({
    ...atMost(MAX_SIZES),
    fetchMethod: (_key, _stale, { context }) => measureSize(context),
  })

  /** `what` is the subject of the 404 message. */
  return function content(what: string, key: string, file: RemoteFile): Content {
    const { contentType, filename } = file
    const sizeBytes = file.sizeBytes ?? sizes.get(key) ?? null
    return {
      contentType,
      filename,
      key,
      sizeBytes,

      async measure() {
        return sizeBytes ?? readLive(what, () => sizes.fetch(key, { context: file }))
      },

      read: (range) =>
        readLive(what, async () => {
          const stream = await file.read(range)
          // It may have another size than before, such as a draft that was just edited.
          stream.once('error', () => sizes.delete(key))
          await untilReadable(stream)
          return stream
        }),
    }
  }
}

async function measureSize(content: RemoteContent): Promise<number | undefined> {
  const giveUp = AbortSignal.timeout(MAX_MEASURING_MS)
  let sizeBytes = 0
  for await (const chunk of await content.read()) {
    sizeBytes += chunk.length
    if (sizeBytes > MAX_MEASURED_BYTES || giveUp.aborted) return undefined
    await yieldIfHeld(TURN_MS)
  }
  return sizeBytes
}
