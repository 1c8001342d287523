import { DAY_MS } from '../../../../src/platform/calendar/days.ts'
import type { PatternedRecurrence } from '../../../servers/microsoft/pattern.ts'
import type { Choices } from './choices.ts'
import { randomPattern, ruleOfPattern } from './patterns.ts'
import { randomRule, startsFrom } from './rules.ts'
import { basic, basicUtc, dateText, exists, wallText } from './times.ts'

export interface Repetition {
  kinds: string[]
  startMs: number
  rule: string
  pattern: PatternedRecurrence | null
  /** Instances near the clock change, as wall clocks. */
  nearby: number[]
}

/** The zone and range of a series. A series without a zone has the calendar's. */
export interface SeriesPlace {
  zone: string
  isAllDay: boolean
  /** Wall clocks. */
  range: { from: number; to: number }
}

/** A series that begins near `startMs`, or long before it. */
export function randomRepetition(choices: Choices, startMs: number, place: SeriesPlace): Repetition {
  return choices.is(0.45) ? patternSeries(choices, startMs, place) : ruleSeries(choices, startMs, place)
}

function patternSeries(choices: Choices, startMs: number, place: SeriesPlace): Repetition {
  const pattern = randomPattern(choices, startMs)
  const text = ruleOfPattern(pattern)
  const nearby = nearbyStarts(text, startMs, place)
  const startDate = dateText(startMs)
  const last = nearby.length === 0 ? startMs : choices.pick(nearby)
  const kinds = [`pattern ${pattern.type}`]
  const end = choices.pick(['noEnd', 'numbered', 'endDate'] as const)
  const repetition = { kinds, startMs, nearby }
  if (end === 'noEnd') return { ...repetition, rule: text, pattern: { pattern, range: { type: end, startDate } } }
  if (end === 'numbered') {
    const count = startsFrom(text, startMs, startMs, (last - startMs) / DAY_MS + 1).length
    const range = { type: end, startDate, numberOfOccurrences: count }
    return { ...repetition, kinds: [...kinds, 'COUNT'], rule: `${text};COUNT=${count}`, pattern: { pattern, range } }
  }
  const range = { type: end, startDate, endDate: dateText(last) }
  const until = place.isAllDay ? basic(dateText(last)) : basicUtc(last, place.zone)
  return { ...repetition, kinds: [...kinds, 'UNTIL'], rule: `${text};UNTIL=${until}`, pattern: { pattern, range } }
}

function ruleSeries(choices: Choices, nearMs: number, place: SeriesPlace): Repetition {
  const { kind, text } = randomRule(choices, nearMs, place.isAllDay)
  const kinds = [kind]
  const isYearly = /freq=yearly/i.test(text)
  const isLong = kind !== 'several a day' && (isYearly || choices.is(0.25))
  const back = isLong ? (isYearly ? 365 * choices.whole(0, 2) : choices.whole(1, 700)) : 0
  let startMs = nearMs - back * DAY_MS
  if (choices.is(0.75)) startMs = startsFrom(text, startMs, startMs + 1, 800)[0] ?? startMs
  const nearby = nearbyStarts(text, startMs, place)
  const ends = choices.pick(['never', 'COUNT', 'UNTIL', 'UNTIL'])
  const last = nearby.length === 0 ? startMs : choices.pick(nearby)
  if (ends === 'never') return { kinds, startMs, rule: text, pattern: null, nearby }
  if (ends === 'COUNT') {
    const count = Math.max(1, startsFrom(text, startMs, startMs, (last - startMs) / DAY_MS + 1).length)
    return { kinds: [...kinds, 'COUNT'], startMs, rule: `${text};COUNT=${count}`, pattern: null, nearby }
  }
  const [form, until] = untilText(choices, last, place)
  return { kinds: [...kinds, form], startMs, rule: `${text};UNTIL=${until}`, pattern: null, nearby }
}

/** At an instance, shortly before it, or a day after it. */
function untilText(choices: Choices, lastMs: number, { zone, isAllDay }: SeriesPlace): [kind: string, text: string] {
  const ms = lastMs + choices.pick([0, 0, -1000, 60_000, DAY_MS])
  const form = choices.pick(isAllDay ? ['date', 'date', 'UTC'] : ['UTC', 'UTC', 'UTC', 'local', 'date'])
  if (form === 'UTC') return ['UNTIL in UTC', basicUtc(ms, zone)]
  return form === 'date'
    ? ['UNTIL as a date', basic(dateText(ms))]
    : ['UNTIL as a local time', basic(wallText(ms, false))]
}

function nearbyStarts(text: string, startMs: number, { range, isAllDay, zone }: SeriesPlace): number[] {
  const starts = startsFrom(text, startMs, Math.max(startMs, range.from), (range.to - range.from) / DAY_MS)
  return starts.filter((ms) => ms < range.to && (isAllDay || exists(ms, zone)))
}
