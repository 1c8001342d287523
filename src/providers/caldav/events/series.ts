import { parseContentLine } from '../../../platform/calendar/content-line.ts'
import { DAY_MS, formatDay, formatLocal, LAST_DAY, parseDay, parseLocal } from '../../../platform/calendar/days.ts'
import { parseRecurrenceDate } from '../../../platform/calendar/recurrence-date.ts'
import { type Rule, readRule } from '../../../platform/calendar/rule.ts'
import { generateStarts } from '../../../platform/calendar/rule-starts.ts'
import { findZone, storedZone, UTC, type Zone } from '../../../platform/calendar/zone.ts'
import type { EventTime, RemoteEvent } from '../../contract/index.ts'

/** Start and end of one instance of a series, in the form of the master. */
interface InstanceTimes {
  start: EventTime
  end: EventTime
}

/** For all rules of a series, however many instances are looked up. */
const MAX_STEPS = 60_000

/** The instance that starts at `at`. Undefined when the series has none, or excludes it. */
export function instanceTimes(master: RemoteEvent, at: EventTime): InstanceTimes | undefined {
  const isDate = 'date' in master.start
  const zone = zoneOfTime(master.start)
  const localMs = localIn(at, zone, isDate)
  if (localMs === undefined || !new SeriesInstances(master, [at]).has(at)) return undefined
  return isDate ? dates(master, localMs) : times(master, localMs, zone)
}

/** Whether the event is a series whose first instance ended before that time. */
export function isSeriesFrom(event: RemoteEvent, beforeMs: number): boolean {
  return event.recurrence.some((line) => /^RRULE/i.test(line)) && toUtc(event.end) < beforeMs
}

/** Whether an event, or an instance of a series, may end after that time. What takes long to find out counts as one. */
export function goesOnAfter(event: RemoteEvent, fromMs: number): boolean {
  if (toUtc(event.end) >= fromMs || event.moves !== undefined) return true
  const zone = zoneOfTime(event.start)
  const startMs = localIn(event.start, zone, 'date' in event.start) ?? 0
  const lastsMs = toUtc(event.end) - toUtc(event.start)
  const range = { from: zone.toLocal(fromMs) - lastsMs - DAY_MS, to: LAST_DAY * DAY_MS }
  const steps = { left: MAX_STEPS }
  for (const line of event.recurrence) {
    const { name, value = '' } = parseContentLine(line) ?? {}
    if (name === 'RDATE') return true
    const rule = name === 'RRULE' ? readRule(value).rule : undefined
    if (rule === undefined) continue
    const [next] = generateStarts(rule, startMs, range, steps)
    if (next !== undefined && !isOver(rule, next, zone)) return true
  }
  return steps.left <= 0
}

/** Which of some times are instances of a series. Walks through the series once, because it may have thousands of exceptions. */
export class SeriesInstances {
  readonly #isDate: boolean
  readonly #zone: Zone
  /** Wall clocks of the instances of rules among the times. */
  readonly #starts = new Set<number>()
  readonly #added: LineDates
  readonly #excluded: LineDates

  constructor(master: RemoteEvent, times: readonly EventTime[]) {
    this.#isDate = 'date' in master.start
    this.#zone = zoneOfTime(master.start)
    this.#added = new LineDates(this.#zone)
    this.#excluded = new LineDates(this.#zone)
    const startMs = localIn(master.start, this.#zone, this.#isDate) ?? 0
    this.#starts.add(startMs)
    const wanted = times.map((at) => localIn(at, this.#zone, this.#isDate)).filter((localMs) => localMs !== undefined)
    const rules: Rule[] = []
    for (const text of master.recurrence) {
      const { name, value = '', parameters } = parseContentLine(text) ?? {}
      const rule = name === 'RRULE' ? readRule(value).rule : undefined
      if (rule !== undefined) rules.push(rule)
      if (name === 'RDATE') this.#added.add(value, findZone(parameters?.get('TZID') ?? ''))
      if (name === 'EXDATE') this.#excluded.add(value, findZone(parameters?.get('TZID') ?? ''))
    }
    this.#findStarts(rules, startMs, wanted)
  }

  has(at: EventTime): boolean {
    const localMs = localIn(at, this.#zone, this.#isDate)
    if (localMs === undefined || this.#excluded.has(localMs)) return false
    return this.#starts.has(localMs) || this.#added.has(localMs)
  }

  #findStarts(rules: readonly Rule[], startMs: number, wanted: readonly number[]): void {
    const times = new Set(wanted)
    const sorted = [...times].sort((left, right) => left - right)
    const range = { from: sorted[0] ?? 0, to: (sorted.at(-1) ?? -1) + 1 }
    const steps = { left: MAX_STEPS }
    for (const rule of rules) {
      for (const at of generateStarts(rule, startMs, range, steps)) {
        if (isOver(rule, at, this.#zone)) break
        if (times.has(at)) this.#starts.add(at)
      }
    }
  }
}

/** The dates of RDATE or EXDATE lines. A date without a time is every instance of its day. */
class LineDates {
  readonly #seriesZone: Zone
  readonly #days = new Set<number>()
  readonly #instantsMs = new Set<number>()

  constructor(seriesZone: Zone) {
    this.#seriesZone = seriesZone
  }

  add(value: string, zone: Zone = this.#seriesZone): void {
    for (const each of value.split(',')) {
      const date = parseRecurrenceDate(each)
      if (date === undefined) continue
      if (date.isDate) this.#days.add(date.localMs / DAY_MS)
      else this.#instantsMs.add((date.isUtc ? UTC : zone).toUtc(date.localMs))
    }
  }

  has(localMs: number): boolean {
    return this.#days.has(Math.floor(localMs / DAY_MS)) || this.#instantsMs.has(this.#seriesZone.toUtc(localMs))
  }
}

function dates(master: RemoteEvent, localMs: number): InstanceTimes {
  const day = localMs / DAY_MS
  return {
    start: { date: formatDay(day) },
    end: { date: formatDay(day + toDay(master.end) - toDay(master.start)) },
  }
}

/** Every instance lasts equally long (RFC 5545, 3.8.5.3). */
function times(master: RemoteEvent, localMs: number, zone: Zone): InstanceTimes {
  const lastsMs = toUtc(master.end) - toUtc(master.start)
  const timeZone = 'dateTime' in master.start ? master.start.timeZone : null
  return {
    start: { dateTime: formatLocal(localMs), timeZone },
    end: { dateTime: formatLocal(zone.toLocal(zone.toUtc(localMs) + lastsMs)), timeZone },
  }
}

function isOver({ until }: Rule, localMs: number, zone: Zone): boolean {
  if (until === undefined) return false
  return until.isUtc ? zone.toUtc(localMs) > until.ms : localMs > until.ms
}

/** Floating times are compared by their wall clock. */
function zoneOfTime(time: EventTime): Zone {
  return ('dateTime' in time && time.timeZone !== null ? storedZone(time.timeZone) : undefined) ?? UTC
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

function toUtc(time: EventTime): number {
  return 'date' in time ? toDay(time) * DAY_MS : zoneOfTime(time).toUtc(parseLocal(time.dateTime) ?? 0)
}

function toDay(time: EventTime): number {
  return parseDay('date' in time ? time.date : time.dateTime.slice(0, 10)) ?? 0
}
