import type { Limit } from '../../platform/concurrency/limit.ts'
import type { Db } from '../../platform/db/index.ts'
import { eventFeed } from '../index.ts'
import { accepts, type Subscriber } from './audience.ts'
import { bytesAfter, readFrames } from './frames.ts'

interface CatchUpDeps {
  db: Pick<Db, 'read'>
  /** Bounds the reads of all streams that catch up at the same time. */
  limit: Limit
  /** Event heads per read. */
  headsPerRead: number
}

/** A read of complete events should have about this size. Each has up to 256 KB. */
const WANTED_BYTES = 256 * 1024
const FIRST_EVENTS = 4
const MAX_EVENTS = 64

/**
 * Sends the events after the subscriber's position at the speed of its client, until it has read to the end of the feed or
 * the stream has ended.
 */
export async function catchUp(deps: CatchUpDeps, subscriber: Subscriber): Promise<void> {
  const { db, limit, headsPerRead } = deps
  const { stream, filter } = subscriber
  let count = FIRST_EVENTS
  while (stream.isOpen) {
    const heads = await limit(() => eventFeed(db.read).heads(subscriber.position, headsPerRead))
    const wanted = heads.filter((head) => accepts(filter, head))
    while (wanted.length > 0 && stream.isOpen) {
      const next = wanted.splice(0, count)
      const frames = await limit(() => readFrames(db.read, next))
      const bytes = bytesAfter(frames, subscriber.position)
      count = bytes.length > WANTED_BYTES ? Math.max(1, Math.floor(count / 2)) : Math.min(MAX_EVENTS, count * 2)
      const isReading = stream.send(bytes)
      subscriber.position = next.at(-1)?.position ?? subscriber.position
      if (!isReading) await stream.drained()
    }
    if (!stream.isOpen) return
    subscriber.position = heads.at(-1)?.position ?? subscriber.position
    if (heads.length < headsPerRead) return
  }
}
