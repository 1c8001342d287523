import fc from 'fast-check'
import { expect, it } from 'vitest'
import { originalStartText } from './api.ts'

it('writes the original start of an instance as an iCalendar time or date', () => {
  expect(originalStartText('2026-11-20')).toBe('20261120')
  expect(originalStartText(Date.UTC(2026, 10, 20, 8))).toBe('20261120T080000Z')
  expect(originalStartText(Date.UTC(2026, 0, 1, 23, 59, 59, 999))).toBe('20260101T235959Z')
})

it('writes any time as its ISO text without separators', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (time) => {
      expect(originalStartText(time.getTime())).toBe(time.toISOString().replaceAll(/[-:]|\.\d+/g, ''))
    }),
  )
})
