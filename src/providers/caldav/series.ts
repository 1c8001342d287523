import { parseContentLine } from '../../lib/calendar/content-line.ts'
import { DAY_MS, formatDay, formatLocal, parseDay, parseLocal } from '../../lib/calendar/days.ts'
import { parseRule, type Rule } from '../../lib/calendar/rule.ts'
import { startsOf } from '../../lib/calendar/rule-starts.ts'
import { UTC, type Zone, zoneOf } from '../../lib/calendar/zone.ts'
import type { EventTime, RemoteEvent } from '../contract/index.ts'

/** Start and end of one instance of a series, in the form of the master. */
export interface InstanceTimes {
  start: EventTime
  end: EventTime
}

const MAX_STEPS = 60_000

/** The instance that starts at `at`. Undefined when the series has none, or excludes it. */
export function instanceTimes(master: RemoteEvent, at: EventTime): InstanceTimes | undefined {
  const isDate = 'date' in master.start
  const zone = zoneOfTime(master.start)
  const localMs = localIn(at, zone, isDate)
  if (localMs === undefined || !isInstance(master, localMs, zone)) return undefined
  return isDate ? dates(master, localMs) : times(master, localMs, zone)
}

function dates(master: RemoteEvent, localMs: number): InstanceTimes {
  const day = localMs / DAY_MS
  return {
    start: { date: formatDay(day) },
    end: { date: formatDay(day + dayOf(master.end) - dayOf(master.start)) },
  }
}

/** Every instance lasts equally long (RFC 5545, 3.8.5.3). */
function times(master: RemoteEvent, localMs: number, zone: Zone): InstanceTimes {
  const lastsMs = utcOf(master.end) - utcOf(master.start)
  const timeZone = 'dateTime' in master.start ? master.start.timeZone : null
  return {
    start: { dateTime: formatLocal(localMs), timeZone },
    end: { dateTime: formatLocal(zone.toLocal(zone.toUtc(localMs) + lastsMs)), timeZone },
  }
}

function isInstance(master: RemoteEvent, localMs: number, zone: Zone): boolean {
  const startMs = localIn(master.start, zone, 'date' in master.start) ?? 0
  const steps = { left: MAX_STEPS }
  let isIncluded = localMs === startMs
  for (const text of master.recurrence) {
    const { name, value = '', parameters } = parseContentLine(text) ?? {}
    const own = zoneOf(parameters?.get('TZID') ?? '') ?? zone
    if (name === 'RRULE') {
      const rule = parseRule(value)
      if (rule === undefined || isOver(rule, localMs, zone)) continue
      for (const at of startsOf(rule, startMs, { from: localMs, to: localMs + 1 }, steps)) isIncluded ||= at === localMs
    } else if (name === 'RDATE' || name === 'EXDATE') {
      const isNamed = value.split(',').some((each) => isAt(each.split('/')[0] ?? '', own, { localMs, zone }))
      if (isNamed && name === 'EXDATE') return false
      isIncluded ||= isNamed
    }
  }
  return isIncluded
}

function isOver({ until }: Rule, localMs: number, zone: Zone): boolean {
  if (until === undefined) return false
  return until.isUtc ? zone.toUtc(localMs) > until.ms : localMs > until.ms
}

/** Whether a value of a line is this instance; a date is every instance of its day. */
function isAt(value: string, own: Zone, { localMs, zone }: { localMs: number; zone: Zone }): boolean {
  const day = parseDay(value.trim())
  if (day !== undefined) return day === Math.floor(localMs / DAY_MS)
  const isUtc = /z$/i.test(value.trim())
  const ms = parseLocal(value.trim().replace(/z$/i, ''))
  return ms !== undefined && (isUtc ? UTC : own).toUtc(ms) === zone.toUtc(localMs)
}

/** Floating times are compared by their wall clock. */
function zoneOfTime(time: EventTime): Zone {
  return ('dateTime' in time && time.timeZone !== null ? zoneOf(time.timeZone) : undefined) ?? UTC
}

function localIn(time: EventTime, zone: Zone, isDate: boolean): number | undefined {
  if ('date' in time) {
    const day = parseDay(time.date)
    return day === undefined || !isDate ? undefined : day * DAY_MS
  }
  const localMs = parseLocal(time.dateTime)
  if (localMs === undefined) return undefined
  if (isDate) return Math.floor(localMs / DAY_MS) * DAY_MS
  return time.timeZone === null || time.timeZone === zone.name ? localMs : zone.toLocal(zoneOfTime(time).toUtc(localMs))
}

function utcOf(time: EventTime): number {
  return 'date' in time ? dayOf(time) * DAY_MS : zoneOfTime(time).toUtc(parseLocal(time.dateTime) ?? 0)
}

function dayOf(time: EventTime): number {
  return parseDay('date' in time ? time.date : time.dateTime.slice(0, 10)) ?? 0
}
