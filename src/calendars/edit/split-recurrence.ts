import { parseContentLine } from '../../platform/calendar/content-line.ts'
import { DAY_MS, formatLocal, parseDay } from '../../platform/calendar/days.ts'
import { readRule } from '../../platform/calendar/rule.ts'
import { generateStarts, type Steps } from '../../platform/calendar/rule-starts.ts'
import type { Zone } from '../../platform/calendar/zone.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { parseTime } from '../../platform/time/time.ts'
import type { EventTime } from '../../providers/contract/index.ts'
import { toIsoTime } from '../api.ts'
import { parseRecurrence } from '../instances/recurrence.ts'
import { type PlacedTime, placedTime } from '../instances/times.ts'

/** For the instances of all rules: with COUNT, a hundred years of a weekly series. */
const MAX_STEPS = 60_000

export interface SplitRecurrence {
  /** The lines of the series that ends before the instance. */
  before: string[]
  /** The lines of the series that begins with the instance. */
  after: string[]
}

interface Split {
  start: PlacedTime
  /** Where the second series begins, as a wall clock and in UTC. */
  localMs: number
  ms: number
  isFloating: boolean
  steps: Steps
  /** The zones of all lines. */
  zones: Map<string, Zone>
}

/** Divides the recurrence of a series at the instance that would start at `original`, as in ids of instances. Throws `not_supported`. */
export function splitRecurrence(
  lines: readonly string[],
  first: EventTime,
  original: string,
  calendarZone: string | null,
): SplitRecurrence {
  const start = placedTime(first, calendarZone)
  const day = parseDay(original)
  const ms = day === undefined ? (parseTime(toIsoTime(original)) ?? 0) : start.zone.toUtc(day * DAY_MS)
  const localMs = day === undefined ? start.zone.toLocal(ms) : day * DAY_MS
  const isFloating = 'dateTime' in first && first.timeZone === null
  const split: Split = { start, localMs, ms, isFloating, steps: { left: MAX_STEPS }, zones: new Map() }
  const result: SplitRecurrence = { before: [], after: [] }
  for (const text of lines) {
    const line = parseContentLine(text)
    const head = text.slice(0, text.length - (line?.value.length ?? 0))
    const parts =
      line?.name === 'RRULE'
        ? splitRule(line.value, split)
        : line?.name === 'RDATE' || line?.name === 'EXDATE'
          ? splitDates(head, line.value, split)
          : { before: line?.value, after: line?.value }
    if (parts.before !== undefined) result.before.push(`${head}${parts.before}`)
    if (parts.after !== undefined) result.after.push(`${head}${parts.after}`)
  }
  return result
}

interface Parts {
  before: string | undefined
  after: string | undefined
}

function splitRule(value: string, { start, localMs, ms, isFloating, steps }: Split): Parts {
  const { rule } = readRule(value)
  if (rule === undefined) return { before: value, after: value }
  const starts = (from: number, to: number) => generateStarts(rule, start.localMs, { from, to }, steps)
  const { count, until } = rule
  const untilMs = until && (until.isUtc ? start.zone.toLocal(until.ms) : until.ms)
  const isOver = untilMs !== undefined && starts(localMs, untilMs + 1).next().done === true
  const left = count === undefined ? undefined : count - [...starts(start.localMs, localMs)].length
  if (isOver || (left !== undefined && left <= 0)) return { before: value, after: undefined }
  // The second series repeats at the time of its first instance.
  if (starts(localMs, localMs + 1).next().done === true) {
    const message = 'This instance is an extra date of the series. Send the request for one that the RRULE repeats.'
    throw new AppError('not_supported', { message })
  }
  const others = value.split(';').filter((part) => !/^\s*(?:COUNT|UNTIL)\s*=/i.test(part))
  const last = start.isDate
    ? formatLocal(localMs - DAY_MS).slice(0, 10)
    : `${formatLocal((isFloating ? localMs : ms) - 1000)}${isFloating ? '' : 'Z'}`
  const before = [...others, `UNTIL=${last.replaceAll(/[-:]/g, '')}`].join(';')
  return { before, after: left === undefined ? value : [...others, `COUNT=${left}`].join(';') }
}

/** The instance itself is the start of the second series. */
function splitDates(head: string, value: string, { start, ms, zones }: Split): Parts {
  const dates = value.split(',').flatMap((text) => {
    const { added, excluded } = parseRecurrence([`${head}${text}`], start.zone, zones)
    const [date] = [...added, ...excluded]
    return date === undefined ? [] : [{ text, atMs: date.zone.toUtc(date.localMs) }]
  })
  const of = (isWanted: (atMs: number) => boolean) =>
    dates.flatMap(({ text, atMs }) => (isWanted(atMs) ? [text] : [])).join(',') || undefined
  return { before: of((atMs) => atMs < ms), after: of((atMs) => atMs > ms) }
}
