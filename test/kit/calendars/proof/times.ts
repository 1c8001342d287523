import { DAY_MS, formatDay, formatLocal, parseLocal } from '../../../../src/platform/calendar/days.ts'
import type { Choices } from './choices.ts'
import type { DescribedTimes } from './described.ts'
import { type Place, ZONE_NAMES, zoneNamed } from './place.ts'

const MINUTE_MS = 60_000
const HOUR = 60

/** The kind of times an event has. `own`: in a zone that only its object describes. */
export type TimeForm = 'times' | 'days' | 'floating' | 'own'

/** A start, often within hours of the clock change, on a day up to so many days before it, or some after it. */
export function startNear(choices: Choices, place: Place, form: TimeForm, daysBefore: number): number {
  const dayMs = Math.floor(place.changeLocalMs / DAY_MS) * DAY_MS
  const day = dayMs + (choices.is(0.3) ? choices.whole(-1, 1) : choices.whole(-daysBefore, 12)) * DAY_MS
  if (form === 'days') return day
  const changeMinutes = (place.changeLocalMs - dayMs) / MINUTE_MS
  const minutes = choices.is(0.5) ? changeMinutes + 15 * choices.whole(-6, 8) : 15 * choices.whole(0, 95)
  return day + minutes * MINUTE_MS
}

export function chooseZone(choices: Choices, place: Place, form: TimeForm): string | null {
  if (form !== 'times') return null
  if (choices.is(0.65)) return place.zone
  return choices.is(0.2) ? 'UTC' : choices.pick(ZONE_NAMES)
}

/** For a start at this wall clock. */
export function timesAt(
  choices: Choices,
  startMs: number,
  { form, zone, endZone = null }: { form: TimeForm; zone: string | null; endZone?: string | null },
): DescribedTimes {
  if (form === 'days') {
    const [start, end] = [startMs, startMs + choices.whole(1, 4) * DAY_MS].map(dateText)
    return { start: start ?? '', end: end ?? '', zone, endZone: null, isSecond: false }
  }
  const lasts = choices.pick([0, 15, 30, 30, HOUR, HOUR, 90, 4 * HOUR, 8 * HOUR, 24 * HOUR, 26 * HOUR])
  const end = formatLocal(startMs + lasts * MINUTE_MS)
  return { start: formatLocal(startMs), end, zone, endZone, isSecond: false }
}

export function dateText(localMs: number): string {
  return formatDay(Math.floor(localMs / DAY_MS))
}

/** As a wall clock or, for all-day events, a date. */
export function wallText(localMs: number, isAllDay: boolean): string {
  return isAllDay ? dateText(localMs) : formatLocal(localMs)
}

/** A wall clock or a date in milliseconds, as if it were UTC. */
export function toLocal(wall: string): number {
  return parseLocal(wall.length > 10 ? wall : `${wall}T00:00:00`) ?? Number.NaN
}

/** Whether clocks of the zone show this time. */
export function exists(localMs: number, zoneName: string): boolean {
  const zone = zoneNamed(zoneName)
  return zone.toLocal(zone.toUtc(localMs)) === localMs
}

/** `20260329T023000` or `20260329`. */
export function basic(wall: string): string {
  return wall.replaceAll(/[-:]/g, '')
}

/** `20260329T003000Z`, of a wall clock in the zone. */
export function basicUtc(localMs: number, zoneName: string): string {
  return `${basic(formatLocal(zoneNamed(zoneName).toUtc(localMs)))}Z`
}
