import { type Component, property } from '../../lib/calendar/components.ts'
import { DAY_MS, formatDay, formatLocal, parseDay, parseLocal } from '../../lib/calendar/days.ts'
import { parseDuration } from '../../lib/calendar/duration.ts'
import { storedZone, toInstant, type Zone } from '../../lib/calendar/zone.ts'
import type { EventTime } from '../contract/index.ts'

/** When an event ends, never before its start. `dtend` is the time of DTEND. Undefined where DTEND or DURATION is none. */
export function endOf(event: Component, start: EventTime, dtend: EventTime | undefined): EventTime | undefined {
  const duration = property(event, 'DURATION')?.value.trim() ?? ''
  const durationMs = parseDuration(duration)
  const isEndless = (property(event, 'DTEND')?.value.trim() ?? '') === '' && duration === ''
  if (dtend === undefined && durationMs === undefined && !isEndless) return undefined
  if ('date' in start) {
    const startDay = parseDay(start.date) ?? 0
    const lasts = Math.floor((durationMs ?? DAY_MS) / DAY_MS)
    return { date: formatDay(Math.max(startDay + 1, dtend === undefined ? startDay + lasts : endDay(dtend))) }
  }
  if (dtend !== undefined && 'dateTime' in dtend) {
    const isBefore = dtend.timeZone === start.timeZone && dtend.dateTime < start.dateTime
    return isBefore ? start : dtend
  }
  if (dtend !== undefined) return { dateTime: `${dtend.date}T00:00:00`, timeZone: start.timeZone }
  // Days of a DURATION are days of the wall clock, hours are exact (RFC 5545, 3.3.6).
  const lastsMs = Math.max(0, durationMs ?? 0)
  const days = /\d[DW]/i.test(duration) ? Math.floor(lastsMs / DAY_MS) * DAY_MS : 0
  const from = (parseLocal(start.dateTime) ?? 0) + days
  const zone = start.timeZone === null ? undefined : storedZone(start.timeZone)
  const endMs = zone === undefined ? from + lastsMs - days : endLocal(zone, from, lastsMs - days)
  return { dateTime: formatLocal(endMs), timeZone: start.timeZone }
}

/** The day behind an all-day event. One that ends at a time includes the day of that time, unless it is midnight. */
function endDay(dtend: EventTime): number {
  const localMs = 'date' in dtend ? (parseDay(dtend.date) ?? 0) * DAY_MS : (parseLocal(dtend.dateTime) ?? 0)
  return Math.ceil(localMs / DAY_MS)
}

/** The wall clock after some time. */
function endLocal(zone: Zone, localMs: number, lastsMs: number): number {
  const endMs = toInstant(zone, localMs) + lastsMs
  return endMs + zone.readOffset(endMs)
}
