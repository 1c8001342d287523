import { DAY_MS, formatDay } from '../../../lib/calendar/days.ts'
import type { Rule, Until } from '../../../lib/calendar/rule.ts'
import { type Steps, startsOf } from '../../../lib/calendar/rule-starts.ts'
import type { EventTime, TimeRange } from '../../../providers/contract/index.ts'
import { type LineDate, parseRecurrence } from './recurrence.ts'
import { lengthOf, type OriginalStart, type PlacedTime, placedTime } from './times.ts'

export interface Series {
  start: EventTime
  end: EventTime
  /** RRULE, RDATE, EXDATE and EXRULE lines. None for a single event. */
  recurrence: readonly string[]
  /** The original starts of exceptions, which are events of their own. */
  exceptions: readonly EventTime[]
}

export interface Instance {
  originalStart: OriginalStart
  startMs: number
  endMs: number
}

const MAX_INSTANCES = 2000
/** For all rules of a series: 15 ms, or a hundred years of a weekly series with COUNT. */
const MAX_STEPS = 60_000
/** No zone is further from UTC, and no clock change is larger. */
const ZONES_MS = 2 * DAY_MS

/**
 * The instances of a series that overlap `window`, in order: those that end after `from` and start before `to`, as Google defines
 * timeMin and timeMax. The first 2,000 where there are more. `start` is an instance unless every rule ends before it.
 */
export function instancesOf(series: Series, calendarZone: string | null, window: TimeRange): Instance[] {
  const start = placedTime(series.start, calendarZone)
  const { longestMs, endOf } = lengthOf(start, placedTime(series.end, calendarZone))
  const range = start.zone.localRange(window.from - longestMs, window.to + (start.isDate ? DAY_MS : 0))
  const steps: Steps = { left: MAX_STEPS }
  const recurrence = parseRecurrence(series.recurrence, start.zone)
  const isNear = ({ localMs, endMs }: LineDate) =>
    localMs < window.to + ZONES_MS && Math.max(localMs + longestMs, endMs ?? 0) > window.from - ZONES_MS

  const excluded = new Exclusions(start)
  for (const date of recurrence.excluded) if (isNear(date)) excluded.add(date)
  for (const time of series.exceptions) excluded.add(placedTime(time, calendarZone))
  for (const rule of recurrence.excludedRules) {
    let left = MAX_INSTANCES
    for (const { startMs } of ruleStarts(rule, start, range, steps)) {
      excluded.addStart(startMs)
      left -= 1
      if (left <= 0) break
    }
  }

  const found = new Map<OriginalStart, Instance>()
  function add(localMs: number, startMs: number, endMs: number): void {
    if (startMs >= window.to || endMs <= window.from || excluded.has(localMs, startMs)) return
    const originalStart = start.isDate ? formatDay(Math.floor(localMs / DAY_MS)) : startMs
    if (!found.has(originalStart)) found.set(originalStart, { originalStart, startMs, endMs })
  }
  if (recurrence.rules.length === 0) add(...withEnd(start.localMs))
  for (const rule of recurrence.rules) {
    const limit = found.size + MAX_INSTANCES
    for (const { localMs } of ruleStarts(rule, start, range, steps)) {
      add(...withEnd(localMs))
      if (found.size >= limit) break
    }
  }
  for (const date of recurrence.added.filter(isNear)) {
    const localMs = localIn(start, date)
    const [, startMs, endMs] = withEnd(localMs)
    add(localMs, startMs, start.isDate ? endMs : (date.endMs ?? endMs))
  }
  return [...found.values()].sort((left, right) => left.startMs - right.startMs).slice(0, MAX_INSTANCES)

  /** An all-day event starts at midnight, also where its rule has hours. */
  function withEnd(givenMs: number): [localMs: number, startMs: number, endMs: number] {
    const localMs = start.isDate ? Math.floor(givenMs / DAY_MS) * DAY_MS : givenMs
    const startMs = start.zone.toUtc(localMs)
    return [localMs, startMs, endOf(localMs, startMs)]
  }
}

/** Instances that are not: an EXDATE or an exception with a date excludes all instances of that day. */
class Exclusions {
  readonly #start: PlacedTime
  readonly #startsMs = new Set<number>()
  readonly #days = new Set<number>()

  constructor(start: PlacedTime) {
    this.#start = start
  }

  add(date: PlacedTime): void {
    if (this.#start.isDate || date.isDate) this.#days.add(Math.floor(date.localMs / DAY_MS))
    else this.#startsMs.add(date.zone.toUtc(date.localMs))
  }

  addStart(startMs: number): void {
    this.#startsMs.add(startMs)
  }

  has(localMs: number, startMs: number): boolean {
    return this.#startsMs.has(startMs) || this.#days.has(Math.floor(localMs / DAY_MS))
  }
}

/** In order of the wall clock. Where clocks go forward, two starts may be the same instant or in the other order. */
function* ruleStarts(rule: Rule, start: PlacedTime, range: { from: number; to: number }, steps: Steps) {
  const until = untilOf(rule.until, start)
  const to = until === undefined ? range.to : Math.min(range.to, lastLocal(until, start) + 1)
  for (const localMs of startsOf(rule, start.localMs, { from: range.from, to }, steps)) {
    const startMs = start.zone.toUtc(localMs)
    if (until?.isUtc !== true || startMs <= until.ms) yield { localMs, startMs }
  }
}

/** All-day events end with a date. Programs that write a time mean its date. */
function untilOf(until: Until | undefined, start: PlacedTime): Until | undefined {
  return until !== undefined && start.isDate ? { ...until, isUtc: false } : until
}

function lastLocal({ ms, isUtc }: Until, { zone }: PlacedTime): number {
  return isUtc ? zone.localRange(ms, ms).to : ms
}

/** Where a date of an RDATE line is in the zone of the series. A date without time has the time of the series. */
function localIn(start: PlacedTime, date: LineDate): number {
  const day = Math.floor(date.localMs / DAY_MS) * DAY_MS
  if (start.isDate) return day
  if (date.isDate) return day + (start.localMs - Math.floor(start.localMs / DAY_MS) * DAY_MS)
  return date.zone === start.zone ? date.localMs : start.zone.toLocal(date.zone.toUtc(date.localMs))
}
