import { expect, it } from 'vitest'
import { isoTime, parseTime } from './time.ts'

it('writes UTC with milliseconds and a Z', () => {
  expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z')
})

it.each([
  ['2026-03-01T10:00:00Z', Date.UTC(2026, 2, 1, 10)],
  ['2026-03-01T10:00:00.250+02:00', Date.UTC(2026, 2, 1, 8, 0, 0, 250)],
])('reads RFC 3339 %s', (text, ms) => {
  expect(parseTime(text)).toBe(ms)
})

it.each(['2026-03-01', '2026-03-01T10:00:00', 'yesterday', '2026-13-01T10:00:00Z', ''])('refuses "%s"', (text) => {
  expect(parseTime(text)).toBeUndefined()
})
