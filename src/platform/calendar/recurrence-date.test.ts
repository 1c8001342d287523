import { describe, expect, it } from 'vitest'
import { parseRecurrenceDate } from './recurrence-date.ts'

const NINE_MS = Date.UTC(2026, 10, 20, 9)

describe('a value of an RDATE or EXDATE line', () => {
  it.each([
    ['20261120', { isDate: true, localMs: Date.UTC(2026, 10, 20), isUtc: false, end: undefined }],
    ['20261120T090000', { isDate: false, localMs: NINE_MS, isUtc: false, end: undefined }],
    [' 20261120T090000Z\r', { isDate: false, localMs: NINE_MS, isUtc: true, end: undefined }],
    ['20261120t090000z', { isDate: false, localMs: NINE_MS, isUtc: true, end: undefined }],
    ['20261120T090000Z/PT1H', { isDate: false, localMs: NINE_MS, isUtc: true, end: 'PT1H' }],
    ['20261120T090000 / 20261120T100000', { isDate: false, localMs: NINE_MS, isUtc: false, end: '20261120T100000' }],
  ])('%j is read by its form', (text, expected) => {
    expect(parseRecurrenceDate(text)).toEqual(expected)
  })

  it.each(['', '/', '20261301', '20261120Z', '20261120T250000', 'PT1H', 'tomorrow'])('%j is none', (text) => {
    expect(parseRecurrenceDate(text)).toBeUndefined()
  })
})
