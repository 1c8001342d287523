import { DAY_MS } from './days.ts'
import { findZone, UTC, type Zone } from './zone.ts'

/** Formats instants as the clocks of a zone show them. Node's `Intl` may have an older time zone database. */
interface WallClock {
  format(utcMs: number): string
  formatRange(fromMs: number, toMs: number): string
}

/** UTC for a name that is no zone. */
export function wallClock(
  locale: string,
  timeZone: string,
  options: Omit<Intl.DateTimeFormatOptions, 'timeZone' | 'timeZoneName'>,
): WallClock {
  const zone = findZone(timeZone) ?? UTC
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
  return {
    format: (utcMs) => format.format(zone.toLocal(utcMs)),
    formatRange: (fromMs, toMs) => format.formatRange(zone.toLocal(fromMs), zone.toLocal(toMs)),
  }
}

/**
 * The offset of a range that begins or ends at a time that clocks show twice, because they go back: `UTC+02:00`, or `UTC+02:00 – UTC+01:00`
 * where it changes within the range.
 */
export function repeatedOffset(timeZone: string, fromMs: number, toMs: number): string | undefined {
  const zone = findZone(timeZone) ?? UTC
  if (!isRepeated(zone, fromMs) && !isRepeated(zone, toMs)) return undefined
  const offsets = [fromMs, toMs].map((utcMs) => offsetText(zone.toLocal(utcMs) - utcMs))
  return [...new Set(offsets)].join(' \u2013 ')
}

function isRepeated(zone: Zone, utcMs: number): boolean {
  const localMs = zone.toLocal(utcMs)
  if (zone.toUtc(localMs) !== utcMs) return true
  const secondMs = localMs - (zone.toLocal(utcMs + DAY_MS) - utcMs - DAY_MS)
  return secondMs > utcMs && zone.toLocal(secondMs) === localMs
}

function offsetText(offsetMs: number): string {
  const minutes = Math.floor(Math.abs(offsetMs) / 60_000)
  const digits = [Math.floor(minutes / 60), minutes % 60].map((number) => String(number).padStart(2, '0')).join(':')
  return `UTC${offsetMs < 0 ? '-' : '+'}${digits}`
}
