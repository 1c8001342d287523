import { describe, expect, it } from 'vitest'
import { localStarts } from '../../../../test/servers/fake/recurrence.ts'
import { expandDates, type PatternedRecurrence } from '../../../../test/servers/microsoft/pattern.ts'
import { parseLocal } from '../../../platform/calendar/days.ts'
import { findZone } from '../../../platform/calendar/zone.ts'
import { recurrenceLines } from './recurrence.ts'

const ZONE = 'Europe/Berlin'
const zone = findZone(ZONE) as NonNullable<ReturnType<typeof findZone>>

function readLines(recurrence: object, start: string, isAllDay = false): string[] {
  return recurrenceLines({ ...recurrence }, { localMs: parseLocal(start) ?? 0, zone, isAllDay })
}

describe('recurrence patterns of Graph', () => {
  const noEnd = { type: 'noEnd', startDate: '2026-01-31' } as const
  it.each<[PatternedRecurrence['pattern'], PatternedRecurrence['range'], string]>([
    [{ type: 'daily', interval: 3 }, { ...noEnd, startDate: '2026-01-05' }, 'FREQ=DAILY;INTERVAL=3'],
    [
      { type: 'weekly', interval: 2, daysOfWeek: ['sunday', 'tuesday'], firstDayOfWeek: 'sunday' },
      { ...noEnd, startDate: '2026-01-06' },
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,TU;WKST=SU',
    ],
    [
      { type: 'weekly', interval: 2, daysOfWeek: ['sunday', 'tuesday'], firstDayOfWeek: 'monday' },
      { type: 'numbered', startDate: '2026-01-06', numberOfOccurrences: 7, endDate: '0001-01-01' },
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,TU;WKST=MO;COUNT=7',
    ],
    [
      { type: 'absoluteMonthly', interval: 3, dayOfMonth: 15 },
      { type: 'endDate', startDate: '2026-01-15', endDate: '2027-01-15' },
      'FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=15;UNTIL=20270115T080000Z',
    ],
    [
      { type: 'absoluteMonthly', interval: 1, dayOfMonth: 31 },
      noEnd,
      'FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1',
    ],
    [{ type: 'absoluteMonthly', interval: 1, dayOfMonth: 29 }, noEnd, 'FREQ=MONTHLY;BYMONTHDAY=28,29;BYSETPOS=-1'],
    [
      { type: 'relativeMonthly', interval: 1, daysOfWeek: ['friday'], index: 'last', month: 0, dayOfMonth: 0 },
      { ...noEnd, startDate: '2026-01-30' },
      'FREQ=MONTHLY;BYDAY=-1FR',
    ],
    [
      { type: 'relativeMonthly', interval: 3, daysOfWeek: ['thursday', 'friday'], index: 'second' },
      { ...noEnd, startDate: '2026-01-08' },
      'FREQ=MONTHLY;INTERVAL=3;BYDAY=TH,FR;BYSETPOS=2',
    ],
    [
      { type: 'absoluteYearly', interval: 1, dayOfMonth: 29, month: 2 },
      { ...noEnd, startDate: '2024-02-29' },
      'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1',
    ],
    [
      { type: 'relativeYearly', interval: 1, daysOfWeek: ['thursday'], index: 'fourth', month: 11 },
      { ...noEnd, startDate: '2026-11-26' },
      'FREQ=YEARLY;BYMONTH=11;BYDAY=4TH',
    ],
  ])('%j %j', (pattern, range, rule) => {
    const start = `${expandDates({ pattern, range }, '2029-12-31')[0]}T09:00:00`
    const lines = readLines({ pattern, range }, start)
    expect(lines).toEqual([`RRULE:${rule}`])
    const starts = localStarts({ start, zone: ZONE, lines }, Date.UTC(2020, 0, 1), Date.UTC(2030, 0, 1) - 1)
    expect(starts.map((local) => local.slice(0, 10))).toEqual(expandDates({ pattern, range }, '2029-12-31'))
  })

  it('ends an all-day series with a date, one with times in UTC of that day', () => {
    const pattern = { type: 'daily', interval: 1 }
    const range = { type: 'endDate', startDate: '2026-01-31', endDate: '2026-07-01' }
    expect(readLines({ pattern, range }, '2026-01-31T00:00:00', true)).toEqual(['RRULE:FREQ=DAILY;UNTIL=20260701'])
    expect(readLines({ pattern, range }, '2026-01-31T23:30:00')).toEqual(['RRULE:FREQ=DAILY;UNTIL=20260701T213000Z'])
  })

  it('ignores a pattern that it cannot read', () => {
    for (const pattern of [undefined, {}, { type: 'hourly' }, { type: 'absoluteMonthly', dayOfMonth: 32 }]) {
      expect(readLines({ pattern, range: noEnd }, '2026-01-31T09:00:00')).toEqual([])
    }
  })
})
