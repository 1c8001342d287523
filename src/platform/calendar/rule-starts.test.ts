import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formatLocal, parseLocal } from './days.ts'
import { parseRule } from './rule.ts'
import { generateStarts } from './rule-starts.ts'

interface Expected {
  rule: string
  start: string
  from: string
  to: string
  first: string
  count: number
  last: string
}

/** Written by test/calendars/expected.py with python3-dateutil. */
const EXPECTED: Expected[] = JSON.parse(readFileSync('test/calendars/rules.json', 'utf8'))

function local(text: string): number {
  const ms = parseLocal(text)
  if (ms === undefined) throw new Error(`not a local time: ${text}`)
  return ms
}

function starts(value: string, start: string, from: string, to: string, limit = 1000, left = 1_000_000) {
  const rule = parseRule(value)
  if (rule === undefined) throw new Error(`not a rule: ${value}`)
  const steps = { left }
  const found: number[] = []
  for (const at of generateStarts(rule, local(start), { from: local(from), to: local(to) }, steps)) {
    found.push(at)
    if (found.length === limit) break
  }
  return { found: found.map(formatLocal), spent: left - steps.left }
}

describe('generateStarts', () => {
  it('finds the starts that python3-dateutil finds for 300 random rules', () => {
    const differing = EXPECTED.flatMap(({ rule, start, from, to, first, count, last }) => {
      const { found } = starts(rule, start, from, to, 500)
      const seen = {
        first: found
          .slice(0, 6)
          .map((at) => at.replaceAll(/[-:]/g, ''))
          .join(' '),
        count: found.length,
        last: found.at(-1),
      }
      return seen.first === first && seen.count === count && seen.last === last
        ? []
        : [{ rule, start, from, to, expected: { first, count, last }, seen }]
    })
    expect(EXPECTED.length).toBe(300)
    expect(differing).toEqual([])
  })

  it.each([
    // The weekday of the start, where a week is named without one. dateutil returns all seven days.
    ['FREQ=YEARLY;BYWEEKNO=20', ['2026-05-13T09:00:00', '2027-05-19T09:00:00']],
    ['FREQ=YEARLY;BYMONTH=7', ['2026-07-07T09:00:00', '2027-07-07T09:00:00']],
    ['FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10', ['2026-10-25T09:00:00', '2027-10-31T09:00:00']],
    ['FREQ=YEARLY;BYDAY=53TH', ['2026-12-31T09:00:00']],
    ['FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=3', ['2026-02-13T09:00:00', '2026-03-13T09:00:00']],
    [
      'FREQ=SECONDLY;BYMONTH=12;BYMONTHDAY=24;BYHOUR=18;BYMINUTE=0;BYSECOND=0',
      ['2026-12-24T18:00:00', '2027-12-24T18:00:00'],
    ],
    ['FREQ=YEARLY;BYHOUR=0,12;BYMINUTE=0,30;BYSECOND=0,60;BYSETPOS=-1', ['2026-01-07T12:30:59', '2027-01-07T12:30:59']],
    // The set of BYSETPOS is the whole week, of which Monday is before the start. In dateutil's, Wednesday is the first.
    ['FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2;COUNT=2', ['2026-01-14T09:00:00']],
  ])('%s', (rule, expected) => {
    const { found } = starts(rule, '2026-01-07T09:00:00', '2026-01-07T09:00:01', '2028-01-01T00:00:00')
    expect(found).toEqual(expected)
  })

  it('skips to the range without the time between, unless COUNT needs it', () => {
    const range = ['2026-01-01T00:00:00', '2026-02-01T00:00:00'] as const
    for (const rule of ['FREQ=DAILY', 'FREQ=WEEKLY;BYDAY=MO,FR', 'FREQ=MONTHLY;INTERVAL=7', 'FREQ=HOURLY;INTERVAL=5']) {
      expect(starts(rule, '0001-01-01T00:00:00', ...range).spent).toBeLessThan(2000)
    }
    // The distance of these starts is always the same, so they are counted by a division.
    const minutely = starts('FREQ=MINUTELY;COUNT=1000000000', '0200-01-01T00:00:00', ...range, 2)
    expect(minutely.found).toEqual(['2026-01-01T00:00:00', '2026-01-01T00:01:00'])
    expect(minutely.spent).toBeLessThan(100)
  })

  it('ends when it has no steps left', () => {
    const range = ['2026-01-01T00:00:00', '2027-01-01T00:00:00'] as const
    const hostile = [
      'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=SECONDLY;INTERVAL=2;BYSECOND=1',
      'FREQ=YEARLY;COUNT=1000000000;BYMONTHDAY=31;BYMONTH=2',
      'FREQ=DAILY;COUNT=9999999999;BYHOUR=1,2,3;BYMINUTE=4,5,6;BYSECOND=7,8,9;BYDAY=SU',
      'FREQ=MINUTELY;COUNT=1000000000;BYSETPOS=-366',
    ]
    for (const rule of hostile) {
      const { found, spent } = starts(rule, '0001-01-01T00:00:00', ...range, 10, 50_000)
      expect([rule, found]).toEqual([rule, []])
      expect(spent).toBeLessThan(52_000)
    }
  })
})

describe('parseRule', () => {
  it.each([
    'INTERVAL=2',
    'FREQ=FORTNIGHTLY',
    'FREQ=DAILY;COUNT=0',
    'FREQ=DAILY;COUNT=many',
    'FREQ=DAILY;UNTIL=20260230',
    'FREQ=DAILY;UNTIL=2026-01-01 10:00',
    'FREQ=MONTHLY;BYMONTHDAY=0',
    'FREQ=MONTHLY;BYMONTHDAY=1,,2',
    'FREQ=MONTHLY;BYDAY=MONDAY',
    'FREQ=YEARLY;BYMONTH=13',
    'FREQ=YEARLY;RSCALE=CHINESE',
  ])('refuses %s', (value) => {
    expect(parseRule(value)).toBeUndefined()
  })

  it('refuses rules of more than 4,000 characters', () => {
    expect(parseRule(`FREQ=DAILY;BYSECOND=${'1,'.repeat(2000)}1`)).toBeUndefined()
  })

  it('reads every part in any case and ignores what it does not know', () => {
    expect(
      parseRule('freq=weekly;interval=2;byday=mo,-1fr,mo;wkst=su;x-why=not;skip=omit;until=20260131'),
    ).toMatchObject({
      frequency: 'WEEKLY',
      interval: 2,
      byDay: [
        { weekday: 0, position: 0 },
        { weekday: 4, position: -1 },
      ],
      weekStart: 6,
      until: { ms: Date.parse('2026-01-31T23:59:59.999Z'), isUtc: false },
    })
  })
})
