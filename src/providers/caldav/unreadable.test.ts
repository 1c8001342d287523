import { expect, it } from 'vitest'
import type { RemoteEvent } from '../contract/index.ts'
import { objectEvents } from './events/map.ts'
import { ObjectZones } from './events/zones.ts'

const MASTER = ['DTSTART:20270602T080000Z', 'DTEND:20270602T090000Z', 'RRULE:FREQ=DAILY;COUNT=3']
const event = (...lines: string[]) => ['BEGIN:VEVENT', 'UID:1@example.com', ...lines, 'END:VEVENT']

async function read(...lines: string[]) {
  const text = ['BEGIN:VCALENDAR', ...lines, 'END:VCALENDAR', ''].join('\r\n')
  const context = { zones: new ObjectZones(), addresses: new Set<string>() }
  const { events, unreadable } = await objectEvents({ path: '/c/1.ics', etag: null, text }, context)
  return { times: events.map(formatTimes), unreadable }
}

function formatTimes({ start, end, originalStart }: RemoteEvent): string {
  const text = (time: RemoteEvent['start']) => ('date' in time ? time.date : time.dateTime)
  return `${text(start)}/${text(end)}${originalStart === null ? '' : ` instead of ${text(originalStart)}`}`
}

const SERIES = '2027-06-02T08:00:00/2027-06-02T09:00:00'

/** Each case names the instances that result, and the note that the operator reads. */
const ODD: [name: string, lines: string[], times: string[], unreadable: string | null][] = [
  ['what is no event', ['BEGIN:VTODO', 'UID:1', 'END:VTODO'], [], null],
  ['an event that can be read', event(...MASTER), [SERIES], null],
  ['no start', event('SUMMARY:Lunch'), [], 'DTSTART is missing.'],
  ['a start that is no time', event('DTSTART:tomorrow'), [], 'DTSTART "tomorrow" is no time.'],
  [
    'a start whose day is known',
    event('DTSTART:20270602T2561'),
    ['2027-06-02/2027-06-03'],
    'DTSTART "20270602T2561" is no time: the whole day counts.',
  ],
  [
    'a start as people write it',
    event('DTSTART:2027-6-2 9 am', 'DTEND:2027-6-2 10 am'),
    ['2027-06-02/2027-06-03'],
    'DTSTART "2027-6-2 9 am" is no time: the whole day counts. DTEND "2027-6-2 10 am" is no end: a day or an hour counts.',
  ],
  [
    'an end that is no time',
    event('DTSTART:20270602T080000Z', 'DTEND:later'),
    ['2027-06-02T08:00:00/2027-06-02T09:00:00'],
    'DTEND "later" is no end: a day or an hour counts.',
  ],
  [
    'an unknown zone',
    event('DTSTART;TZID=Our office:20270602T080000', 'DURATION:PT1H'),
    [SERIES],
    'TZID "Our office" is no known zone: the calendar\'s zone counts.',
  ],
  [
    'values of a rule',
    event('DTSTART:20270610T080000Z', 'RRULE:FREQ=MONTHLY;BYMONTHDAY=32,10'),
    ['2027-06-10T08:00:00/2027-06-10T08:00:00'],
    'RRULE "FREQ=MONTHLY;BYMONTHDAY=32,10" has parts that make no sense.',
  ],
  [
    'dates of a series',
    event(...MASTER, 'EXDATE:20270603T080000Z,never'),
    [SERIES],
    'EXDATE "20270603T080000Z,never" has values that are no times.',
  ],
  [
    'an instance without times of its own',
    [...event(...MASTER), ...event('RECURRENCE-ID:20270603T080000Z', 'SUMMARY:Other')],
    [SERIES, '2027-06-03T08:00:00/2027-06-03T09:00:00 instead of 2027-06-03T08:00:00'],
    'DTSTART is missing.',
  ],
  [
    'which instance is meant',
    [...event(...MASTER), ...event('RECURRENCE-ID:second', 'DTSTART:20270603T120000Z', 'DURATION:PT1H')],
    [SERIES, '2027-06-03T12:00:00/2027-06-03T13:00:00'],
    'RECURRENCE-ID "second" is no time: the instance takes place beside its series.',
  ],
]

it.each(ODD)('reports %s', async (_, lines, times, unreadable) => {
  expect(await read(...lines)).toEqual({ times, unreadable })
})

it('reports what is no calendar object, and what is too large', async () => {
  const context = { zones: new ObjectZones(), addresses: new Set<string>() }
  const reason = 'It is no iCalendar object, or too large to be read.'
  const large = ['BEGIN:VCALENDAR', ...event(...MASTER, `SUMMARY:${'x'.repeat(1_100_000)}`), 'END:VCALENDAR'].join(
    '\r\n',
  )
  for (const text of ['', '<html>', large]) {
    expect(await objectEvents({ path: '/c/1.ics', etag: null, text }, context)).toEqual({
      events: [],
      unreadable: reason,
    })
  }
})
