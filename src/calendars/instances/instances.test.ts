import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { spentCpuMs } from '../../../test/kit/measure/event-loop.ts'
import { fc } from '../../../test/kit/random/random.ts'
import { DAY_MS } from '../../platform/calendar/days.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { EventTime } from '../../providers/contract/index.ts'
import { expandSeries, type Instance, type Series } from './instances.ts'
import { eventSpan, toOriginalStart } from './times.ts'

interface Case {
  name: string
  zone: string
  window: [string, string]
  events: {
    start: EventTime
    end: EventTime
    recurrence: string[]
    exceptions?: { originalStart: EventTime; start?: EventTime; end?: EventTime }[]
  }[]
  why: string
}

/** `why` argues what a reader would not expect. instances.json was written by expected.py beside it, with python3-dateutil. */
const CASES: Case[] = JSON.parse(readFileSync('test/calendars/cases.json', 'utf8'))
const EXPECTED: Record<string, string[]> = JSON.parse(readFileSync('test/calendars/instances.json', 'utf8'))

const text = ({ startMs, endMs }: { startMs: number; endMs: number }) =>
  `${isoTime(startMs)}/${isoTime(endMs)}`.replaceAll('.000Z', 'Z')

describe('expandSeries', () => {
  it.each(CASES)('$name', ({ name, zone, window: [from = '', to = ''], events }) => {
    const window = { from: Date.parse(from), to: Date.parse(to) }
    const found = events.flatMap(({ exceptions = [], ...series }) => [
      ...expandSeries({ ...series, exceptions: exceptions.map((each) => each.originalStart) }, zone, window),
      ...exceptions
        .flatMap(({ start, end }) =>
          start === undefined || end === undefined ? [] : [eventSpan({ start, end }, zone)],
        )
        .filter(({ startMs, endMs }) => startMs < window.to && endMs > window.from),
    ])
    expect(found.map(text).sort()).toEqual([...(EXPECTED[name] ?? [])].sort())
  })

  it('returns an instance if and only if it overlaps the window', () => {
    fc.assert(
      fc.property(arbitrarySeries(), fc.nat(), fc.nat(), (series, seedFrom, seedLength) => {
        const all = { from: Date.parse('2025-12-01T00:00:00Z'), to: Date.parse('2027-02-01T00:00:00Z') }
        const zone = 'Europe/Berlin'
        const every = expandSeries(series, zone, all)
        // Bounds that touch an instance, so that their exclusiveness counts.
        const bounds = every.flatMap(({ startMs, endMs }) => [startMs, endMs, startMs + 1, endMs - 1])
        bounds.push(all.from + (seedFrom % (300 * DAY_MS)))
        const from = bounds[seedFrom % bounds.length] ?? all.from
        const to = from + (seedLength % (60 * DAY_MS)) + 1
        const window = { from: Math.max(from, all.from), to: Math.min(to, all.to) }
        const overlapping = every.filter(({ startMs, endMs }) => endMs > window.from && startMs < window.to)
        expect(expandSeries(series, zone, window)).toEqual(overlapping)
      }),
      { numRuns: 300 },
    )
  })

  it('leaves out what has no duration at the beginning of the window, and includes it within', () => {
    const at: EventTime = { dateTime: '2026-11-20T09:00:00', timeZone: 'UTC' }
    const series: Series = { start: at, end: at, recurrence: [], exceptions: [] }
    const startMs = Date.parse('2026-11-20T09:00:00Z')
    const instance: Instance = { originalStart: startMs, startMs, endMs: startMs }
    expect(expandSeries(series, null, { from: startMs, to: startMs + 1 })).toEqual([])
    expect(expandSeries(series, null, { from: startMs - 1, to: startMs + 1 })).toEqual([instance])
    expect(expandSeries(series, null, { from: startMs - 1, to: startMs })).toEqual([])
  })

  it('identifies instances of all-day events by date, others by their start in UTC, before and after an exception', () => {
    const window = { from: Date.parse('2026-03-01T00:00:00Z'), to: Date.parse('2026-04-05T00:00:00Z') }
    const days = expandSeries(
      {
        start: { date: '2026-03-28' },
        end: { date: '2026-03-29' },
        recurrence: ['RRULE:FREQ=DAILY;COUNT=4', 'EXDATE;VALUE=DATE:20260329'],
        exceptions: [{ date: '2026-03-30' }],
      },
      'Europe/Berlin',
      window,
    )
    expect(days.map(({ originalStart }) => originalStart)).toEqual(['2026-03-28', '2026-03-31'])
    const times = expandSeries(
      {
        start: { dateTime: '2026-03-28T10:00:00', timeZone: 'Europe/Berlin' },
        end: { dateTime: '2026-03-28T11:00:00', timeZone: 'Europe/Berlin' },
        recurrence: ['RRULE:FREQ=DAILY;COUNT=2'],
        exceptions: [],
      },
      null,
      window,
    )
    expect(times.map(({ originalStart }) => originalStart)).toEqual([
      Date.parse('2026-03-28T09:00:00Z'),
      toOriginalStart({ dateTime: '2026-03-29T08:00:00', timeZone: 'UTC' }, null),
    ])
  })

  it('treats a series whose rules are not valid as a single event, and one that ended before its start as none', () => {
    const series = (recurrence: string[]): Series => ({
      start: { date: '2026-11-20' },
      end: { date: '2026-11-20' },
      recurrence,
      exceptions: [],
    })
    const window = { from: Date.parse('2026-11-01T00:00:00Z'), to: Date.parse('2026-12-01T00:00:00Z') }
    const single = [{ originalStart: '2026-11-20', startMs: Date.parse('2026-11-20'), endMs: Date.parse('2026-11-21') }]
    expect(expandSeries(series(['RRULE:FREQ=SOMETIMES', 'nonsense', 'RDATE:20261']), null, window)).toEqual(single)
    expect(expandSeries(series(['RRULE:FREQ=DAILY;UNTIL=20261119']), null, window)).toEqual([])
  })

  it.each(hostileSeries())('is quick and returns few instances: %s', async (_name, recurrence) => {
    const window = { from: Date.parse('2025-10-20T00:00:00Z'), to: Date.parse('2026-11-20T00:00:00Z') }
    const start: EventTime = { dateTime: '0001-01-01T00:00:00', timeZone: 'America/New_York' }
    const end: EventTime = { dateTime: '0001-01-01T01:00:00', timeZone: 'America/New_York' }
    const spentMs = await spentCpuMs(() => {
      const found = expandSeries({ start, end, recurrence, exceptions: [] }, null, window)
      expect(found.length).toBeLessThanOrEqual(2001)
    })
    // About 15 ms. A hundred times as long only means that something is not bounded.
    expect(spentMs).toBeLessThan(2000)
  })
})

function hostileSeries(): [string, string[]][] {
  const dates = (count: number) =>
    Array.from(
      { length: count },
      (_, at) =>
        `2026${String(1 + (at % 12)).padStart(2, '0')}10T${String(at % 24).padStart(2, '0')}${String(at % 60).padStart(2, '0')}00`,
    )
  return [
    ['every second', ['RRULE:FREQ=SECONDLY']],
    ['seconds in lists', [`RRULE:FREQ=DAILY;BYHOUR=${upTo(23)};BYMINUTE=${upTo(59)};BYSECOND=${upTo(59)}`]],
    ['a second that does not come', ['RRULE:FREQ=SECONDLY;INTERVAL=2;BYSECOND=1']],
    ['a day that does not come', ['RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30']],
    ['COUNT from the year 1', ['RRULE:FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=1000000000']],
    ['COUNT of seconds in lists', [`RRULE:FREQ=SECONDLY;BYMINUTE=${upTo(58)};COUNT=1000000000`]],
    ['COUNT of years', ['RRULE:FREQ=YEARLY;BYDAY=MO;COUNT=1000000000']],
    ['UNTIL in the year 9999', ['RRULE:FREQ=MINUTELY;UNTIL=99991231T235959Z']],
    ['twenty rules', Array.from({ length: 40 }, () => `RRULE:FREQ=YEARLY;BYYEARDAY=${upTo(366).slice(2)};COUNT=99999`)],
    ['twenty rules of seconds', Array.from({ length: 40 }, () => 'RRULE:FREQ=SECONDLY')],
    ['rules that exclude', ['RRULE:FREQ=SECONDLY', ...Array.from({ length: 40 }, () => 'EXRULE:FREQ=SECONDLY')]],
    ['100,000 dates', [`RDATE:${dates(50_000).join(',')}`, `EXDATE:${dates(50_000).join(',')}`]],
    ['a line per date and zone', dates(20_000).map((date, at) => `RDATE;TZID=Nowhere/Z${at}:${date}`)],
    ['positions', [`RRULE:FREQ=YEARLY;BYHOUR=${upTo(23)};BYMINUTE=${upTo(59)};BYSECOND=${upTo(59)};BYSETPOS=-1,366`]],
  ]
}

function upTo(last: number): string {
  return Array.from({ length: last + 1 }, (_, at) => at).join(',')
}

function arbitrarySeries(): fc.Arbitrary<Series> {
  const zones = ['Europe/Berlin', 'America/New_York', 'Africa/Cairo', 'Australia/Lord_Howe', 'America/Havana', null]
  const two = (value: number) => String(value).padStart(2, '0')
  const day = fc
    .record({ month: fc.integer({ min: 1, max: 12 }), dayOfMonth: fc.integer({ min: 1, max: 28 }) })
    .map(({ month, dayOfMonth }) => `2026-${two(month)}-${two(dayOfMonth)}`)
  const time = fc
    .record({ hour: fc.integer({ min: 0, max: 23 }), minute: fc.constantFrom(0, 15, 30, 45) })
    .map(({ hour, minute }) => `${two(hour)}:${two(minute)}:00`)
  const rule = fc.constantFrom(
    'FREQ=DAILY',
    'FREQ=DAILY;INTERVAL=3;COUNT=50',
    'FREQ=WEEKLY;BYDAY=MO,SU',
    'FREQ=MONTHLY;BYDAY=-1FR',
    'FREQ=MONTHLY;BYMONTHDAY=31,-2;UNTIL=20261130T120000Z',
    'FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU',
    'FREQ=HOURLY;INTERVAL=7;UNTIL=20261120',
  )
  const lines = fc
    .tuple(fc.array(rule, { maxLength: 2 }), fc.array(day, { maxLength: 3 }), fc.array(day, { maxLength: 3 }))
    .map(([rules, added, excluded]) => [
      ...rules.map((each) => `RRULE:${each}`),
      ...added.map((each) => `RDATE;VALUE=PERIOD:${each.replaceAll('-', '')}T010000Z/PT5H`),
      ...excluded.map((each) => `EXDATE;VALUE=DATE:${each.replaceAll('-', '')}`),
    ])
  const allDay = fc
    .tuple(day, fc.constantFrom(1, 2, 10))
    .map(([date, days]) => [{ date }, { date: isoTime(Date.parse(date) + days * DAY_MS).slice(0, 10) }] as const)
  const timed = fc
    .tuple(day, time, fc.constantFrom(0, 1, 30, 26 * 60, 10 * 1440), fc.constantFrom(...zones))
    .map(([date, clock, minutes, timeZone]) => {
      const startMs = Date.parse(`${date}T${clock}Z`)
      const at = (ms: number): EventTime => ({ dateTime: isoTime(ms).slice(0, 19), timeZone })
      return [at(startMs), at(startMs + minutes * 60_000)] as const
    })
  return fc
    .tuple(fc.oneof(allDay, timed), lines)
    .map(([[start, end], recurrence]) => ({ start, end, recurrence, exceptions: [] }))
}
