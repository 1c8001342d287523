import { DAY_MS, dayOf } from '../days.ts'
import type { ReadOffset } from './clock.ts'

/** Local mean time applies to everything before. */
const FIRST_MS = dayOf(1800, 1, 1) * DAY_MS

/** Offsets as `Intl` has them, at a microsecond each. Undefined for a zone that it does not know. */
export function runtimeReader(name: string): ReadOffset | undefined {
  const format = formatIn(name)
  if (format === undefined) return undefined
  return (utcMs) => {
    const atMs = Math.floor(Math.max(utcMs, FIRST_MS) / 1000) * 1000
    const [month = 0, day = 0, year = 0, hours = 0, minutes = 0, seconds = 0] = (
      format.format(atMs).match(/\d+/g) ?? []
    ).map(Number)
    return dayOf(year, month, day) * DAY_MS + (hours * 3600 + minutes * 60 + seconds) * 1000 - atMs
  }
}

function formatIn(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
