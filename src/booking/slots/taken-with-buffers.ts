import { mergeRanges, type TimeRange } from '../../providers/contract/index.ts'
import type { BlockRow } from '../tables.ts'
import type { Buffers } from './slot-rules.ts'

/** When a host is taken. */
export interface Taken {
  /** Busy times from the calendars. */
  busy: readonly TimeRange[]
  blocks: readonly Pick<BlockRow, 'startMs' | 'endMs' | 'blockedFrom' | 'blockedTo'>[]
}

/**
 * The starts at which a slot of this length is not free for a host, in order and without overlaps. With its own buffers a slot must
 * not overlap a busy time or a meeting; the slot itself must not overlap a meeting with that meeting's buffers. So the buffers of two
 * meetings may overlap, and the larger one is the least gap between them. Lists and bookings both use it.
 */
export function takenStarts({ busy, blocks }: Taken, lengthMs: number, { beforeMs, afterMs }: Buffers): TimeRange[] {
  // A slot overlaps [from, to) if it starts after `from − length` and before `to`. Times are whole milliseconds.
  const near = (from: number, to: number) => ({ from: from - lengthMs - afterMs + 1, to: to + beforeMs })
  const ranges = busy.map(({ from, to }) => near(from, to))
  for (const { startMs, endMs, blockedFrom, blockedTo } of blocks) {
    ranges.push(near(startMs, endMs), { from: blockedFrom - lengthMs + 1, to: blockedTo })
  }
  return mergeRanges(ranges)
}

/** Whether a host is not free for one slot. */
export function isTaken({ start, end }: { start: number; end: number }, buffers: Buffers, taken: Taken): boolean {
  return takenStarts(taken, end - start, buffers).some(({ from, to }) => from <= start && start < to)
}
