import { type CivilDate, civilDate, daysOfMonth, daysOfYear, toDay, weekdayOf } from './days.ts'
import type { Rule } from './rule.ts'

/** The days of a rule's periods. Period 0 contains the start. */
interface RuleDays {
  /** The number of the period that contains a day. Hours, minutes and seconds have days as periods. */
  periodOf(day: number): number
  firstDayOf(period: number): number
  /** The days from `firstDay` to before `endDay`, a period, that every BY part which is about days matches. In order. */
  daysIn(firstDay: number, endDay: number): number[]
}

export function ruleDays(givenRule: Rule, startDay: number): RuleDays {
  const rule = completed(givenRule, startDay)
  return { ...periods(rule, startDay), daysIn: matcher(rule) }
}

/** Where the rule does not say which day of its period, it is the one of the start. */
function completed(rule: Rule, startDay: number): Rule {
  const { frequency, byMonth, byWeekNumber, byYearDay, byMonthDay, byDay } = rule
  const start = civilDate(startDay)
  const ownWeekday = [{ weekday: weekdayOf(startDay), position: 0 }]
  const names = [byYearDay, byMonthDay, byDay]
  if (names.some((list) => list !== undefined)) return rule
  if (byWeekNumber !== undefined || frequency === 'WEEKLY') return { ...rule, byDay: ownWeekday }
  if (frequency === 'MONTHLY') return { ...rule, byMonthDay: [start.dayOfMonth] }
  if (frequency === 'YEARLY') return { ...rule, byMonthDay: [start.dayOfMonth], byMonth: byMonth ?? [start.month] }
  return rule
}

function periods({ frequency, weekStart }: Rule, startDay: number): Omit<RuleDays, 'daysIn'> {
  const start = civilDate(startDay)
  if (frequency === 'YEARLY') {
    return {
      periodOf: (day) => civilDate(day).year - start.year,
      firstDayOf: (period) => toDay(start.year + period, 1, 1),
    }
  }
  if (frequency === 'MONTHLY') {
    const monthOf = ({ year, month }: CivilDate) => year * 12 + month - 1
    const first = monthOf(start)
    return {
      periodOf: (day) => monthOf(civilDate(day)) - first,
      firstDayOf: (period) => toDay(Math.floor((first + period) / 12), ((first + period) % 12) + 1, 1),
    }
  }
  const length = frequency === 'WEEKLY' ? 7 : 1
  const first = frequency === 'WEEKLY' ? startOfWeek(startDay, weekStart) : startDay
  return {
    periodOf: (day) => Math.floor((day - first) / length),
    firstDayOf: (period) => first + period * length,
  }
}

function matcher(rule: Rule): RuleDays['daysIn'] {
  const { frequency, byDay, weekStart, skip } = rule
  const byMonth = toSet(rule.byMonth)
  const byMonthDay = toSet(rule.byMonthDay)
  const byYearDay = toSet(rule.byYearDay)
  const byWeekNumber = toSet(rule.byWeekNumber)
  const expandsMonths = frequency === 'YEARLY' || frequency === 'MONTHLY'
  const hasPositions =
    byWeekNumber === undefined && expandsMonths && byDay?.some(({ position }) => position !== 0) === true
  const weekdays = byDay === undefined ? undefined : new Set(byDay.map(({ weekday }) => weekday))
  const positionsInMonth = frequency === 'MONTHLY' || byMonth !== undefined
  const lastMonthDay = skip !== undefined && expandsMonths ? Math.max(0, ...(rule.byMonthDay ?? [])) : 0

  return (firstDay, endDay) => {
    const days: number[] = []
    for (let day = firstDay; day < endDay; day += 1) {
      if (matches(day) && days.at(-1) !== day) days.push(day)
      const moved = skip === 'FORWARD' ? day + 1 : day
      if (isTooShort(day) && matchesInMonth(moved) && days.at(-1) !== moved) days.push(moved)
    }
    return days
  }

  /** Whether it is the last day of a month that does not have a day of the rule, which is then moved. */
  function isTooShort(day: number): boolean {
    if (lastMonthDay <= 28) return false
    const { year, month, dayOfMonth } = civilDate(day)
    const length = daysOfMonth(year, month)
    return dayOfMonth === length && lastMonthDay > length && byMonth?.has(month) !== false
  }

  function matches(day: number): boolean {
    if (weekdays !== undefined && !weekdays.has(weekdayOf(day))) return false
    const { year, month, dayOfMonth } = civilDate(day)
    if (byMonth?.has(month) === false) return false
    if (byMonthDay !== undefined && !includes(byMonthDay, dayOfMonth, daysOfMonth(year, month))) return false
    return matchesInMonth(day)
  }

  /** Without the parts that select months and their days. */
  function matchesInMonth(day: number): boolean {
    const weekday = weekdayOf(day)
    if (weekdays !== undefined && !weekdays.has(weekday)) return false
    const { year, month, dayOfMonth } = civilDate(day)
    const dayOfYear = () => day - toDay(year, 1, 1) + 1
    if (byYearDay !== undefined && !includes(byYearDay, dayOfYear(), daysOfYear(year))) return false
    if (byWeekNumber !== undefined && !isInWeek(byWeekNumber, day, weekStart)) return false
    if (!hasPositions) return true
    const [nth, length] = positionsInMonth ? [dayOfMonth, daysOfMonth(year, month)] : [dayOfYear(), daysOfYear(year)]
    const fromStart = Math.ceil(nth / 7)
    const fromEnd = -Math.ceil((length - nth + 1) / 7)
    return byDay.some(
      (each) =>
        each.weekday === weekday && (each.position === 0 || each.position === fromStart || each.position === fromEnd),
    )
  }
}

function toSet(list: number[] | undefined): Set<number> | undefined {
  return list === undefined ? undefined : new Set(list)
}

/** Negative numbers count from the end: -1 is the last of `length`. */
function includes(numbers: Set<number>, number: number, length: number): boolean {
  return numbers.has(number) || numbers.has(number - length - 1)
}

function startOfWeek(day: number, weekStart: number): number {
  return day - ((weekdayOf(day) - weekStart + 7) % 7)
}

/** Week 1 is the first with at least four days in its year. Days of it may belong to the year before. */
function isInWeek(numbers: Set<number>, day: number, weekStart: number): boolean {
  const start = startOfWeek(day, weekStart)
  const { year } = civilDate(start + 3)
  const first = startOfWeek(toDay(year, 1, 4), weekStart)
  const next = startOfWeek(toDay(year + 1, 1, 4), weekStart)
  return includes(numbers, (start - first) / 7 + 1, (next - first) / 7)
}
