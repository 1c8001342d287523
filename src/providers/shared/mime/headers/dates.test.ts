import { describe, expect, it } from 'vitest'
import { readDate } from './dates.ts'

const shown = (value: string | undefined) => {
  const ms = readDate(value)
  return ms === null ? null : new Date(ms).toISOString().slice(0, 19)
}

describe('the Date field', () => {
  it.each([
    ['Fri, 20 Nov 2026 10:00:00 +0000', '2026-11-20T10:00:00'],
    ['20 Nov 2026 10:00 -0500', '2026-11-20T15:00:00'],
    ['Fri, 20 Nov 2026 10:00:00 +0530 (IST)', '2026-11-20T04:30:00'],
    ['Fri, 20 Nov 2026 10:00:00 -0500 (EST (New York))', '2026-11-20T15:00:00'],
    ['Fri, 20 (a) Nov (b) 2026 10 : 00 : 00 +0000', '2026-11-20T10:00:00'],
    ['Fri, 20 Nov 2026 10:00:60 +0000', '2026-11-20T10:01:00'],
  ])('%s is %s', (value, time) => {
    expect(shown(value)).toBe(time)
  })

  it.each([
    ['EST', '2026-11-20T15:00:00'],
    ['PDT', '2026-11-20T17:00:00'],
    ['CEST', '2026-11-20T08:00:00'],
    ['JST', '2026-11-20T01:00:00'],
    ['GMT', '2026-11-20T10:00:00'],
    ['UT', '2026-11-20T10:00:00'],
    ['Z', '2026-11-20T10:00:00'],
    ['GMT+0200', '2026-11-20T08:00:00'],
    ['+02:00', '2026-11-20T08:00:00'],
    ['UTC-5', '2026-11-20T15:00:00'],
    ['"GMT"', '2026-11-20T10:00:00'],
    ['+0000 GMT', '2026-11-20T10:00:00'],
    // RFC 5322 4.3: military zones were used wrongly, and unknown ones say nothing.
    ['A', '2026-11-20T10:00:00'],
    ['Pacific Standard Time', '2026-11-20T10:00:00'],
    ['+9900', '2026-11-20T10:00:00'],
    ['', '2026-11-20T10:00:00'],
  ])('with the zone "%s" is %s', (zone, time) => {
    expect(shown(`Fri, 20 Nov 2026 10:00:00 ${zone}`)).toBe(time)
  })

  it('without a zone is UTC, whatever the zone of the process is', () => {
    const zone = process.env.TZ
    process.env.TZ = 'America/New_York'
    try {
      expect(shown('Fri, 20 Nov 2026 10:00:00')).toBe('2026-11-20T10:00:00')
      expect(shown('2026-11-20 10:00:00')).toBe('2026-11-20T10:00:00')
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
  })

  it.each([
    ['Fri, 20 Nov 26 10:00:00 +0000', '2026-11-20T10:00:00'],
    ['Fri, 20 Nov 99 10:00:00 +0000', '1999-11-20T10:00:00'],
    ['Fri, 20 Nov 126 10:00:00 +0000', '2026-11-20T10:00:00'],
    ['Fri Nov 20 10:00:00 2026', '2026-11-20T10:00:00'],
    ['Fri Nov 20 10:00:00 CET 2026', '2026-11-20T09:00:00'],
    ['Fri, Nov 20, 2026 10:00:00 PM -0500', '2026-11-21T03:00:00'],
    ['Fri, 20 Nov 2026 12:05am', '2026-11-20T00:05:00'],
    ['Fri, 20 Nov 2026 10.00.00 +0000', '2026-11-20T10:00:00'],
    ['Friday, 20-Nov-26 10:00:00 GMT', '2026-11-20T10:00:00'],
    ['Fri,20 November 2026 10:00:00+0100', '2026-11-20T09:00:00'],
    ['2026-11-20T10:00:00.123+02:00', '2026-11-20T08:00:00'],
    ['2026-11-20 10:00:00 +0100', '2026-11-20T09:00:00'],
  ])('as programs write it instead: %s is %s', (value, time) => {
    expect(shown(value)).toBe(time)
  })

  it.each([
    undefined,
    '',
    'yesterday',
    'Fri, 20 Nov 10:00:00 +0000',
    'Fri, 20 Nov 2026',
    'Fri, 31 Feb 2026 10:00:00 +0000',
    'Fri, 20 Nov 2026 25:00:00 +0000',
    'Fri, 20 Nov 1900 10:00:00 +0000',
    '2026-13-20T10:00:00Z',
  ])('that is no date is null: %s', (value) => {
    expect(shown(value)).toBeNull()
  })
})
