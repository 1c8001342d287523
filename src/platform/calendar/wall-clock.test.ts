import { describe, expect, it } from 'vitest'
import { repeatedOffset, wallClock } from './wall-clock.ts'

describe('wallClock', () => {
  it('shows the clocks of the time zone database, which Intl may not have yet', () => {
    const { format, formatRange } = wallClock('en-GB', 'America/Vancouver', { dateStyle: 'long', timeStyle: 'short' })
    const [from, to] = [Date.parse('2027-01-15T16:00:00Z'), Date.parse('2027-01-15T16:30:00Z')]
    expect(format(from)).toBe('15 January 2027 at 09:00')
    expect(formatRange(from, to)).toMatch(/^15 January 2027.* 09:00\s?\u2013\s?09:30$/)
  })
})

describe('repeatedOffset', () => {
  it.each([
    ['Europe/Berlin', '2026-10-25T00:15:00Z', 'UTC+02:00'],
    ['Europe/Berlin', '2026-10-25T00:45:00Z', 'UTC+02:00 \u2013 UTC+01:00'],
    ['Europe/Berlin', '2026-10-25T01:30:00Z', 'UTC+01:00'],
    ['Europe/Berlin', '2026-10-24T23:29:59Z', undefined],
    ['Europe/Berlin', '2026-10-25T02:00:00Z', undefined],
    ['Europe/Berlin', '2026-03-29T00:45:00Z', undefined],
    ['Australia/Lord_Howe', '2026-04-04T14:45:00Z', 'UTC+11:00 \u2013 UTC+10:30'],
    ['Australia/Lord_Howe', '2026-04-04T15:15:00Z', 'UTC+10:30'],
    ['America/St_Johns', '2026-11-01T03:45:00Z', 'UTC-02:30'],
    ['UTC', '2026-10-25T00:30:00Z', undefined],
    ['Nowhere/Land', '2026-10-25T00:30:00Z', undefined],
  ])('of half an hour in %s at %s is %s', (timeZone, at, expected) => {
    const fromMs = Date.parse(at)
    expect(repeatedOffset(timeZone, fromMs, fromMs + 30 * 60_000)).toBe(expected)
  })
})
