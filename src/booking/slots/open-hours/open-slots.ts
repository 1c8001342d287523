import { DAY_MS, formatDay } from '../../../platform/calendar/days.ts'
import { yieldIfHeld } from '../../../platform/concurrency/event-loop.ts'
import type { TimeRange } from '../../../providers/contract/index.ts'
import { dayIn, type Rules } from '../slot-rules.ts'
import { type Taken, takenStarts } from '../taken-with-buffers.ts'
import { openTimes } from './open-hours.ts'

/** The slots that a list or a booking asks for. */
export interface Grid {
  /** Slots start and end within it. */
  range: TimeRange
  lengthMs: number
  /** Between two starts. Undefined when one time is checked: the start of the range counts if some list could offer it. */
  stepMs: number | undefined
}

export interface HostTimes extends Taken {
  hostId: string
  /** Dates with as many bookings as `maximumPerDay` allows, as `YYYY-MM-DD`. */
  fullDates: ReadonlySet<string>
}

/** How far the times of a host were compared. */
interface Cursor {
  host: HostTimes
  taken: TimeRange[]
  next: number
}

/** A slot that can be booked. */
export interface FreeSlot {
  start: number
  /** The hosts that are free: all of them, or at least one of a round robin. */
  free: readonly string[]
}

const MIN_STEP_MS = 5 * 60_000
const TURN_MS = 8

/** Where slots start if hosts are free: in open hours, on the grid, not too soon and not too far ahead. In order. */
export function openStarts(rules: Rules, { range, lengthMs, stepMs }: Grid, nowMs: number): number[] {
  const today = dayIn(rules, nowMs)
  const lastDay = today + rules.daysAhead
  const from = Math.max(range.from, nowMs + rules.noticeMs)
  // Dates are compared below; this only bounds the work.
  const to = Math.min(range.to, nowMs + (rules.daysAhead + 2) * DAY_MS + lengthMs)
  const starts: number[] = []
  if (to - from < lengthMs) return starts
  for (const time of openTimes(rules, { from, to })) {
    for (const [index, begin] of time.begins.entries()) {
      const until = Math.min(time.begins[index + 1] ?? time.to, Math.min(time.to, to) - lengthMs + 1)
      const step = stepMs ?? stepTo(from - begin) ?? lengthMs
      const steps = Math.max(0, Math.ceil((from - begin) / step))
      for (let start = begin + steps * step; start < until; start += step) {
        if (dayIn(rules, start) <= lastDay) starts.push(start)
      }
    }
  }
  return starts
}

/** The step with which a list would offer a slot this long after the hours open. Undefined if no list can: steps are five minutes or more. */
function stepTo(offsetMs: number): number | undefined {
  return offsetMs % 1000 === 0 && offsetMs >= MIN_STEP_MS ? offsetMs : undefined
}

/** Which of the starts, in order, are free. A collective slot needs every host, one of a round robin any. */
export async function freeSlots(
  rules: Rules,
  starts: readonly number[],
  lengthMs: number,
  hosts: readonly HostTimes[],
): Promise<FreeSlot[]> {
  const cursors: Cursor[] = []
  for (const host of hosts) {
    cursors.push({ host, taken: takenStarts(host, lengthMs, rules), next: 0 })
    await yieldIfHeld(TURN_MS)
  }
  const all = hosts.map(({ hostId }) => hostId)
  const hasFullDates = hosts.some(({ fullDates }) => fullDates.size > 0)
  const slots: FreeSlot[] = []
  for (const start of starts) {
    const date = hasFullDates ? formatDay(dayIn(rules, start)) : ''
    const isHostFree = (cursor: Cursor) => {
      while ((cursor.taken[cursor.next]?.to ?? Number.POSITIVE_INFINITY) <= start) cursor.next += 1
      const next = cursor.taken[cursor.next]
      return (next === undefined || next.from > start) && !(hasFullDates && cursor.host.fullDates.has(date))
    }
    if (!rules.isRoundRobin) {
      if (cursors.every(isHostFree)) slots.push({ start, free: all })
    } else {
      const free = cursors.flatMap((cursor) => (isHostFree(cursor) ? cursor.host.hostId : []))
      if (free.length > 0) slots.push({ start, free })
    }
    await yieldIfHeld(TURN_MS)
  }
  return slots
}
