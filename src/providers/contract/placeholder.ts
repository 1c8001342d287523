import { DAY_MS, formatDay, formatLocal, parseDay, parseLocal } from '../../platform/calendar/days.ts'
import type { RemoteEvent, TimeRange } from './calendar.ts'

/** Limits one placeholder. The latest instances are kept: nobody books the past. */
const MAX_INSTANCES = 1000

type PlaceholderTimes = Pick<RemoteEvent, 'start' | 'end' | 'recurrence'>

/**
 * The times of a placeholder with these instances, in UTC. An all-day series has dates: Graph returns them from midnight to midnight in UTC,
 * and they take place in the zone of the calendar. Undefined without instances.
 */
export function placeholderTimes(instances: readonly TimeRange[]): PlaceholderTimes | undefined {
  const ends = new Map<number, number>()
  for (const { from, to } of instances) ends.set(from, Math.max(to, ends.get(from) ?? to))
  const sorted = [...ends].sort(([one], [other]) => one - other).slice(-MAX_INSTANCES)
  const [first] = sorted
  if (first === undefined) return undefined
  const [startMs, endMs] = first
  const isAllDay = sorted.every(([from, to]) => to > from && from % DAY_MS === 0 && to % DAY_MS === 0)
  if (!isAllDay) {
    const periods = sorted.map(([from, to]) => `${utcText(from)}/${utcText(to)}`)
    return { start: utcTime(startMs), end: utcTime(endMs), recurrence: [`RDATE;VALUE=PERIOD:${periods.join(',')}`] }
  }
  const longestMs = Math.max(...sorted.map(([from, to]) => to - from))
  return {
    start: { date: formatDay(startMs / DAY_MS) },
    end: { date: formatDay((startMs + longestMs) / DAY_MS) },
    recurrence: [`RDATE;VALUE=DATE:${sorted.map(([from]) => utcText(from).slice(0, 8)).join(',')}`],
  }
}

/** The instances from which `placeholderTimes` made the times. Values without an end last as long as the event. */
export function placeholderInstances({ start, end, recurrence }: PlaceholderTimes): TimeRange[] {
  const lengthMs = utcMs(end) - utcMs(start)
  return recurrence.flatMap((line) =>
    line
      .slice(line.indexOf(':') + 1)
      .split(',')
      .flatMap((value) => {
        const [from, to] = value.split('/').map(parseMs)
        return from === undefined ? [] : [{ from, to: to ?? from + lengthMs }]
      }),
  )
}

function utcMs(time: RemoteEvent['start']): number {
  return 'date' in time ? (parseDay(time.date) ?? 0) * DAY_MS : (parseLocal(time.dateTime) ?? 0)
}

function parseMs(value: string): number | undefined {
  const day = parseDay(value)
  return day === undefined ? parseLocal(value.replace(/Z$/, '')) : day * DAY_MS
}

function utcTime(ms: number) {
  return { dateTime: formatLocal(ms), timeZone: 'UTC' }
}

function utcText(ms: number): string {
  return `${formatLocal(ms).replace(/[-:]/g, '')}Z`
}
