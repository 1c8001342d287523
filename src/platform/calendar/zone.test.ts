import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { civilDate, DAY_MS, formatDay, formatLocal, parseDay, parseLocal, toDay, weekdayOf } from './days.ts'
import { WINDOWS_ZONES } from './generated/windows-zones.ts'
import { findZone } from './zone.ts'
import { ianaZone } from './zone-names.ts'

function zone(name: string) {
  const found = findZone(name)
  if (found === undefined) throw new Error(`no zone ${name}`)
  return found
}

const utc = (name: string, local: string) => formatLocal(zone(name).toUtc(parseLocal(local) ?? Number.NaN))

describe('dates', () => {
  it('are those of Date for every day from the year 1 to 9999', () => {
    const days = fc.integer({ min: toDay(1, 1, 1), max: toDay(9999, 12, 31) })
    fc.assert(
      fc.property(days, (day) => {
        const iso = new Date(day * DAY_MS).toISOString().slice(0, 10)
        const { year, month, dayOfMonth } = civilDate(day)
        expect([formatDay(day), parseDay(iso), toDay(year, month, dayOfMonth)]).toEqual([iso, day, day])
        expect((weekdayOf(day) + 1) % 7).toBe(new Date(day * DAY_MS).getUTCDay())
      }),
    )
  })

  it.each(['20260229', '2026-13-01', '2026-00-10', '00000101', '2026-1-1', '20260101T250000', '20260101T1000', ''])(
    'refuse %j',
    (text) => {
      expect(parseDay(text)).toBeUndefined()
      expect(parseLocal(text)).toBeUndefined()
    },
  )
})

describe('findZone', () => {
  it.each([
    ['Europe/Berlin', '2026-03-29T02:30:00', '2026-03-29T01:30:00'], // skipped
    ['Europe/Berlin', '2026-10-25T02:30:00', '2026-10-25T00:30:00'], // the first of two
    ['Europe/Berlin', '2026-10-25T03:00:00', '2026-10-25T02:00:00'],
    ['Australia/Lord_Howe', '2026-10-04T02:15:00', '2026-10-03T15:45:00'], // skipped, by half an hour
    ['Pacific/Apia', '2011-12-30T12:00:00', '2011-12-30T22:00:00'], // a skipped day
    ['Pacific/Kiritimati', '2026-01-01T00:00:00', '2025-12-31T10:00:00'], // 14 hours ahead
    ['Africa/Monrovia', '1971-12-31T23:00:00', '1971-12-31T23:44:30'], // offset with seconds
    ['Europe/Paris', '0001-01-02T00:00:00', '0001-01-01T23:50:39'], // local mean time
    ['Africa/Casablanca', '2026-03-01T09:00:00', '2026-03-01T09:00:00'], // Ramadan: clocks go back for a month
    // Changes of 2026.
    ['Africa/Casablanca', '2027-01-15T09:00:00', '2027-01-15T09:00:00'],
    ['America/Vancouver', '2027-01-15T09:00:00', '2027-01-15T16:00:00'],
    ['America/Edmonton', '2027-01-12T09:00:00', '2027-01-12T15:00:00'],
    ['America/Winnipeg', '2027-01-12T09:00:00', '2027-01-12T14:00:00'],
    ['America/Inuvik', '2027-01-12T09:00:00', '2027-01-12T15:00:00'],
    ['America/Havana', '2027-01-12T09:00:00', '2027-01-12T13:00:00'],
    ['Europe/Chisinau', '2027-03-28T03:30:00', '2027-03-28T01:30:00'],
    // Long after the last change that the table lists.
    ['Europe/Berlin', '2126-07-01T12:00:00', '2126-07-01T10:00:00'],
    ['Europe/Dublin', '2126-01-01T12:00:00', '2126-01-01T12:00:00'],
  ])('%s: %s is %s in UTC', (name, local, expected) => {
    expect(utc(name, local)).toBe(expected)
  })

  it('has the wall clocks of Intl, whatever the zone, from 1970 until zones changed in 2026', () => {
    const names = fc.constantFrom(...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'America/Bogota'))
    const times = fc.integer({ min: 0, max: Date.UTC(2026, 0, 1) / 1000 })
    fc.assert(
      fc.property(names, times, (name, seconds) => {
        const shown = new Date(seconds * 1000).toLocaleString('sv-SE', { timeZone: name }).replace(' ', 'T')
        expect(formatLocal(zone(name).toLocal(seconds * 1000))).toBe(shown)
      }),
      { numRuns: 200 },
    )
  })

  it('contains the range of wall clocks of any times', () => {
    const names = fc.constantFrom('Pacific/Apia', 'Australia/Lord_Howe', 'America/Havana')
    const times = fc.integer({ min: Date.UTC(2011, 11, 20), max: Date.UTC(2012, 11, 30) })
    fc.assert(
      fc.property(names, times, fc.nat(DAY_MS * 3), (name, from, lasts) => {
        const { from: first, to: last } = zone(name).localRange(from, from + lasts)
        for (let localMs = from - 2 * DAY_MS; localMs <= from + lasts + 2 * DAY_MS; localMs += 3_600_000) {
          const ms = zone(name).toUtc(localMs)
          if (ms >= from && ms <= from + lasts) {
            expect(localMs).toBeGreaterThanOrEqual(first)
            expect(localMs).toBeLessThanOrEqual(last)
          }
        }
      }),
    )
  })
})

describe('ianaZone', () => {
  it.each([
    ['Europe/Berlin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['AMERICA/NEW_YORK', 'America/New_York'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['US/Pacific', 'US/Pacific'],
    ['utc', 'UTC'],
    ['W. Europe Standard Time', 'Europe/Berlin'],
    ['w. europe standard time', 'Europe/Berlin'],
    ['FLE Standard Time', 'Europe/Kyiv'],
    ['tzone://Microsoft/Utc', 'UTC'],
    ['/mozilla.org/20050126_1/Europe/Berlin', 'Europe/Berlin'],
    ['/freeassociation.sourceforge.net/America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['Europe/Berlin (GMT+1)', 'Europe/Berlin'],
    ['"Europe/Berlin"', 'Europe/Berlin'],
    ['UTC+01:00', 'Etc/GMT-1'],
    ['GMT-0300', 'Etc/GMT+3'],
    ['GMT +0', 'UTC'],
    ['(UTC+01:00) Amsterdam, Berlin', undefined],
    ['UTC+05:30', undefined],
    ['Customized Time Zone', undefined],
    ['Nowhere/Known', undefined],
    ['', undefined],
    ['((((', undefined],
    ['Europe/Berlin'.padEnd(300, '/'), undefined],
  ])('%j is %s', (name, expected) => {
    expect(ianaZone(name)).toBe(expected)
  })

  it('knows every zone of the table of Windows names', () => {
    expect([...WINDOWS_ZONES.values()].filter((name) => findZone(name) === undefined)).toEqual([])
    expect(WINDOWS_ZONES.size).toBeGreaterThan(130)
  })
})
