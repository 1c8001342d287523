import { describe, expect, it } from 'vitest'
import { bounded, formatClock, parseMinutes, toBlocks, toRules } from './blocks.ts'

describe('the blocks of open hours', () => {
  it('become the same rules again, with names of days as numbers, nights and further members', () => {
    const rules = [
      { days: ['monday' as const, 'tuesday' as const], start: '09:00', end: '12:30' },
      { days: [5], start: '22:00', end: '02:00', timezone: 'Asia/Tokyo', note: 'night' },
      { days: [6], start: '00:00', end: '24:00' },
    ]
    expect(toRules(toBlocks(rules))).toEqual([{ ...rules[0], days: [1, 2] }, ...rules.slice(1)])
  })

  it('join days with equal hours and keep one block of equal ones', () => {
    const block = { start: 540, end: 1020, rest: {} }
    expect(
      toRules([
        { day: 1, ...block },
        { day: 0, ...block },
        { day: 1, ...block },
      ]),
    ).toEqual([{ days: [0, 1], start: '09:00', end: '17:00' }])
  })

  it('read times of day, and stay within a day', () => {
    expect(['9:00', '24:00', '24:15', '12:60', '', 'x'].map(parseMinutes)).toEqual([
      540,
      1440,
      ...Array(4).fill(undefined),
    ])
    expect(formatClock(1440)).toBe('24:00')
    expect(bounded({ day: 7, start: -30, end: 3000, rest: {} })).toEqual({ day: 0, start: 0, end: 1440, rest: {} })
    expect(bounded({ day: -1, start: 600, end: 500, rest: {} })).toEqual({ day: 6, start: 600, end: 615, rest: {} })
  })
})
