import { findZone } from '../../../../src/platform/calendar/zone.ts'
import type { DescribedTimes } from './described.ts'
import { zoneNamed } from './place.ts'
import { toLocal } from './times.ts'

const HOUR_MS = 3_600_000

/** Start and end in UTC, in a calendar of this zone. */
export function toInstants({ start, end, zone, endZone, isSecond }: DescribedTimes, calendarZone: string) {
  const startMs = toInstant(start, zone ?? calendarZone, isSecond)
  return { startMs, endMs: Math.max(startMs, toInstant(end, endZone ?? zone ?? calendarZone)) }
}

export function toInstant(wall: string, zoneName: string, isSecond = false): number {
  const zone = zoneNamed(zoneName)
  const firstMs = zone.toUtc(toLocal(wall))
  return isSecond ? toLocal(wall) - zone.readOffset(firstMs + 3 * HOUR_MS) : firstMs
}

/** `2026-03-29T01:30:00Z` */
export function utcText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

/** `2026-03-29T03:30:00+02:00` */
export function offsetTime(ms: number, zoneName: string): string {
  const offsetMs = findZone(zoneName)?.readOffset(ms) ?? 0
  const minutes = Math.abs(offsetMs) / 60_000
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const offset = `${offsetMs < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
  return `${utcText(ms + offsetMs).slice(0, -1)}${offset}`
}
