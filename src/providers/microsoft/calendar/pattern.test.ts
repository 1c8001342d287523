import { describe, expect, it } from 'vitest'
import { parseLocal } from '../../../platform/calendar/days.ts'
import { findZone } from '../../../platform/calendar/zone.ts'
import { buildPattern } from './pattern.ts'
import { recurrenceLines } from './recurrence.ts'

const zone = findZone('Europe/Berlin') as NonNullable<ReturnType<typeof findZone>>
const buildStart = (start: string, isAllDay = false) => ({ localMs: parseLocal(start) ?? 0, zone, isAllDay })
const pattern = (rule: string, start = '2026-11-20T09:00:00', isAllDay = false) =>
  buildPattern([`RRULE:${rule}`], buildStart(start, isAllDay), 'testing')

describe('rules that Outlook knows', () => {
  it.each([
    ['FREQ=DAILY;INTERVAL=3;COUNT=10', 'FREQ=DAILY;INTERVAL=3;COUNT=10'],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;WKST=SU', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;WKST=SU'],
    ['FREQ=WEEKLY', 'FREQ=WEEKLY;BYDAY=FR;WKST=MO'],
    ['FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;WKST=MO'],
    ['FREQ=MONTHLY', 'FREQ=MONTHLY;BYMONTHDAY=20'],
    ['FREQ=MONTHLY;BYMONTHDAY=20;UNTIL=20270220T080000Z', 'FREQ=MONTHLY;BYMONTHDAY=20;UNTIL=20270220T080000Z'],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', 'FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1'],
    ['FREQ=MONTHLY;BYMONTHDAY=28,29;BYSETPOS=-1', 'FREQ=MONTHLY;BYMONTHDAY=28,29;BYSETPOS=-1'],
    ['FREQ=MONTHLY;BYDAY=3FR', 'FREQ=MONTHLY;BYDAY=3FR'],
    ['FREQ=MONTHLY;BYDAY=TH,FR;BYSETPOS=-1', 'FREQ=MONTHLY;BYDAY=TH,FR;BYSETPOS=-1'],
    ['FREQ=YEARLY', 'FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=20'],
    ['FREQ=YEARLY;BYMONTH=10;BYMONTHDAY=31', 'FREQ=YEARLY;BYMONTH=10;BYMONTHDAY=28,29,30,31;BYSETPOS=-1'],
    ['FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=2', 'FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=2'],
  ])('%s', (rule, read) => {
    expect(recurrenceLines(pattern(rule) ?? {}, buildStart('2026-11-20T09:00:00'))).toEqual([`RRULE:${read}`])
  })

  it('the last day of a rule', () => {
    const endDate = (rule: string, isAllDay = false) =>
      (pattern(rule, isAllDay ? '2026-11-20T00:00:00' : undefined, isAllDay) as { range: { endDate: string } }).range
        .endDate
    expect(endDate('FREQ=DAILY;UNTIL=20261201T080000Z')).toBe('2026-12-01')
    expect(endDate('FREQ=DAILY;UNTIL=20261201T075959Z')).toBe('2026-11-30')
    expect(endDate('FREQ=DAILY;UNTIL=20261201')).toBe('2026-12-01')
    expect(endDate('FREQ=DAILY;UNTIL=20261201', true)).toBe('2026-12-01')
    expect(pattern('FREQ=DAILY')).toMatchObject({
      range: { type: 'noEnd', startDate: '2026-11-20', recurrenceTimeZone: 'W. Europe Standard Time' },
    })
  })

  it.each([
    'FREQ=HOURLY',
    'FREQ=DAILY;BYHOUR=9,15',
    'FREQ=WEEKLY;BYDAY=MO;BYSETPOS=1',
    'FREQ=DAILY;INTERVAL=2;BYDAY=MO',
    'FREQ=MONTHLY;BYMONTHDAY=1,15',
    'FREQ=MONTHLY;BYDAY=5MO',
    'FREQ=MONTHLY;BYDAY=MO',
    'FREQ=MONTHLY;BYDAY=1MO,2TU',
    'FREQ=YEARLY;BYDAY=20MO',
    'FREQ=YEARLY;BYMONTH=1,7',
    'FREQ=YEARLY;BYWEEKNO=20',
    'FREQ=YEARLY;BYYEARDAY=100',
    'FREQ=MONTHLY;BYMONTHDAY=31',
    'FREQ=MONTHLY;BYMONTHDAY=-2',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29',
    'FREQ=NEVER',
    'FREQ=MONTHLY;BYMONTHDAY=28,30;BYSETPOS=-1',
    'FREQ=DAILY;BYMONTH=5',
  ])('refuses %s', (rule) => {
    expect(() => pattern(rule)).toThrow(expect.objectContaining({ kind: 'rejected' }))
  })

  it('refuses more than one rule, and dates', () => {
    const start = buildStart('2026-11-20T09:00:00')
    const daily = 'RRULE:FREQ=DAILY'
    for (const lines of [[daily, daily], [daily, 'EXDATE:20261121T080000Z'], ['RDATE:20261121T080000Z']]) {
      expect(() => buildPattern(lines, start, 'testing')).toThrow('Outlook takes one RRULE')
    }
    expect(buildPattern([], start, 'testing')).toBeNull()
  })

  it('refuses a monthly rule that begins on a day that some months lack', () => {
    expect(() => pattern('FREQ=MONTHLY', '2026-01-31T09:00:00')).toThrow('BYMONTHDAY=28,29,30,31;BYSETPOS=-1')
  })
})
