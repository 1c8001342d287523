import { DAY_MS } from '../../../../src/platform/calendar/days.ts'
import { type ClockChange, findZone } from '../../../../src/platform/calendar/zone.ts'
import type { TimeRange } from '../../../../src/providers/contract/index.ts'
import type { Choices } from './choices.ts'

/** The names that Windows has for them, if it has one of their own. */
export const ZONES: Readonly<Record<string, string | null>> = {
  'Europe/Berlin': 'W. Europe Standard Time',
  'Europe/London': 'GMT Standard Time',
  'America/New_York': 'Eastern Standard Time',
  'America/Los_Angeles': 'Pacific Standard Time',
  'America/Vancouver': null,
  'America/Sao_Paulo': 'E. South America Standard Time',
  'America/Santiago': 'Pacific SA Standard Time',
  'America/Havana': 'Cuba Standard Time',
  'Australia/Sydney': 'AUS Eastern Standard Time',
  'Australia/Lord_Howe': 'Lord Howe Standard Time',
  'Pacific/Auckland': 'New Zealand Standard Time',
  'Pacific/Chatham': 'Chatham Islands Standard Time',
  'Africa/Cairo': 'Egypt Standard Time',
  'Africa/Casablanca': 'Morocco Standard Time',
  'Asia/Jerusalem': 'Israel Standard Time',
  'Asia/Beirut': 'Middle East Standard Time',
  'Asia/Kolkata': 'India Standard Time',
}
export const ZONE_NAMES = Object.keys(ZONES)
/** Zones that releases of 2026 have changed, and from when on. A system may have an older time zone database. */
export const CHANGED_ZONES: Readonly<Record<string, string>> = {
  'Africa/Casablanca': '2026-09-20T01:00:00Z',
  'America/Havana': '2026-11-01T05:00:00Z',
  'America/Vancouver': '2026-11-01T09:00:00Z',
}
export const FIRST_YEAR = 2025
export const LAST_YEAR = 2028

/** A zone and a time that its calendars are about. */
export interface Place {
  zone: string
  /** Around a clock change, if the zone has any. */
  window: TimeRange
  /** The clock change, as a wall clock before it. */
  changeLocalMs: number
  changeMs: number
}

const WINDOW = { before: 10 * DAY_MS, after: 18 * DAY_MS }

export function choosePlace(choices: Choices): Place {
  const zone = choices.pick(ZONE_NAMES)
  const changes = zoneNamed(zone).changes(FIRST_YEAR, LAST_YEAR)
  const change = changes.length === 0 ? noChange(choices, zone) : choices.pick(changes)
  const changeLocalMs = change.atMs + change.beforeMs
  const dayMs = Math.floor(change.atMs / DAY_MS) * DAY_MS
  const window = { from: dayMs - WINDOW.before, to: dayMs + WINDOW.after }
  return { zone, window, changeLocalMs, changeMs: change.atMs }
}

/** Some day, at two in the morning. */
function noChange(choices: Choices, zone: string): ClockChange {
  const day = Math.floor(Date.UTC(FIRST_YEAR, 0, 20) / DAY_MS) + choices.whole(0, 4 * 365 - 60)
  const offset = zoneNamed(zone).readOffset(day * DAY_MS)
  return { atMs: day * DAY_MS + 2 * 3_600_000 - offset, beforeMs: offset, afterMs: offset }
}

export function zoneNamed(name: string) {
  const zone = findZone(name)
  if (zone === undefined) throw new Error(`The time zone database has no ${name}.`)
  return zone
}
