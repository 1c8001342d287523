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
    return { date: formatDay(Math.max(startDay + 1, dtend === undefined ? startDay + lasts : dayOf(dtend))) }
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

function dayOf(time: EventTime): number {
  return parseDay('date' in time ? time.date : time.dateTime.slice(0, 10)) ?? 0
}

/** The wall clock after some time. */
function endLocal(zone: Zone, localMs: number, lastsMs: number): number {
  const endMs = toInstant(zone, localMs) + lastsMs
  return endMs + zone.readOffset(endMs)
}
