import { parseContentLine } from '../../platform/calendar/content-line.ts'
import { parseDuration } from '../../platform/calendar/duration.ts'
import { parseRecurrenceDate } from '../../platform/calendar/recurrence-date.ts'
import { type Rule, readRule } from '../../platform/calendar/rule.ts'
import { UTC, type Zone } from '../../platform/calendar/zone.ts'
import { zoneNamed } from './times.ts'

/** The recurrence lines of a series. */
interface Recurrence {
  rules: Rule[]
  /** EXRULE of RFC 2445, which Google still returns. */
  excludedRules: Rule[]
  added: LineDate[]
  excluded: LineDate[]
}

/** A value of an RDATE or EXDATE line, with its zone. */
export interface LineDate {
  isDate: boolean
  /** A wall clock in milliseconds, as if it were UTC. */
  localMs: number
  zone: Zone
  /** The end of a period, in UTC. */
  endMs: number | undefined
}

/** More dates, rules or zones than any real series has cost time for nothing. */
const MAX_DATES = 2000
const MAX_RULES = 20
const MAX_ZONES = 20

/**
 * Lines that are not valid are ignored. Times without a zone are in the zone of the series. `zones` are those of lines that were parsed
 * before: finding out that there is no zone of a name takes 0.1 ms.
 */
export function parseRecurrence(
  lines: readonly string[],
  seriesZone: Zone,
  zones: Map<string, Zone> = new Map(),
): Recurrence {
  const recurrence: Recurrence = { rules: [], excludedRules: [], added: [], excluded: [] }
  const zoneOfLine = (name: string | undefined) => {
    if (name === undefined) return seriesZone
    const cached = zones.get(name)
    if (cached !== undefined || zones.size >= MAX_ZONES) return cached ?? seriesZone
    const zone = zoneNamed(name) ?? seriesZone
    zones.set(name, zone)
    return zone
  }
  let dates = 0
  for (const text of lines) {
    if (dates >= MAX_DATES) break
    const line = parseContentLine(text)
    if (line?.name === 'RRULE' || line?.name === 'EXRULE') {
      const { rule } = readRule(line.value)
      const list = line.name === 'RRULE' ? recurrence.rules : recurrence.excludedRules
      if (rule !== undefined && list.length < MAX_RULES) list.push(rule)
    } else if (line?.name === 'RDATE' || line?.name === 'EXDATE') {
      const zone = zoneOfLine(line.parameters.get('TZID'))
      const values = line.value.split(',', MAX_DATES - dates)
      dates += values.length
      const parsed = values.map((value) => parseLineDate(value, zone)).filter((date) => date !== undefined)
      const list = line.name === 'RDATE' ? recurrence.added : recurrence.excluded
      list.push(...parsed)
    }
  }
  return recurrence
}

function parseLineDate(text: string, zone: Zone): LineDate | undefined {
  const date = parseRecurrenceDate(text)
  if (date === undefined) return undefined
  const { isDate, localMs, end } = date
  const own = date.isUtc ? UTC : zone
  return {
    isDate,
    localMs,
    zone: own,
    endMs: isDate || end === undefined ? undefined : periodEnd(end, localMs, own, zone),
  }
}

/** A period whose end makes no sense is as long as the instances of rules. */
function periodEnd(text: string, localMs: number, startZone: Zone, zone: Zone): number | undefined {
  const startMs = startZone.toUtc(localMs)
  const lastsMs = parseDuration(text)
  if (lastsMs !== undefined) return Math.max(startMs, startMs + lastsMs)
  const end = parseRecurrenceDate(text)
  if (end === undefined || end.isDate) return undefined
  return Math.max(startMs, (end.isUtc ? UTC : zone).toUtc(end.localMs))
}
