import { DAY_MS, formatDay } from '../../../../src/platform/calendar/days.ts'
import { WEEKDAYS } from '../../../../src/platform/calendar/rule.ts'
import type { PatternedRecurrence } from '../../../servers/microsoft/pattern.ts'
import type { Choices } from './choices.ts'
import { weekdayInMonth } from './rules.ts'

type Pattern = PatternedRecurrence['pattern']

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const INDEXES = ['first', 'second', 'third', 'fourth'] as const
const POSITIONS = { first: 1, second: 2, third: 3, fourth: 4, last: -1 }

/** One of Outlook's six patterns, of which this wall clock is the first instance. */
export function randomPattern(choices: Choices, startMs: number): Pattern {
  const { weekday, nth, isLast, dayOfMonth } = weekdayInMonth(startMs)
  const month = Number(formatDay(Math.floor(startMs / DAY_MS)).slice(5, 7))
  const own = DAYS[weekday] ?? 'monday'
  const index = isLast && (nth > 4 || choices.is(0.5)) ? ('last' as const) : (INDEXES[nth - 1] ?? 'last')
  const interval = choices.pick([1, 1, 1, 2, 3])
  const weekly = [...new Set([own, ...choices.some(DAYS, 3)])]
  // The last day of a month is also what 31 means.
  const isEnd = formatDay(Math.floor(startMs / DAY_MS) + 1).endsWith('-01')
  const day = isEnd && choices.is(0.5) ? 31 : dayOfMonth
  return choices.pick<Pattern>([
    { type: 'daily', interval },
    { type: 'weekly', interval, daysOfWeek: weekly, firstDayOfWeek: choices.pick(DAYS) },
    { type: 'absoluteMonthly', interval, dayOfMonth: day },
    { type: 'relativeMonthly', interval, daysOfWeek: [own], index },
    { type: 'absoluteYearly', interval: 1, month, dayOfMonth: day },
    { type: 'relativeYearly', interval: 1, month, daysOfWeek: [own], index },
  ])
}

/** Converts the pattern to a rule of RFC 5545, without its end. */
export function ruleOfPattern({ type, interval, month, dayOfMonth = 1, daysOfWeek, firstDayOfWeek, index }: Pattern) {
  const every = interval === 1 ? '' : `;INTERVAL=${interval}`
  const weekdays = (daysOfWeek ?? []).map((day) => WEEKDAYS[DAYS.indexOf(day)])
  const days = Array.from({ length: Math.max(1, dayOfMonth - 27) }, (_, at) => dayOfMonth - at).reverse()
  const onDay = `BYMONTHDAY=${days.join(',')}${dayOfMonth > 28 ? ';BYSETPOS=-1' : ''}`
  const onWeekday = `BYDAY=${POSITIONS[index ?? 'first']}${weekdays[0]}`
  const firstDay = WEEKDAYS[DAYS.indexOf(firstDayOfWeek ?? 'sunday')]
  if (type === 'daily') return `FREQ=DAILY${every}`
  if (type === 'weekly') return `FREQ=WEEKLY${every};BYDAY=${weekdays.join(',')};WKST=${firstDay}`
  if (type === 'absoluteMonthly') return `FREQ=MONTHLY${every};${onDay}`
  if (type === 'relativeMonthly') return `FREQ=MONTHLY${every};${onWeekday}`
  if (type === 'absoluteYearly') return `FREQ=YEARLY;BYMONTH=${month};${onDay}`
  return `FREQ=YEARLY;BYMONTH=${month};${onWeekday}`
}
