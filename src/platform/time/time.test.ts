import { expect, it } from 'vitest'
import { isoTime, parseTime, requireTime } from './time.ts'

it('writes UTC with milliseconds and a Z', () => {
  expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z')
})

it.each([
  ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00.000Z'],
  ['2026-03-01T10:00:00.250+02:00', '2026-03-01T08:00:00.250Z'],
  ['2026-03-01t10:00:00.5z', '2026-03-01T10:00:00.500Z'],
  ['2026-03-01T10:00:00-00:00', '2026-03-01T10:00:00.000Z'],
  ['2026-03-01T10:00:00+23:59', '2026-02-28T10:01:00.000Z'],
  [`2026-03-01T10:00:00.${'9'.repeat(40)}Z`, '2026-03-01T10:00:00.999Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['2000-02-29T23:59:59Z', '2000-02-29T23:59:59.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['0099-12-31T23:59:59-01:00', '0100-01-01T00:59:59.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
])('reads RFC 3339 %s', (text, utc) => {
  expect(isoTime(parseTime(text) ?? Number.NaN)).toBe(utc)
})

it.each([
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ['2017-01-01T00:59:60.999+01:00', '2017-01-01T00:00:00.000Z'],
  ['1990-12-31T15:59:60-08:00', '1991-01-01T00:00:00.000Z'],
])('reads the leap second %s as the end of its minute', (text, utc) => {
  expect(isoTime(parseTime(text) ?? Number.NaN)).toBe(utc)
})

it.each([
  ['a date', '2026-03-01'],
  ['a time without an offset', '2026-03-01T10:00:00'],
  ['a word', 'yesterday'],
  ['an empty text', ''],
  ['a thirteenth month', '2026-13-01T10:00:00Z'],
  ['a month 0', '2026-00-01T10:00:00Z'],
  ['30 February', '2026-02-30T10:00:00Z'],
  ['29 February of another year', '2026-02-29T10:00:00Z'],
  ['29 February of 1900', '1900-02-29T10:00:00Z'],
  ['31 April', '2026-04-31T10:00:00+02:00'],
  ['a day 0', '2026-04-00T10:00:00Z'],
  ['hour 24', '2026-04-30T24:00:00Z'],
  ['minute 60', '2026-04-30T10:60:00Z'],
  ['second 61', '2016-12-31T23:59:61Z'],
  ['a leap second at noon', '2016-12-31T12:00:60Z'],
  ['a leap second within a month', '2016-12-30T23:59:60Z'],
  ['a leap second in another UTC minute', '2016-12-31T23:59:60+01:00'],
  ['an offset of 24 hours', '2026-04-30T10:00:00+24:00'],
  ['an offset of 60 minutes', '2026-04-30T10:00:00+01:60'],
  ['an offset without a colon', '2026-04-30T10:00:00+0100'],
  ['no seconds', '2026-04-30T10:00Z'],
  ['a fraction without digits', '2026-04-30T10:00:00.Z'],
  ['a comma', '2026-04-30T10:00:00,5Z'],
  ['a space in place of the T', '2026-04-30 10:00:00Z'],
  ['spaces around', ' 2026-04-30T10:00:00Z'],
  ['a line end', '2026-04-30T10:00:00Z\n'],
  ['year 0', '0000-01-01T00:00:00Z'],
  ['a UTC time before year 1', '0001-01-01T00:00:00+00:01'],
  ['a UTC time after year 9999', '9999-12-31T23:59:59-00:01'],
  ['a signed year', '+002026-04-30T10:00:00Z'],
  ['digits of another script', '２０２６-04-30T10:00:00Z'],
])('refuses %s: "%s"', (_, text) => {
  expect(parseTime(text)).toBeUndefined()
})

it('names the field of a wrong time', () => {
  expect(requireTime('query.since', '2026-03-01T10:00:00Z')).toBe(Date.UTC(2026, 2, 1, 10))
  expect(() => requireTime('query.since', '2026-02-30T10:00:00Z')).toThrow(
    'query.since: must be an RFC 3339 time with an offset, such as 2026-01-31T08:00:00Z',
  )
})
