import type { Handle } from '../../platform/db/index.ts'
import { type EventHead, findEvents } from '../index.ts'
import { feedEventText } from './api.ts'

/** An event as streams send it. */
export interface Frame {
  position: number
  type: string
  accountId: string | null
  bytes: Buffer
}

/** The frames of the events, in order. An event that was erased since its head was read has none. */
export async function readFrames(handle: Handle, heads: readonly EventHead[]): Promise<Frame[]> {
  const events = await findEvents(
    handle,
    heads.map(({ id }) => id),
  )
  return heads.flatMap(({ id, type, accountId, position }) => {
    const event = events.get(id)
    if (event === undefined) return []
    const bytes = Buffer.from(`id: ${position}\nevent: ${type}\ndata: ${feedEventText(event)}\n\n`)
    return [{ position, type, accountId, bytes }]
  })
}

/** The bytes of those frames that come after the position. */
export function bytesAfter(frames: readonly Frame[], position: number): Buffer {
  return Buffer.concat(frames.flatMap((frame) => (frame.position > position ? [frame.bytes] : [])))
}
