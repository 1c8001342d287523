import { groupBy } from '../group-by.ts'
import type { Component } from './components.ts'
import { civilDate, DAY_MS, daysOfMonth, formatLocal, toDay, weekdayOf } from './days.ts'
import { offsetText } from './formatting.ts'
import { parseRule, WEEKDAYS } from './rule.ts'
import { generateStarts } from './rule-starts.ts'
import { type ClockChange, findZone } from './zone.ts'

const YEARS = 10
const MAX_CHANGES = 60

/**
 * Describes an IANA zone for programs that do not know its name, from a year before `nearMs`: by yearly rules where the clock changes
 * of ten years follow them, otherwise by these changes. Undefined for an unknown zone.
 */
export function describeZone(name: string, nearMs: number): Component | undefined {
  const zone = findZone(name)
  if (zone === undefined) return undefined
  const { year } = civilDate(Math.floor(nearMs / DAY_MS))
  const changes = zone.changes(year - 1, year + YEARS).slice(0, MAX_CHANGES)
  return {
    name: 'VTIMEZONE',
    lines: [`TZID:${name}`],
    components: changes.length === 0 ? [constant(zone.toLocal(nearMs) - nearMs)] : observances(changes, year),
  }
}

function observances(changes: readonly ClockChange[], year: number): Component[] {
  const byOffsets = groupBy(changes, (change) => `${change.beforeMs} ${change.afterMs}`)
  const rules = [...byOffsets.values()].map((alike) => ({ first: alike[0], rule: yearlyRule(alike, year) }))
  if (rules.every(({ rule }) => rule !== undefined)) {
    return rules.flatMap(({ first, rule = '' }) => (first === undefined ? [] : [observance(first, [`RRULE:${rule}`])]))
  }
  return changes.map((change) => observance(change, []))
}

/** The rule that all of these changes follow, such as the last Sunday of March. */
function yearlyRule(changes: readonly ClockChange[], year: number): string | undefined {
  const onsets = changes.map(({ atMs, beforeMs }) => atMs + beforeMs)
  const [first] = onsets
  if (first === undefined) return undefined
  const day = Math.floor(first / DAY_MS)
  const date = civilDate(day)
  const isLast = date.dayOfMonth > daysOfMonth(date.year, date.month) - 7
  const positions = [...(isLast ? [-1] : []), Math.ceil(date.dayOfMonth / 7)]
  const end = toDay(year + YEARS + 1, 1, 1) * DAY_MS
  return positions
    .map((position) => `FREQ=YEARLY;BYMONTH=${date.month};BYDAY=${position}${WEEKDAYS[weekdayOf(day)]}`)
    .find((text) => {
      const rule = parseRule(text)
      const starts =
        rule === undefined ? [] : [...generateStarts(rule, first, { from: first, to: end }, { left: 20_000 })]
      return starts.length === onsets.length && starts.every((start, index) => start === onsets[index])
    })
}

function observance({ atMs, beforeMs, afterMs }: ClockChange, more: string[]): Component {
  const lines = [
    `DTSTART:${formatLocal(atMs + beforeMs).replaceAll(/[-:]/g, '')}`,
    `TZOFFSETFROM:${offsetText(beforeMs)}`,
    `TZOFFSETTO:${offsetText(afterMs)}`,
    ...more,
  ]
  return { name: afterMs > beforeMs ? 'DAYLIGHT' : 'STANDARD', lines, components: [] }
}

function constant(offsetMs: number): Component {
  const offset = offsetText(offsetMs)
  const lines = ['DTSTART:19700101T000000', `TZOFFSETFROM:${offset}`, `TZOFFSETTO:${offset}`]
  return { name: 'STANDARD', lines, components: [] }
}
