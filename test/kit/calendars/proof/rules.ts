import { DAY_MS, formatDay, weekdayOf } from '../../../../src/platform/calendar/days.ts'
import { readRule, WEEKDAYS } from '../../../../src/platform/calendar/rule.ts'
import { generateStarts } from '../../../../src/platform/calendar/rule-starts.ts'
import type { Choices } from './choices.ts'

/** A rule without its end, and what is special about it. */
export interface RandomRule {
  kind: string
  text: string
}

const MAX_STARTS = 400

/** Creates a rule for an event that starts near the wall clock `nearMs`. */
export function randomRule(choices: Choices, nearMs: number, isAllDay: boolean): RandomRule {
  const kinds = [plainRule, plainRule, positionRule, oddRule, ...(isAllDay ? [] : [hourRule])]
  return choices.pick(kinds)(choices, nearMs)
}

function plainRule(choices: Choices, nearMs: number): RandomRule {
  const day = Math.floor(nearMs / DAY_MS)
  const month = Number(formatDay(day).slice(5, 7))
  const weekdays = choices.some(WEEKDAYS, 4).join(',')
  const interval = choices.is(0.4) ? `;INTERVAL=${choices.whole(2, 3)}` : ''
  const weekStart = choices.is(0.4) ? `;WKST=${choices.pick(WEEKDAYS)}` : ''
  const position = choices.pick([1, 2, 3, 4, -1, -2])
  const dayOfMonth = choices.pick([1, 15, 25, 28, 29, 30, 31, -1, -2])
  const [kind, text] = choices.pick<[string, string]>([
    ['daily', `FREQ=DAILY${interval}`],
    ['daily', `FREQ=DAILY;BYDAY=${weekdays}`],
    ['weekly', `FREQ=WEEKLY${interval}`],
    ['weekly', `FREQ=WEEKLY${interval};BYDAY=${weekdays}${weekStart}`],
    ['monthly', `FREQ=MONTHLY;BYMONTHDAY=${dayOfMonth}`],
    ['monthly', `FREQ=MONTHLY${interval};BYDAY=${position}${choices.pick(WEEKDAYS)}`],
    ['monthly', 'FREQ=MONTHLY'],
    ['yearly', `FREQ=YEARLY;BYMONTH=${month};BYDAY=${position}${choices.pick(WEEKDAYS)}`],
    ['yearly', `FREQ=YEARLY;BYMONTH=${month}`],
    ['yearly', 'FREQ=YEARLY'],
  ])
  return { kind: text.includes('WKST') ? 'WKST' : kind, text }
}

function positionRule(choices: Choices, nearMs: number): RandomRule {
  const weekdays = choices.some(WEEKDAYS, 5).join(',')
  const position = choices.pick(['1', '-1', '2', '1,-1', '-2'])
  const weekStart = choices.is(0.4) ? `;WKST=${choices.pick(WEEKDAYS)}` : ''
  const yearDay = Math.floor((nearMs - Date.UTC(Number(formatDay(nearMs / DAY_MS).slice(0, 4)), 0, 1)) / DAY_MS) + 1
  const week = Math.min(52, Math.max(1, Math.ceil(yearDay / 7)))
  const yearDays = [yearDay - 9, yearDay, yearDay + 4].filter((day) => day >= 1 && day <= 365)
  const [kind, text] = choices.pick<[string, string]>([
    ['BYSETPOS', `FREQ=MONTHLY;BYDAY=${weekdays};BYSETPOS=${position}`],
    ['BYSETPOS', `FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1`],
    ['BYSETPOS', `FREQ=WEEKLY;BYDAY=${weekdays};BYSETPOS=${position}${weekStart}`],
    ['BYWEEKNO', `FREQ=YEARLY;BYWEEKNO=${week},-1${weekStart}`],
    ['BYWEEKNO', `FREQ=YEARLY;BYWEEKNO=${week};BYDAY=${weekdays}${weekStart}`],
    ['BYYEARDAY', `FREQ=YEARLY;BYYEARDAY=${yearDays.join(',')},-1`],
  ])
  return { kind, text }
}

/** Several in a day, also where a day has 23 or 25 hours. */
function hourRule(choices: Choices): RandomRule {
  const text = choices.pick([
    'FREQ=HOURLY',
    `FREQ=HOURLY;INTERVAL=${choices.whole(2, 7)}`,
    `FREQ=HOURLY;BYHOUR=${choices.some([0, 1, 2, 3, 23], 3).join(',')}`,
    `FREQ=MINUTELY;INTERVAL=${choices.pick([45, 90, 100, 1439])}`,
    `FREQ=DAILY;BYHOUR=${choices.some([0, 1, 2, 3, 23], 3).join(',')};BYMINUTE=${choices.some([0, 15, 30, 45], 2).join(',')}`,
    `FREQ=DAILY;BYHOUR=${choices.some([1, 2, 3, 4], 3).join(',')};BYSETPOS=${choices.pick(['1', '-1'])}`,
  ])
  return { kind: 'several a day', text }
}

/** As programs write rules that no RFC allows. */
function oddRule(choices: Choices, nearMs: number): RandomRule {
  const { text } = plainRule(choices, nearMs)
  const odd = choices.pick([
    text.toLowerCase(),
    `${text};X-NAME=1`,
    `${text};SKIP=OMIT`,
    text.includes('INTERVAL') ? text : `${text};INTERVAL=0`,
    text.includes('BYDAY=') ? text.replace('BYDAY=', 'BYDAY=XX,') : `${text};X-NAME=1`,
  ])
  return { kind: 'odd rule', text: odd }
}

/** The first wall clocks of a rule from `fromMs` on; `startMs` is the first of all. */
export function startsFrom(text: string, startMs: number, fromMs: number, days: number): number[] {
  const { rule } = readRule(text)
  const found: number[] = []
  if (rule === undefined) return found
  for (const ms of generateStarts(rule, startMs, { from: fromMs, to: fromMs + days * DAY_MS }, { left: 60_000 })) {
    found.push(ms)
    if (found.length === MAX_STARTS) break
  }
  return found
}

/** `FR`, the n-th of its month, and whether it is the last. */
export function weekdayInMonth(localMs: number) {
  const day = Math.floor(localMs / DAY_MS)
  const dayOfMonth = Number(formatDay(day).slice(8))
  const isLast = formatDay(day + 7).slice(5, 7) !== formatDay(day).slice(5, 7)
  return { weekday: weekdayOf(day), nth: Math.ceil(dayOfMonth / 7), isLast, dayOfMonth }
}
