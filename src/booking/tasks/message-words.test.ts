import { describe, expect, it } from 'vitest'
import { whenText } from './message-words.ts'

const half = (start: string) => ({ startMs: Date.parse(start), endMs: Date.parse(start) + 30 * 60_000 })

describe('whenText', () => {
  it.each([
    [
      '2026-11-25T09:00:00Z',
      'Europe/Berlin',
      /^Wednesday,? 25 November 2026.* 10:00\s?\u2013\s?10:30 \(Europe\/Berlin\)$/,
    ],
    ['2027-01-15T16:00:00Z', 'America/Vancouver', / 09:00\s?\u2013\s?09:30 \(America\/Vancouver\)$/],
    ['2026-10-25T00:15:00Z', 'Europe/Berlin', / 02:15\s?\u2013\s?02:45 \(Europe\/Berlin, UTC\+02:00\)$/],
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', / 02:30\s?\u2013\s?03:00 \(Europe\/Berlin, UTC\+01:00\)$/],
  ])('of %s in %s', (start, zone, expected) => {
    expect(whenText(half(start), zone, 'en-GB')).toMatch(expected)
  })
})
