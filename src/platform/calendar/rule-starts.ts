import { DAY_MS, LAST_DAY } from './days.ts'
import type { Rule } from './rule.ts'
import { ruleDays } from './rule-days.ts'

/** A range of wall clocks: `from` ≤ t < `to`. */
interface LocalRange {
  from: number
  to: number
}

/** The budget that all rules of a series share. A rule that has no steps left ends there. */
export interface Steps {
  left: number
}

/** Days in order, and the times of each of them. BYSETPOS applies to this set. */
interface Period {
  days: number[]
  hours: number[]
  minutes: number[]
  seconds: number[]
}

const SECOND_MS = 1000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const UNITS_MS: Record<string, number | undefined> = { HOURLY: HOUR_MS, MINUTELY: MINUTE_MS, SECONDLY: SECOND_MS }
/** Considering a day is one step; a time, a period and an hour, minute or second of a rule cost more. */
const STEPS_PER_TIME = 4

/**
 * The starts of a rule in a range of wall clocks, in order. `start` is always the first instance and counts for COUNT, also where
 * the rule does not match it (RFC 5545, 3.3.10). Without COUNT, the cost does not depend on how long ago `start` was.
 */
export function* generateStarts(rule: Rule, start: number, range: LocalRange, steps: Steps): Generator<number, void> {
  if (start >= range.from && start < range.to) yield start
  const earliest = Math.max(start + 1, range.from)
  const step = plainStep(rule)
  if (step !== undefined) return yield* plainStarts(rule, start, step, { from: earliest, to: range.to }, steps)
  const count = { left: (rule.count ?? Number.POSITIVE_INFINITY) - 1 }
  const from = rule.count === undefined ? earliest : start + 1
  for (const period of generatePeriods(rule, start, { from, to: range.to }, steps)) {
    const times =
      rule.bySetPosition === undefined
        ? generateTimes(period, { start, earliest }, count, steps)
        : timesAt(period, rule.bySetPosition)
    for (const at of times) {
      if (at < from) continue
      if (count.left <= 0 || at >= range.to) return
      count.left -= 1
      if (at >= earliest) yield at
    }
    if (count.left <= 0) return
  }
}

/** The distance of the starts where it is always the same. Undefined for other rules. */
function plainStep(rule: Rule): number | undefined {
  const unit = UNITS_MS[rule.frequency]
  const { byMonth, byWeekNumber, byYearDay, byMonthDay, byDay, byHour, byMinute, bySecond, bySetPosition } = rule
  const parts = [byMonth, byWeekNumber, byYearDay, byMonthDay, byDay, byHour, byMinute, bySecond, bySetPosition]
  return unit === undefined || parts.some((list) => list !== undefined) ? undefined : unit * rule.interval
}

/** At a distance, at a step each: an hourly series without an end has thousands. */
function* plainStarts(
  { count = Number.POSITIVE_INFINITY }: Rule,
  start: number,
  step: number,
  { from, to }: LocalRange,
  steps: Steps,
) {
  const passed = Math.ceil((from - start) / step)
  const end = Math.min(to, start + count * step, (LAST_DAY + 1) * DAY_MS)
  for (let at = start + passed * step; at < end && steps.left > 0; at += step) {
    steps.left -= 1
    yield at
  }
}

/** The times of a period in order. Days and hours between `start` and `earliest` are counted, but not visited. */
function* generateTimes(
  period: Period,
  bounds: { start: number; earliest: number },
  count: { left: number },
  steps: Steps,
) {
  const { days, hours, minutes, seconds } = period
  const { start, earliest } = bounds
  const perHour = minutes.length * seconds.length
  const isPassed = (fromMs: number, lastsMs: number) => fromMs > start && fromMs + lastsMs <= earliest
  for (const day of days) {
    if (isPassed(day * DAY_MS, DAY_MS)) {
      count.left -= hours.length * perHour
      continue
    }
    for (const hour of hours) {
      const hourMs = day * DAY_MS + hour * HOUR_MS
      if (isPassed(hourMs, HOUR_MS)) {
        count.left -= perHour
        continue
      }
      for (const minute of minutes) {
        for (const second of seconds) {
          steps.left -= STEPS_PER_TIME
          if (steps.left <= 0) return
          yield hourMs + minute * MINUTE_MS + second * SECOND_MS
        }
      }
    }
  }
}

/** The times at the positions of BYSETPOS. The set is not written out, because a year may have 31 million seconds. */
function* timesAt({ days, hours, minutes, seconds }: Period, positions: number[]) {
  const perHour = minutes.length * seconds.length
  const perDay = hours.length * perHour
  const size = days.length * perDay
  const indexes = new Set(positions.map((position) => (position > 0 ? position - 1 : size + position)))
  for (const index of [...indexes].sort((left, right) => left - right)) {
    if (index < 0 || index >= size) continue
    const day = days[Math.floor(index / perDay)] ?? 0
    const hour = hours[Math.floor((index % perDay) / perHour)] ?? 0
    const minute = minutes[Math.floor((index % perHour) / seconds.length)] ?? 0
    const second = seconds[index % seconds.length] ?? 0
    yield day * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS
  }
}

function* generatePeriods(rule: Rule, start: number, range: LocalRange, steps: Steps): Generator<Period, void> {
  const unit = UNITS_MS[rule.frequency]
  const { periodOf, firstDayOf, daysIn } = ruleDays(rule, Math.floor(start / DAY_MS))
  // Rules by hour, minute or second make every day a candidate: their INTERVAL does not count days.
  const interval = unit === undefined ? rule.interval : 1
  const time = timeParts(start)
  const hours = rule.byHour ?? [time.hour]
  const minutes = rule.byMinute ?? [time.minute]
  const seconds = rule.bySecond ?? [time.second]
  // A day that was moved forward may be the first one behind its period.
  const fromDay = Math.floor(range.from / DAY_MS) - (rule.skip === 'FORWARD' ? 1 : 0)
  const first = Math.floor(periodOf(fromDay) / interval) * interval
  for (let period = first; steps.left > 0; period += interval) {
    const firstDay = firstDayOf(period)
    const endDay = firstDayOf(period + 1)
    if (firstDay > LAST_DAY || firstDay * DAY_MS >= range.to) return
    const days = daysIn(firstDay, endDay)
    steps.left -= endDay - firstDay
    if (days.length === 0) continue
    steps.left -= STEPS_PER_TIME
    if (unit === undefined) yield { days, hours, minutes, seconds }
    else {
      for (const atMs of unitsOfDay(rule, unit, start, firstDay, range.from, steps)) {
        const { hour, minute, second } = timeParts(atMs)
        yield {
          days,
          hours: [hour],
          minutes: unit === HOUR_MS ? minutes : [minute],
          seconds: unit === SECOND_MS ? [second] : seconds,
        }
      }
    }
  }
}

/** The hours, minutes or seconds of a day that the rule matches and that are not over at `from`, as wall clocks. */
function* unitsOfDay(rule: Rule, unit: number, start: number, day: number, from: number, steps: Steps) {
  const { interval, byHour, byMinute, bySecond } = rule
  const origin = Math.floor(start / unit)
  const aligned = (ms: number) => (origin + Math.max(0, Math.ceil((ms / unit - origin) / interval)) * interval) * unit
  const endMs = (day + 1) * DAY_MS
  let atMs = aligned(Math.max(day * DAY_MS, Math.floor(from / unit) * unit))
  while (atMs < endMs && steps.left > 0) {
    steps.left -= STEPS_PER_TIME
    const { hour, minute, second } = timeParts(atMs)
    if (byHour?.includes(hour) === false) atMs = aligned(Math.floor(atMs / HOUR_MS + 1) * HOUR_MS)
    else if (unit !== HOUR_MS && byMinute?.includes(minute) === false) {
      atMs = aligned(Math.floor(atMs / MINUTE_MS + 1) * MINUTE_MS)
    } else {
      if (unit !== SECOND_MS || bySecond?.includes(second) !== false) yield atMs
      atMs += interval * unit
    }
  }
}

function timeParts(localMs: number): { hour: number; minute: number; second: number } {
  const seconds = Math.floor(localMs / SECOND_MS) - Math.floor(localMs / DAY_MS) * 86_400
  return { hour: Math.floor(seconds / 3600), minute: Math.floor(seconds / 60) % 60, second: seconds % 60 }
}
