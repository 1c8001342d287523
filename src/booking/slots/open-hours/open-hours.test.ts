import { describe, expect, it } from 'vitest'
import { experienceWith } from '../../../../test/kit/booking/experience.ts'
import type { Availability, Override } from '../../experiences/experience.ts'
import { readRules } from '../slot-rules.ts'
import { openTimes } from './open-hours.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Open times around a date as `from/to`, and where grids begin if that is not only at the start. */
function open(timezone: string, availability: Availability, date: string, days = 3): string[] {
  const middle = Date.parse(`${date}T12:00:00Z`)
  const range = { from: middle - days * DAY_MS, to: middle + days * DAY_MS }
  const text = (ms: number) => new Date(ms).toISOString().slice(0, 16)
  return openTimes(readRules(experienceWith(availability, { timezone })), range).map(({ from, to, begins }) =>
    [`${text(from)}/${text(to)}`, ...begins.slice(1).map(text)].join(' '),
  )
}

const everyDay = [0, 1, 2, 3, 4, 5, 6]

describe('open hours on the date of a clock change', () => {
  const cases: [zone: string, date: string, hours: string, open: string | undefined, why: string][] = [
    ['Europe/Berlin', '2026-03-29', '02:30-10:00', '2026-03-29T01:00/2026-03-29T08:00', '02:00 is followed by 03:00'],
    ['Europe/Berlin', '2026-03-29', '00:00-02:15', '2026-03-28T23:00/2026-03-29T01:00', 'an end in the gap is 03:00'],
    ['Europe/Berlin', '2026-03-29', '02:00-03:00', undefined, 'the whole hour is skipped'],
    [
      'Europe/Berlin',
      '2026-03-29',
      '09:00-17:00',
      '2026-03-29T07:00/2026-03-29T15:00',
      'the day itself is not shifted',
    ],
    ['Europe/Berlin', '2026-10-25', '02:30-04:00', '2026-10-25T00:30/2026-10-25T03:00', 'starts at the first 02:30'],
    ['Europe/Berlin', '2026-10-25', '00:00-02:30', '2026-10-24T22:00/2026-10-25T01:30', 'ends at the second 02:30'],
    ['Europe/Berlin', '2026-10-25', '02:00-03:00', '2026-10-25T00:00/2026-10-25T02:00', 'the hour takes place twice'],
    ['America/New_York', '2026-03-08', '02:30-03:30', '2026-03-08T07:00/2026-03-08T07:30', '02:00 EST is 03:00 EDT'],
    ['America/New_York', '2026-11-01', '01:00-01:30', '2026-11-01T05:00/2026-11-01T06:30', '01:30 EDT and 01:30 EST'],
    ['America/New_York', '2026-10-31', '22:00-02:00', '2026-11-01T02:00/2026-11-01T07:00', 'a night of five hours'],
    // Egypt: the last Friday of April has no 00:00 to 00:59, so the date begins at 01:00.
    ['Africa/Cairo', '2026-04-24', '00:00-24:00', '2026-04-23T22:00/2026-04-24T21:00', 'a date of 23 hours'],
    [
      'Africa/Cairo',
      '2026-04-23',
      '09:00-24:00',
      '2026-04-23T07:00/2026-04-23T22:00',
      'the midnight at its end is skipped',
    ],
    // On the last Thursday of October 24:00 becomes 23:00 of the same date; 00:00 follows once, after the second 23:59.
    [
      'Africa/Cairo',
      '2026-10-29',
      '22:00-24:00',
      '2026-10-29T19:00/2026-10-29T22:00',
      'three hours until the only midnight',
    ],
    ['Africa/Cairo', '2026-10-29', '22:00-23:30', '2026-10-29T19:00/2026-10-29T21:30', 'ends at the second 23:30'],
    ['Asia/Beirut', '2026-03-29', '00:30-02:00', '2026-03-28T22:00/2026-03-28T23:00', '00:00 to 00:59 is skipped'],
    [
      'Asia/Beirut',
      '2026-10-24',
      '23:00-24:00',
      '2026-10-24T20:00/2026-10-24T22:00',
      '23:00 to 23:59 takes place twice',
    ],
    ['America/Santiago', '2026-09-06', '00:00-09:00', '2026-09-06T04:00/2026-09-06T12:00', 'the date begins at 01:00'],
    ['America/Santiago', '2026-04-04', '20:00-23:30', '2026-04-04T23:00/2026-04-05T03:30', 'ends at the second 23:30'],
    ['America/Havana', '2025-03-09', '00:00-01:00', undefined, 'the first hour of the date is skipped'],
    // Cuba turns 01:00 back to 00:00, so the midnight at which a date ends takes place twice.
    ['America/Havana', '2025-11-01', '20:00-24:00', '2025-11-02T00:00/2025-11-02T05:00', 'ends at the second midnight'],
    [
      'America/Havana',
      '2025-11-02',
      '00:00-08:00',
      '2025-11-02T04:00/2025-11-02T13:00',
      'starts at the first midnight',
    ],
    // Lord Howe Island changes by half an hour: 02:00 to 02:29 is skipped, 01:30 to 01:59 takes place twice.
    ['Australia/Lord_Howe', '2026-10-04', '02:15-05:00', '2026-10-03T15:30/2026-10-03T18:00', 'starts at 02:30'],
    [
      'Australia/Lord_Howe',
      '2026-04-05',
      '01:45-05:00',
      '2026-04-04T14:45/2026-04-04T18:30',
      'starts at the first 01:45',
    ],
    [
      'Australia/Lord_Howe',
      '2026-04-05',
      '00:00-01:45',
      '2026-04-04T13:00/2026-04-04T15:15',
      'ends at the second 01:45',
    ],
    // Chatham changes at 02:45 and is 12:45 or 13:45 from UTC.
    ['Pacific/Chatham', '2026-09-27', '03:00-09:00', '2026-09-26T14:00/2026-09-26T19:15', 'starts at 03:45'],
    ['Pacific/Chatham', '2026-04-05', '00:00-03:15', '2026-04-04T10:15/2026-04-04T14:30', 'ends at the second 03:15'],
  ]
  it.each(cases)('%s %s %s: %s, because %s', (zone, date, hours, expected) => {
    const [start = '', end = ''] = hours.split('-')
    expect(open(zone, { overrides: [{ date, start, end }] }, date)).toEqual(expected === undefined ? [] : [expected])
    // The same by weekday.
    const weekday = new Date(date).getUTCDay()
    expect(open(zone, { openHours: [{ days: [weekday], start, end }] }, date)).toEqual(
      expected === undefined ? [] : [expected],
    )
  })
})

describe('open hours', () => {
  const weekday = (days: (number | string)[], start: string, end: string, timezone?: string) => ({
    days,
    start,
    end,
    ...(timezone !== undefined && { timezone }),
  })

  it('start on the named days, of which 0 and sunday are the same', () => {
    // 2026-11-22 is a Sunday.
    const expected = ['2026-11-22T09:00/2026-11-22T12:00']
    expect(open('UTC', { openHours: [weekday([0], '09:00', '12:00')] }, '2026-11-23')).toEqual(expected)
    expect(open('UTC', { openHours: [weekday(['sunday'], '09:00', '12:00')] }, '2026-11-23')).toEqual(expected)
    const week = open(
      'UTC',
      { openHours: [weekday(['monday', 2, 'wednesday', 4, 5, 6], '09:00', '12:00')] },
      '2026-11-22',
      4,
    )
    expect(week.map((time) => time.slice(8, 10))).toEqual(['19', '20', '21', '23', '24', '25', '26'])
  })

  it('join where they touch or overlap, and a grid starts where each begins', () => {
    const hours = (...pairs: [string, string][]) => ({
      overrides: pairs.map(([start, end]) => ({ date: '2026-11-23', start, end })),
    })
    const at = (text: string) => `2026-11-23T${text}`
    const on = (...pairs: [string, string][]) => open('UTC', hours(...pairs), '2026-11-23')
    expect(on(['09:00', '12:00'], ['13:00', '17:00'])).toEqual([
      `${at('09:00')}/${at('12:00')}`,
      `${at('13:00')}/${at('17:00')}`,
    ])
    expect(on(['12:10', '17:00'], ['09:00', '12:10'])).toEqual([`${at('09:00')}/${at('17:00')} ${at('12:10')}`])
    expect(on(['09:00', '17:00'], ['10:10', '11:00'])).toEqual([`${at('09:00')}/${at('17:00')} ${at('10:10')}`])
    expect(on(['09:00', '17:00'], ['09:00', '11:00'])).toEqual([`${at('09:00')}/${at('17:00')}`])
    // Around the clock: one time, with a grid for each date. Earlier ones do not matter.
    expect(open('UTC', { openHours: [weekday(everyDay, '00:00', '24:00')] }, '2026-11-23', 1)).toEqual([
      '2026-11-20T00:00/2026-11-25T00:00 2026-11-21T00:00 2026-11-22T00:00 2026-11-23T00:00 2026-11-24T00:00',
    ])
  })

  it('of several zones are each on the dates of their own zone', () => {
    // In Auckland Monday 09:00 is Sunday 20:00 in UTC.
    const openHours = [weekday([1], '09:00', '10:00', 'Pacific/Auckland'), weekday([1], '09:00', '10:00')]
    expect(open('UTC', { openHours }, '2026-11-23')).toEqual([
      '2026-11-22T20:00/2026-11-22T21:00',
      '2026-11-23T09:00/2026-11-23T10:00',
    ])
    expect(open('UTC', { openHours, timezone: 'Europe/Berlin' }, '2026-11-23')[1]).toBe(
      '2026-11-23T08:00/2026-11-23T09:00',
    )
  })

  it('are replaced by the overrides of a date, which add up; a night belongs to the date on which it starts', () => {
    const openHours = [weekday(everyDay, '22:00', '02:00')]
    const on = (overrides: Override[]) => open('UTC', { openHours, overrides }, '2026-11-23', 1)
    const nights = on([])
    expect(nights).toEqual(['2026-11-22T22:00/2026-11-23T02:00', '2026-11-23T22:00/2026-11-24T02:00'])
    expect(on([{ date: '2026-11-23', closed: true }])).toEqual(nights.slice(0, 1))
    const hours = { date: '2026-11-23', start: '08:00', end: '09:00' }
    expect(on([hours, { date: '2026-11-23', closed: true }, { ...hours, start: '11:00', end: '12:00' }])).toEqual([
      '2026-11-22T22:00/2026-11-23T02:00',
      '2026-11-23T08:00/2026-11-23T09:00',
      '2026-11-23T11:00/2026-11-23T12:00',
    ])
  })
})
