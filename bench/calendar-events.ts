import { formatLocal } from '../src/platform/calendar/days.ts'
import { icsObject } from '../test/servers/radicale-calendar.ts'

/** An event of the benchmark: times in UTC, no two of which begin at the same time. */
export interface BenchEvent {
  summary: string
  startMs: number
  rule: 'FREQ=DAILY' | 'FREQ=WEEKLY' | 'FREQ=MONTHLY' | undefined
}

/** An instance that a list must contain. */
export interface Listed {
  summary: string
  startMs: number
  endMs: number
}

export interface Month {
  fromMs: number
  toMs: number
  params: { timeMin: string; timeMax: string }
}

const DAY_MS = 24 * 60 * 60 * 1000
const LENGTH_MS = 30 * 60 * 1000
/** Spreads start times over the day. */
const STEP_MS = 43_000
const LAST_DAY = 400

/** A fifth are series: 5 % daily, 35 % monthly, the others weekly. The other events are spread over 13 months. */
export function benchEvents(count: number, nowMs: number): BenchEvent[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  const series = Math.floor(count / 5)
  return Array.from({ length: count }, (_, n): BenchEvent => {
    if (n >= series) {
      const offset = n - series
      const time = ((Math.floor(offset / 390) * 97 + 11) % 2000) * STEP_MS + 20_000
      return { summary: `Figures ${n}`, startMs: today + ((offset % 390) - 28) * DAY_MS + time, rule: undefined }
    }
    const time = n * Math.floor(STEP_MS * (2000 / Math.max(2000, series))) + 1000
    const month = new Date(today)
    const first = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() - 2, 1 + (n % 28))
    const rule = n % 20 === 0 ? 'FREQ=DAILY' : n % 20 < 8 ? 'FREQ=MONTHLY' : 'FREQ=WEEKLY'
    return { summary: `Series ${n}`, startMs: first + time, rule }
  })
}

/** One calendar with all objects. */
export function buildObjects(events: readonly BenchEvent[]): string {
  const lines: string[] = []
  for (const [n, { summary, startMs, rule }] of events.entries()) {
    const time = (ms: number) => ({ dateTime: formatLocal(ms), timeZone: 'UTC' })
    const object = icsObject(
      [
        {
          summary,
          start: time(startMs),
          end: time(startMs + LENGTH_MS),
          ...(rule !== undefined && { recurrence: [`RRULE:${rule}`] }),
          lines: [
            `DESCRIPTION:${'We go through the results and agree on the next steps\\n'.repeat(1 + (n % 5))}`,
            `LOCATION:Office ${n % 40}`,
            'ORGANIZER;CN=Ada Okafor:mailto:ada@acme.example',
            'ATTENDEE;CN=Ada Okafor;PARTSTAT=ACCEPTED:mailto:ada@acme.example',
            'ATTENDEE;CN=Lin Chen;PARTSTAT=NEEDS-ACTION:mailto:lin@northwind.example',
            'BEGIN:VALARM',
            'ACTION:DISPLAY',
            'DESCRIPTION:x',
            'TRIGGER:-PT10M',
            'END:VALARM',
          ],
        },
      ],
      { uid: `event-${n}` },
    )
    const own = object.split('\r\n')
    lines.push(...own.slice(own.indexOf('BEGIN:VEVENT'), own.lastIndexOf('END:VEVENT') + 1))
  }
  const head = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//bench//EN']
  return [...head, ...lines, 'END:VCALENDAR', ''].join('\r\n')
}

/** Every instance until the end of the window, in order of start. */
export function listedIn(events: readonly BenchEvent[]): Listed[] {
  const lastMs = Date.now() + LAST_DAY * DAY_MS
  const all: Listed[] = []
  for (const { summary, startMs, rule } of events) {
    const date = new Date(startMs)
    const next = (count: number) => {
      if (rule === undefined) return count === 0 ? startMs : Number.POSITIVE_INFINITY
      if (rule !== 'FREQ=MONTHLY') return startMs + count * DAY_MS * (rule === 'FREQ=DAILY' ? 1 : 7)
      return (
        startMs +
        Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + count) -
        Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
      )
    }
    for (let count = 0, ms = next(0); ms < lastMs; count += 1, ms = next(count)) {
      all.push({ summary, startMs: ms, endMs: ms + LENGTH_MS })
    }
  }
  return all.sort((left, right) => left.startMs - right.startMs)
}

/** Twelve ranges of 30 days, from the day after the window begins. */
export function monthsFrom(nowMs: number): Month[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  return Array.from({ length: 12 }, (_, n) => {
    const fromMs = today + (n * 30 - 26) * DAY_MS
    const toMs = fromMs + 30 * DAY_MS
    const params = { timeMin: new Date(fromMs).toISOString(), timeMax: new Date(toMs).toISOString() }
    return { fromMs, toMs, params }
  })
}
