import { type Component, property, withoutProperties } from '../../../platform/calendar/components.ts'
import type { ContentLine } from '../../../platform/calendar/content-line.ts'
import { DAY_MS, parseDay, parseLocal } from '../../../platform/calendar/days.ts'
import { findZone, toInstant } from '../../../platform/calendar/zone.ts'

/** `zone`: the name as it is written; null for a floating time, `day` for a date. */
interface WrittenTime {
  localMs: number
  zone: string | null
}

const DAY = 'day'

/**
 * Removes each DTEND that is not later than its DTSTART. RFC 5545 forbids it (3.8.2.4), and Cyrus 3.6 refuses it. Without DTEND, an
 * event ends when it starts, and an all-day event after one day (3.6.1), as a DTEND that is not later is read.
 */
export function omitEmptyEnds(calendar: Component): void {
  for (const event of calendar.components) {
    if (event.name !== 'VEVENT') continue
    const start = writtenTime(property(event, 'DTSTART'))
    const end = writtenTime(property(event, 'DTEND'))
    if (start !== undefined && end !== undefined && !mayBeLater(end, start)) {
      event.lines = withoutProperties(event, ['DTEND'])
    }
  }
}

function writtenTime(line: ContentLine | undefined): WrittenTime | undefined {
  const value = line?.value.trim() ?? ''
  const day = parseDay(value)
  if (day !== undefined) return { localMs: day * DAY_MS, zone: DAY }
  const isUtc = /z$/i.test(value)
  const localMs = parseLocal(isUtc ? value.slice(0, -1) : value)
  return localMs === undefined ? undefined : { localMs, zone: isUtc ? 'UTC' : (line?.parameters.get('TZID') ?? null) }
}

/** True also where the zones cannot be compared. */
function mayBeLater(end: WrittenTime, start: WrittenTime): boolean {
  if (end.zone === start.zone) return end.localMs > start.localMs
  const [endMs, startMs] = [end, start].map(({ localMs, zone }) => {
    const eventZone = zone === null || zone === DAY ? undefined : findZone(zone)
    return eventZone && toInstant(eventZone, localMs)
  })
  return endMs === undefined || startMs === undefined || endMs > startMs
}
