import { describe, expect, it } from 'vitest'
import { byDay, daysOf, monthOf, toRange, weekOf, zoneNames } from './days.ts'
import { formats, usualClock } from './formats.ts'

const slotAt = (start: string) => ({ start, end: new Date(Date.parse(start) + 1_800_000).toISOString() })

describe('the slots of a window', () => {
  it('are on the days of the zone, and only on those of the window', () => {
    const slots = ['2026-11-30T15:30:00.000Z', '2026-10-31T14:30:00.000Z', '2026-11-30T14:30:00.000Z'].map(slotAt)
    const month = monthOf('2026-11-15')
    const starts = (zone: string) =>
      [...byDay(slots, month, zone)].map(([day, list]) => [day, ...list.map(({ start }) => start.slice(5, 16))])
    expect(starts('Asia/Tokyo')).toEqual([['2026-11-30', '11-30T14:30']])
    expect(starts('Pacific/Kiritimati')).toEqual([['2026-11-01', '10-31T14:30']])
    expect(starts('America/New_York')).toEqual([['2026-11-30', '11-30T14:30', '11-30T15:30']])
  })

  it('are asked for with all instants of its days in every zone, from now on', () => {
    const now = Date.parse('2026-11-10T08:00:00Z')
    expect(toRange(monthOf('2026-12-24'), now)).toEqual({
      start: '2026-11-30T10:00:00.000Z',
      end: '2027-01-01T14:00:00.000Z',
    })
    expect(toRange(monthOf('2026-11-01'), now)?.start).toBe('2026-11-10T08:00:00.000Z')
    expect(toRange(monthOf('2026-10-01'), now)).toBeUndefined()
  })
})

describe('a week', () => {
  it.each([
    [7, '2026-11-22'],
    [1, '2026-11-23'],
    [6, '2026-11-28'],
  ])('that begins on day %i contains seven days from %s', (firstDay, from) => {
    const day = firstDay === 6 ? '2026-12-01' : '2026-11-25'
    const week = weekOf(day, firstDay)
    expect(week.from).toBe(from)
    expect(daysOf(week)).toHaveLength(7)
    expect(daysOf(week)).toContain(day)
  })
})

describe('times of a day', () => {
  it('have their zone where a wall clock occurs twice', () => {
    const { times } = formats('en-US', 'America/New_York')
    const plain = (texts: string[]) => texts.map((text) => text.replaceAll(/\s/g, ' '))
    const slots = ['2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z', '2026-11-01T07:30:00Z'].map(slotAt)
    expect(plain(times(slots))).toEqual(['1:30 AM EDT', '1:30 AM EST', '2:30 AM'])
  })

  it.each([
    ['en-US', '2:05 PM'],
    ['en-GB', '14:05'],
    ['de-AT', '14:05'],
    ['ja', '14:05'],
  ])('are written in %s as %s', (locale, text) => {
    const [time = ''] = formats(locale, 'UTC').times([slotAt('2026-11-01T14:05:00Z')])
    expect(time.replaceAll(/\s/g, ' ')).toBe(text)
  })
})

it.each([
  ['en-US', 12, 24, '14:05', '14:05 – 14:35'],
  ['de', 24, 12, '02:05 PM', '2:05–2:35 PM'],
  ['ja', 24, 12, '午後2:05', '午後2時05分～2時35分'],
] as const)('times in %s use the clock of %i hours, or the other one', (locale, usual, other, time, range) => {
  expect(usualClock(locale)).toBe(usual)
  const slot = slotAt('2026-11-01T14:05:00Z')
  const { times, timeRange } = formats(locale, 'UTC', other)
  const plain = (text = '') => text.replaceAll(/\s/g, ' ')
  expect([plain(times([slot])[0]), plain(timeRange(slot))]).toEqual([time, range])
})

it('zones are listed by name, with those that the browser does not name', () => {
  const names = zoneNames(['America/New_York', 'Europe/Berlin'], ['UTC', 'Asia/Kolkata', 'Europe/Berlin'])
  expect(names).toEqual(['America/New_York', 'Asia/Kolkata', 'Europe/Berlin', 'UTC'])
})
