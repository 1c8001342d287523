import { type Component, property } from '../../../platform/calendar/components.ts'
import { DAY_MS, formatDay, formatLocal, parseDay, parseLocal } from '../../../platform/calendar/days.ts'
import { parseDuration } from '../../../platform/calendar/duration.ts'
import { storedZone, toInstant, type Zone } from '../../../platform/calendar/zone.ts'
import type { EventTime, RemoteEvent } from '../../contract/index.ts'

/** When an event ends, never before its start. `dtend` is the time of DTEND. Undefined where DTEND or DURATION is none. */
export function findEnd(event: Component, start: EventTime, dtend: EventTime | undefined): EventTime | undefined {
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
  const days = countDays(duration) * DAY_MS
  const exactMs = Math.max(0, durationMs ?? 0) - days
  const from = (parseLocal(start.dateTime) ?? 0) + days
  const zone = start.timeZone === null ? undefined : storedZone(start.timeZone)
  if (zone !== undefined) return timeAfter(zone, from, exactMs)
  return { dateTime: formatLocal(from + exactMs), timeZone: start.timeZone }
}

/** An instance that says nothing else lasts as long as its series. */
export function endLike(master: RemoteEvent | undefined, start: EventTime): EventTime | undefined {
  if (master === undefined) return undefined
  if ('date' in start) {
    if (!('date' in master.start && 'date' in master.end)) return undefined
    const days = (parseDay(master.end.date) ?? 0) - (parseDay(master.start.date) ?? 0)
    return { ...start, date: formatDay((parseDay(start.date) ?? 0) + days) }
  }
  if ('date' in master.start || 'date' in master.end) return undefined
  const lastsMs = (parseLocal(master.end.dateTime) ?? 0) - (parseLocal(master.start.dateTime) ?? 0)
  return { ...start, dateTime: formatLocal((parseLocal(start.dateTime) ?? 0) + lastsMs) }
}

/** RFC 5545, 3.8.5.3: instances last as long as DURATION says nominally, and exactly as long as DTEND says. */
export function durationDays(event: Component, start: EventTime): { durationDays?: number } {
  if ('date' in start || (property(event, 'RRULE') === undefined && property(event, 'RDATE') === undefined)) return {}
  const days = property(event, 'DTEND') === undefined ? countDays(property(event, 'DURATION')?.value ?? '') : 0
  return days === 0 ? {} : { durationDays: days }
}

/** The days of a DURATION. One in hours has none. */
function countDays(duration: string): number {
  return /\d[DW]/i.test(duration) ? Math.floor(Math.max(0, parseDuration(duration) ?? 0) / DAY_MS) : 0
}

/** The day behind an all-day event. One that ends at a time includes the day of that time, unless it is midnight. */
function endDay(dtend: EventTime): number {
  const localMs = 'date' in dtend ? (parseDay(dtend.date) ?? 0) * DAY_MS : (parseLocal(dtend.dateTime) ?? 0)
  return Math.ceil(localMs / DAY_MS)
}

/** In UTC where the wall clock would mean another time, because it is the second of two. */
function timeAfter(zone: Zone, localMs: number, lastsMs: number): EventTime {
  const endMs = toInstant(zone, localMs) + lastsMs
  const endLocal = endMs + zone.readOffset(endMs)
  const isFirst = toInstant(zone, endLocal) === endMs
  return isFirst
    ? { dateTime: formatLocal(endLocal), timeZone: zone.name }
    : { dateTime: formatLocal(endMs), timeZone: 'UTC' }
}
