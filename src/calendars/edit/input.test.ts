import { describe, expect, it } from 'vitest'
import type { ErrorDetail } from '../../platform/errors/app-error.ts'
import type { EventBody } from './api.ts'
import { type CurrentEvent, parseEventInput } from './input.ts'

const START = { dateTime: '2026-11-20T08:00:00Z' }
const END = { dateTime: '2026-11-20T09:00:00Z' }
const STORED: CurrentEvent = {
  start: { dateTime: '2026-11-20T09:00:00', timeZone: 'Europe/Berlin' },
  end: { dateTime: '2026-11-20T10:00:00', timeZone: 'Europe/Berlin' },
  recurrence: [],
}

function parsed(body: EventBody, current: CurrentEvent | null = null) {
  const errors: ErrorDetail[] = []
  const input = parseEventInput(body, current, 'Europe/Berlin', errors)
  return { input, paths: errors.map(({ path }) => path), errors }
}

describe('the input of an event', () => {
  it('has times in the zone that the request names, otherwise in that of the calendar', () => {
    const { input } = parsed({ start: START, end: { dateTime: '2026-11-20T04:00:00-05:00', timeZone: 'asia/tokyo' } })
    expect(input).toEqual({
      start: { dateTime: '2026-11-20T09:00:00', timeZone: 'Europe/Berlin' },
      end: { dateTime: '2026-11-20T18:00:00', timeZone: 'Asia/Tokyo' },
    })
    // The second 02:30 of that night, which a local time cannot say.
    const second = { dateTime: '2026-10-25T01:30:00Z' }
    expect(parsed({ start: second, end: END }).input.start).toEqual({
      dateTime: '2026-10-25T01:30:00',
      timeZone: 'UTC',
    })
    const series = { start: second, end: END, recurrence: ['RRULE:FREQ=DAILY'] }
    expect(parsed(series).paths).toEqual(['body.start.dateTime'])
  })

  it('is empty where the request is, and empty values are null', () => {
    expect(parsed({}, STORED)).toEqual({ input: {}, paths: [], errors: [] })
    const empty = { description: null, location: null, recurrence: null, attendees: null, reminders: null }
    const input = { description: '', location: '', recurrence: [], attendees: [], reminders: null }
    expect(parsed(empty, STORED).input).toEqual(input)
    const texts = parsed({ summary: ' A  b ', description: 'a\r\n\tb' }, STORED).input
    expect(texts).toEqual({ summary: 'A b', description: 'a\n\tb' })
  })

  it.each<[string, NonNullable<EventBody['start']>, string]>([
    ['nothing', {}, 'body.start'],
    ['both forms', { date: '2026-11-20', dateTime: START.dateTime }, 'body.start'],
    ['no offset', { dateTime: '2026-11-20T08:00:00', timeZone: 'Europe/Berlin' }, 'body.start.dateTime'],
    ['a day that does not exist', { dateTime: '2026-02-30T08:00:00Z' }, 'body.start.dateTime'],
    ['an hour that does not exist', { dateTime: '2026-02-20T25:00:00Z' }, 'body.start.dateTime'],
    ['another form of ISO 8601', { dateTime: '20261120T080000Z' }, 'body.start.dateTime'],
    ['milliseconds', { dateTime: '2026-11-20T08:00:00.5Z' }, 'body.start.dateTime'],
    ['a year far away', { dateTime: '2999-11-20T08:00:00Z' }, 'body.start.dateTime'],
    ['a Windows zone', { ...START, timeZone: 'W. Europe Standard Time' }, 'body.start.timeZone'],
    ['an unknown zone', { ...START, timeZone: 'Mars/Olympus' }, 'body.start.timeZone'],
    ['a date of RFC 5545', { date: '20261120' }, 'body.start.date'],
    ['a date that does not exist', { date: '2026-02-29' }, 'body.start.date'],
  ])('refuses a start with %s', (_name, start, path) => {
    expect(parsed({ start, end: END }).paths).toEqual([path])
  })

  it('refuses times that do not fit each other, also one that is stored', () => {
    expect(parsed({ start: START, end: START }).paths).toEqual(['body.end'])
    expect(parsed({ start: START, end: { date: '2026-11-21' } }).paths).toEqual(['body.end'])
    expect(parsed({ start: { date: '2026-11-20' }, end: { date: '2026-11-20' } }).paths).toEqual(['body.end'])
    expect(parsed({ start: { dateTime: '2026-11-20T09:00:00Z' } }, STORED).paths).toEqual(['body.start'])
    expect(parsed({ end: { date: '2026-11-21' } }, STORED).paths).toEqual(['body.end'])
    expect(parsed({ end: { dateTime: '2026-11-20T08:00:01Z' } }, STORED).paths).toEqual([])
  })

  it('refuses texts of more lines, and control characters', () => {
    const bell = 'a\u0007b'
    const { paths } = parsed({ summary: 'a\nb', location: bell, description: bell, start: START, end: END })
    expect(paths.sort()).toEqual(['body.description', 'body.location', 'body.summary'])
    expect(parsed({ summary: '\ud800' }, STORED).paths).toEqual(['body.summary'])
  })

  it('refuses attendees who are no address, or in the list twice', () => {
    const attendees = ['bob@example.com', 'no address', 'a@b.c, d@e.f', 'BOB@example.com', 'x@y.z\r\nBcc: a@b.c']
    const { paths } = parsed({ attendees: attendees.map((email) => ({ email })) }, STORED)
    expect(paths).toEqual([1, 2, 3, 4].map((index) => `body.attendees.${index}.email`))
  })

  it.each([
    ['no line', 'FREQ=DAILY'],
    ['no rule', 'RRULE:FREQ=DAYLY'],
    ['a rule of every second', 'RRULE:FREQ=SECONDLY'],
    ['two ends', 'RRULE:FREQ=DAILY;COUNT=2;UNTIL=20261231T000000Z'],
    ['a last day', 'RRULE:FREQ=DAILY;UNTIL=20261231'],
    ['a local end', 'RRULE:FREQ=DAILY;UNTIL=20261231T000000'],
    ['another property', 'ATTENDEE:mailto:a@example.com'],
    ['a line break', 'RRULE:FREQ=DAILY\r\nX-EVIL:1'],
    ['dates of a series with times', 'RDATE;VALUE=DATE:20261231'],
    ['a period', 'RDATE;VALUE=PERIOD:20261231T000000Z/PT1H'],
    ['an unknown zone', 'RDATE;TZID=Nowhere:20261231T000000'],
    ['no time', 'RDATE:tomorrow'],
  ])('refuses recurrence with %s', (_name, line) => {
    expect(parsed({ start: START, end: END, recurrence: [line] }).paths[0]).toBe('body.recurrence.0')
  })

  it('accepts rules with dates, and refuses two rules or none', () => {
    const paths = (...recurrence: string[]) => parsed({ recurrence }, STORED).paths
    const exdate = 'EXDATE;TZID=Europe/Berlin:20261121T090000,20261122T090000'
    expect(paths('RRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20261231T080000Z', exdate, 'RDATE:20261231T080000Z')).toEqual([])
    expect(paths('RRULE:FREQ=DAILY', 'RRULE:FREQ=WEEKLY')).toEqual(['body.recurrence.1'])
    expect(paths(exdate)).toEqual(['body.recurrence'])
    const dates = Array.from({ length: 501 }, () => '20261121T090000Z').join(',')
    expect(paths(`RDATE:${dates}`)).toEqual(['body.recurrence'])
    const allDay = { start: { date: '2026-11-20' }, end: { date: '2026-11-21' } }
    expect(
      parsed({ ...allDay, recurrence: ['RRULE:FREQ=DAILY;UNTIL=20261231', 'EXDATE;VALUE=DATE:20261122'] }).paths,
    ).toEqual([])
  })
})
