import { yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { TimeRange } from '../../providers/contract/index.ts'
import type { AvailabilityView, Known } from './api.ts'

const TURN_MS = 8

/** Every slot of `stepMs` in the range, from its start. A busy time blocks the slots that it overlaps; one that only touches does not. */
export async function slotsOf(
  range: TimeRange,
  stepMs: number,
  participants: ReadonlyMap<string, Known>,
): Promise<AvailabilityView['slots']> {
  const cursors = [...participants].map(([name, known]) => ({
    name,
    times: 'busy' in known ? known.busy : undefined,
    next: 0,
  }))
  const slots: AvailabilityView['slots'] = []
  for (let from = range.from; from + stepMs <= range.to; from += stepMs) {
    const to = from + stepMs
    const states = cursors.map((cursor) => {
      const { name, times } = cursor
      if (times === undefined) return [name, 'unknown'] as const
      while (cursor.next < times.length && (times[cursor.next]?.to ?? 0) <= from) cursor.next += 1
      const next = times[cursor.next]
      return [name, next !== undefined && next.from < to ? 'busy' : 'available'] as const
    })
    slots.push({
      start: isoTime(from),
      end: isoTime(to),
      participants: states.flatMap(([name, state]) => (state === 'available' ? name : [])),
      participantAvailability: Object.fromEntries(states),
    })
    await yieldIfHeld(TURN_MS)
  }
  return slots
}
