import { DAY_MS, formatDay } from '../../platform/calendar/days.ts'
import type { Rule, Until } from '../../platform/calendar/rule.ts'
import { generateStarts, type Steps } from '../../platform/calendar/rule-starts.ts'
import { UTC } from '../../platform/calendar/zone.ts'
import type { EventTime, SeriesMove, TimeRange } from '../../providers/contract/index.ts'
import { SeriesMoves } from './moves.ts'
import { type LineDate, parseRecurrence } from './recurrence.ts'
import { dayIn, localIn, measureLength, type OriginalStart, type PlacedTime, placedTime } from './times.ts'

export interface Series {
  start: EventTime
  end: EventTime
  durationDays?: number | undefined
  /** RRULE, RDATE, EXDATE and EXRULE lines. None for a single event. */
  recurrence: readonly string[]
  /** In order. */
  moves?: readonly SeriesMove[]
  /** The original starts of exceptions, which are events of their own. */
  exceptions: readonly EventTime[]
}

export interface Instance {
  originalStart: OriginalStart
  startMs: number
  endMs: number
  /** Set for an instance that was moved with those after it, if it may differ from the series. */
  busy?: boolean
}

/** An hourly series has 9,500 in a window of thirteen months. */
const MAX_INSTANCES = 12_000
/** The limit for a series with several starts in an hour, which no person has. */
const MAX_DENSE_INSTANCES = 2000
/** For all rules of a series: 15 ms, or a hundred years of a weekly series with COUNT. */
const MAX_STEPS = 60_000
/** No zone is further from UTC, and no clock change is larger. */
const ZONES_MS = 2 * DAY_MS

/**
 * The instances of a series that overlap `window`, in order: those that end after `from` and start before `to`, as Google defines
 * timeMin and timeMax. `start` is an instance unless every rule ends before it. Where there are too many to compute, the last one lasts
 * until the end of the window: what is unknown is not free.
 */
export function expandSeries(series: Series, calendarZone: string | null, window: TimeRange): Instance[] {
  const expansion = new Expansion(series, calendarZone, window)
  return expansion.instances()
}

class Expansion {
  readonly #window: TimeRange
  readonly #start: PlacedTime
  readonly #length: ReturnType<typeof measureLength>
  readonly #moves: SeriesMoves
  readonly #recurrence: ReturnType<typeof parseRecurrence>
  readonly #excluded: Exclusions
  readonly #limit: number
  readonly #steps: Steps = { left: MAX_STEPS }
  readonly #found = new Map<OriginalStart, Instance>()

  constructor(series: Series, calendarZone: string | null, window: TimeRange) {
    const start = placedTime(series.start, calendarZone)
    this.#window = window
    this.#start = start
    this.#length = measureLength(start, placedTime(series.end, calendarZone), series.durationDays)
    this.#moves = new SeriesMoves(series.moves ?? [], start, calendarZone)
    this.#recurrence = parseRecurrence(series.recurrence, start.zone)
    this.#limit = this.#recurrence.rules.some(isDense) ? MAX_DENSE_INSTANCES : MAX_INSTANCES
    this.#excluded = new Exclusions(start)
    for (const date of this.#recurrence.excluded) if (this.#isNear(date)) this.#excluded.add(date)
    for (const time of series.exceptions) this.#excluded.add(placedTime(time, calendarZone))
    for (const rule of this.#recurrence.excludedRules) {
      let left = this.#limit
      for (const { startMs } of this.#generateStarts(rule)) {
        this.#excluded.addStart(startMs)
        left -= 1
        if (left <= 0) break
      }
    }
  }

  instances(): Instance[] {
    const { rules, added } = this.#recurrence
    if (rules.length === 0) this.#add(this.#start.localMs)
    for (const rule of rules) {
      for (const { localMs } of this.#generateStarts(rule)) {
        this.#add(localMs)
        if (this.#found.size >= this.#limit) break
      }
    }
    for (const date of added.filter((each) => this.#isNear(each))) {
      const localMs = localIn(this.#start, date)
      // An instant may be the second of two with this wall clock.
      if (this.#start.isDate || date.isDate) this.#add(localMs)
      else this.#add(localMs, { startMs: date.zone.toUtc(date.localMs), endMs: date.endMs })
    }
    const found = [...this.#found.values()].sort((left, right) => left.startMs - right.startMs)
    const isCut = found.length >= this.#limit || (this.#steps.left <= 0 && rules.length > 0)
    return isCut ? this.#withRest(found.slice(0, this.#limit)) : found
  }

  /** `exact`: of an added date that is an instant. */
  #add(givenMs: number, exact?: { startMs: number; endMs: number | undefined }): void {
    const { isDate, zone } = this.#start
    // An all-day event starts at midnight, also where its rule has hours.
    const localMs = isDate ? Math.floor(givenMs / DAY_MS) * DAY_MS : givenMs
    const originalMs = exact?.startMs ?? zone.toUtc(localMs)
    if (this.#excluded.has(localMs, originalMs)) return
    const moved = this.#moves.at(localMs)
    if (moved === null) return
    const startMs = moved === undefined ? originalMs : zone.toUtc(moved.localMs)
    const ownEndMs = exact?.endMs ?? this.#length.instanceEnd(localMs, startMs)
    const busy = moved?.busy === undefined ? {} : { busy: moved.busy }
    const instance = { startMs, endMs: moved === undefined ? ownEndMs : moved.instanceEnd(startMs), ...busy }
    if (instance.startMs >= this.#window.to || instance.endMs <= this.#window.from) return
    const originalStart = isDate ? formatDay(localMs / DAY_MS) : originalMs
    if (!this.#found.has(originalStart)) this.#found.set(originalStart, { originalStart, ...instance })
  }

  /** In order of the wall clock. Where clocks go forward, two starts may be the same instant or in the other order. */
  *#generateStarts(rule: Rule): Generator<{ localMs: number; startMs: number }, void> {
    const start = this.#start
    const until = resolveUntil(rule.until, start)
    const range = this.#range()
    const to = until === undefined ? range.to : Math.min(range.to, lastLocal(until, start) + 1)
    for (const localMs of generateStarts(rule, start.localMs, { from: range.from, to }, this.#steps)) {
      const startMs = start.zone.toUtc(localMs)
      if (until?.isUtc !== true || startMs <= until.ms) yield { localMs, startMs }
    }
  }

  /** Wall clocks of original starts whose instances may be in the window. */
  #range(): { from: number; to: number } {
    const { from, to } = this.#window
    const { isDate, zone } = this.#start
    const { longestMs, furthestMs } = this.#moves
    return zone.localRange(
      from - Math.max(this.#length.longestMs, longestMs) - furthestMs,
      to + (isDate ? DAY_MS : 0) + furthestMs,
    )
  }

  #isNear({ localMs, endMs }: LineDate): boolean {
    const { from, to } = this.#window
    const marginMs = ZONES_MS + this.#moves.furthestMs
    const lastsMs = Math.max(this.#length.longestMs, this.#moves.longestMs)
    return localMs < to + marginMs && Math.max(localMs + lastsMs, endMs ?? 0) > from - marginMs
  }

  /** With one instance in place of all that were not computed, unless every rule ends before. */
  #withRest(found: Instance[]): Instance[] {
    const fromMs = Math.max(found.at(-1)?.endMs ?? this.#window.from, this.#start.zone.toUtc(this.#start.localMs))
    const lasts = this.#recurrence.rules.map(({ until }) => {
      const last = resolveUntil(until, this.#start)
      return last === undefined ? this.#window.to : this.#start.zone.toUtc(lastLocal(last, this.#start))
    })
    const toMs = Math.min(this.#window.to, Math.max(...lasts))
    if (fromMs >= toMs) return found
    const originalStart = this.#start.isDate ? formatDay(Math.floor(this.#start.zone.toLocal(fromMs) / DAY_MS)) : fromMs
    return [...found, { originalStart, startMs: fromMs, endMs: toMs }]
  }
}

function isDense({ frequency, byMinute = [], bySecond = [] }: Rule): boolean {
  return frequency === 'MINUTELY' || frequency === 'SECONDLY' || byMinute.length > 1 || bySecond.length > 1
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
    if (this.#start.isDate || date.isDate) this.#days.add(dayIn(this.#start, date))
    else this.#startsMs.add(date.zone.toUtc(date.localMs))
  }

  addStart(startMs: number): void {
    this.#startsMs.add(startMs)
  }

  has(localMs: number, startMs: number): boolean {
    return this.#startsMs.has(startMs) || this.#days.has(Math.floor(localMs / DAY_MS))
  }
}

/** All-day events end with a date. Programs that write a time mean its date where the event takes place. */
function resolveUntil(until: Until | undefined, start: PlacedTime): Until | undefined {
  if (until === undefined || !start.isDate) return until
  const zone = until.isUtc ? UTC : start.zone
  return { ms: (dayIn(start, { isDate: false, localMs: until.ms, zone }) + 1) * DAY_MS - 1, isUtc: false }
}

function lastLocal({ ms, isUtc }: Until, { zone }: PlacedTime): number {
  return isUtc ? zone.localRange(ms, ms).to : ms
}
