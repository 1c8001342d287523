import { formatLocal } from '../../lib/calendar/days.ts'
import type { Zone } from '../../lib/calendar/zone.ts'
import type { EventTime } from './calendar.ts'

/**
 * A point in time as a local time of `zone`. The second of two equal local times, when clocks are set back, is given in UTC,
 * because readers take the first.
 */
export function zonedTime(ms: number, zone: Zone): EventTime {
  const localMs = zone.toLocal(ms)
  const isFirst = zone.toUtc(localMs) === ms
  return isFirst
    ? { dateTime: formatLocal(localMs), timeZone: zone.name }
    : { dateTime: formatLocal(ms), timeZone: 'UTC' }
}
