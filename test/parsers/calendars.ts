import { checkRecurrence } from '../../src/calendars/edit/recurrence-input.ts'
import { splitRecurrence } from '../../src/calendars/edit/split-recurrence.ts'
import { expandSeries } from '../../src/calendars/instances/instances.ts'
import { parseContentLine } from '../../src/platform/calendar/content-line.ts'
import { parseDuration } from '../../src/platform/calendar/duration.ts'
import { parseRule } from '../../src/platform/calendar/rule.ts'
import { ianaZone } from '../../src/platform/calendar/zone-names.ts'
import { mapEvents } from '../../src/providers/caldav/events/map.ts'
import { ObjectZones } from '../../src/providers/caldav/events/zones.ts'
import { buildCases, type HostileCase } from './hostile-case.ts'

const MB = 1024 * 1024

/** An object of this many characters, from texts that are repeated within it. */
function object(start: string, text: string, end = ''): (size: number) => string {
  return (size) =>
    `BEGIN:VCALENDAR\r\n${start}${text.repeat(Math.floor((size - start.length - end.length - 40) / text.length))}${end}END:VCALENDAR\r\n`
}

const TIMES = 'DTSTART;TZID=Own:20261120T080000\r\nDTEND;TZID=Own:20261120T090000\r\n'
const EVENT = `BEGIN:VEVENT\r\n${TIMES}RECURRENCE-ID:20261120T080000Z\r\nEND:VEVENT\r\n`
const OBSERVANCE =
  'BEGIN:STANDARD\r\nDTSTART:19701025T030000\r\nTZOFFSETFROM:+0213\r\nTZOFFSETTO:+0117\r\nEND:STANDARD\r\n'
const ZONE_LINES = `BEGIN:VTIMEZONE\r\nTZID:Own\r\n${'X-A:b\r\n'.repeat(2000)}${OBSERVANCE}END:VTIMEZONE\r\n`

/** Half of the object describes the zone, half are events in it. */
function zoneAndEvents(size: number): string {
  const lines = `X-A:${'b'.repeat(40)}\r\n`.repeat(Math.floor((size / 2 - 300) / 46))
  const zone = `BEGIN:VTIMEZONE\r\nTZID:Own\r\n${lines}${OBSERVANCE}END:VTIMEZONE\r\n`
  const events = Array.from({ length: Math.floor(size / 2 / EVENT.length) }, (_, at) =>
    EVENT.replace('080000Z', `${String(80_000 + at).padStart(6, '0')}Z`),
  )
  return `BEGIN:VCALENDAR\r\n${zone}${events.join('')}END:VCALENDAR\r\n`
}

/** As many zones as events, each in its own. */
function zonesAndEvents(size: number): string {
  const count = Math.floor(size / 420)
  const pieces = Array.from({ length: count }, (_, at) => {
    const time = `202611${String(1 + (at % 28)).padStart(2, '0')}T${String(at % 24).padStart(2, '0')}0000`
    const zone = `BEGIN:VTIMEZONE\r\nTZID:Own${at}\r\n${OBSERVANCE.replace('0213', String(1000 + (at % 200)))}END:VTIMEZONE\r\n`
    return `${zone}BEGIN:VEVENT\r\nUID:${at}\r\nDTSTART;TZID=Own${at}:${time}\r\nRECURRENCE-ID;TZID=Own${at}:${time}\r\nEND:VEVENT\r\n`
  })
  return `BEGIN:VCALENDAR\r\n${pieces.join('')}END:VCALENDAR\r\n`
}

const OBJECTS: [shape: string, text: (size: number) => string][] = [
  ['a long zone that many events are in', zoneAndEvents],
  ['many zones', zonesAndEvents],
  ['exceptions', object('', EVENT)],
  [
    'dates of lines in the zone of the object',
    object(`${ZONE_LINES}BEGIN:VEVENT\r\n${TIMES}`, 'EXDATE;TZID=Own:20261120T080000\r\n', 'END:VEVENT\r\n'),
  ],
  ['dates of one line', object(`BEGIN:VEVENT\r\n${TIMES}EXDATE:`, '20261120T080000,', '1\r\nEND:VEVENT\r\n')],
  ['attendees', object(`BEGIN:VEVENT\r\n${TIMES}`, 'ATTENDEE;CN=A:mailto:a@b.c\r\n', 'END:VEVENT\r\n')],
  ['parameters of one line', object(`BEGIN:VEVENT\r\n${TIMES}ATTENDEE`, ';A=B', ':c\r\nEND:VEVENT\r\n')],
  ['values of one parameter', object(`BEGIN:VEVENT\r\n${TIMES}ATTENDEE;A=B`, ',"C"', ':c\r\nEND:VEVENT\r\n')],
  ['quotes of one parameter', object(`BEGIN:VEVENT\r\n${TIMES}ATTENDEE;A=`, '"', ':c\r\nEND:VEVENT\r\n')],
  ['folded lines', object(`BEGIN:VEVENT\r\n${TIMES}SUMMARY:`, 'a\r\n ', '\r\nEND:VEVENT\r\n')],
  ['carriage returns', object(`BEGIN:VEVENT\r\n${TIMES}SUMMARY:`, '\r', '\r\nEND:VEVENT\r\n')],
  ['escapes', object(`BEGIN:VEVENT\r\n${TIMES}SUMMARY:`, '\\n', '\r\nEND:VEVENT\r\n')],
  ['white space', object(`BEGIN:VEVENT\r\n${TIMES}SUMMARY:a`, ' ', 'b\r\nEND:VEVENT\r\n')],
  ['white space around a name', object('BEGIN:VEVENT', ' ', 'b\r\nEND:VEVENT\r\n')],
  ['empty lines', object('', '\r\n')],
  ['components', object('', 'BEGIN:VEVENT\r\nEND:VEVENT\r\n')],
  ['alarms', object(`BEGIN:VEVENT\r\n${TIMES}`, 'BEGIN:VALARM\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n', 'END:VEVENT\r\n')],
  ['open components', object('', 'BEGIN:VEVENT\r\n')],
  ['rules', object(`BEGIN:VEVENT\r\n${TIMES}`, 'RRULE:FREQ=YEARLY;BYDAY=MO\r\n', 'END:VEVENT\r\n')],
  ['one rule', object(`BEGIN:VEVENT\r\n${TIMES}RRULE:FREQ=YEARLY;BYDAY=MO`, ',1MO', '\r\nEND:VEVENT\r\n')],
  ['digits of a duration', object('BEGIN:VEVENT\r\nDTSTART:20261120T080000\r\nDURATION:P', '1', 'D\r\nEND:VEVENT\r\n')],
  ['a long address', object(`BEGIN:VEVENT\r\n${TIMES}ORGANIZER:mailto:`, 'a ', '\r\nEND:VEVENT\r\n')],
]

const WINDOW = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2027, 0, 1) }
const START = { dateTime: '2020-01-01T09:00:00', timeZone: 'Europe/Berlin' }

function buildSeries(recurrence: string[], exceptions = 0) {
  return {
    start: START,
    end: { dateTime: '2020-01-01T10:00:00', timeZone: 'Europe/Berlin' },
    recurrence,
    exceptions: Array.from({ length: exceptions }, (_, at) => ({
      dateTime: new Date(WINDOW.from + at * 60_000).toISOString().slice(0, 19),
      timeZone: 'Europe/Berlin',
    })),
  }
}

/** The lines of a series: 64 kB at most, as `boundedEvent` keeps them. */
const LINES: [shape: string, lines: (size: number) => string[]][] = [
  ['dates of one line', (size) => [`RDATE:${'20261120T080000Z,'.repeat(size / 17)}`]],
  [
    'dates in another zone',
    (size) => Array.from({ length: size / 40 }, (_, at) => `RDATE;TZID=Etc/GMT+${at % 12}:20261120T080000`),
  ],
  [
    'zones that do not exist',
    (size) => Array.from({ length: size / 40 }, (_, at) => `RDATE;TZID=Nowhere/A${at}:20261120T080000`),
  ],
  ['rules for every second', (size) => Array.from({ length: size / 40 }, () => 'RRULE:FREQ=SECONDLY')],
  [
    'rules that match nothing',
    (size) => Array.from({ length: size / 40 }, () => 'RRULE:FREQ=SECONDLY;BYMONTHDAY=31;BYMONTH=2'),
  ],
  [
    'positions of a set',
    (size) => [`RRULE:FREQ=YEARLY;BYSETPOS=${'1,-1,'.repeat(Math.min(size, 3900) / 5)}366;BYHOUR=1,2,3`],
  ],
  [
    'excluded rules',
    (size) => ['RRULE:FREQ=HOURLY', ...Array.from({ length: size / 40 }, () => 'EXRULE:FREQ=MINUTELY')],
  ],
  ['what is no line', (size) => [';'.repeat(size)]],
  ['parameters', (size) => [`EXDATE${';A=B'.repeat(size / 4)}:20261120`]],
]

const COUNTED = 'RRULE:FREQ=DAILY;COUNT=9999999'

export const CALENDARS: HostileCase[] = [
  ...buildCases(
    'iCalendar objects',
    { totalMs: 400 },
    OBJECTS.map(([shape, text]) => ({
      shape,
      size: 1_000_000,
      prepare(size: number) {
        const object = { path: '/a', etag: null, text: text(size) }
        return () => mapEvents(object, { zones: new ObjectZones(), addresses: new Set() })
      },
    })),
  ),
  ...buildCases(
    'recurring events',
    {},
    LINES.map(([shape, lines]) => ({
      shape,
      size: 64 * 1024,
      prepare(size: number) {
        const series = buildSeries(lines(size))
        return () => expandSeries(series, 'Europe/Berlin', WINDOW)
      },
    })),
  ),
  ...buildCases(
    'recurrence of requests',
    {},
    LINES.map(([shape, lines]) => ({
      shape,
      size: 40_000,
      prepare(size: number) {
        const entries = lines(size).map((line) => line.slice(0, size / 20))
        return () => checkRecurrence(entries.slice(0, 20), START, 'Europe/Berlin', [])
      },
    })),
  ),
  ...buildCases('the division of a series', {}, [
    ...LINES.map(([shape, lines]) => ({
      shape,
      size: 64 * 1024,
      prepare(size: number) {
        const entries = lines(size)
        return () => splitRecurrence(entries, START, '20261120T080000Z', 'Europe/Berlin')
      },
    })),
    {
      shape: 'counted rules',
      size: 64 * 1024,
      prepare: (size) => () =>
        splitRecurrence(
          Array.from({ length: size / 40 }, () => COUNTED),
          START,
          '20261120T080000Z',
          'Europe/Berlin',
        ),
    },
  ]),
  ...buildCases('content lines', {}, [
    ...[';A=B', ';A="', ';A=B,"', ';', ',', '"'].map((text) => ({
      shape: `repeated ${text}`,
      size: MB,
      prepare(size: number) {
        const line = `A${text.repeat(size / text.length)}`
        return () => parseContentLine(line)
      },
    })),
    ...['1', 'P', '1D', 'T1H'].map((text) => ({
      shape: `a duration of ${text}`,
      size: MB,
      prepare(size: number) {
        const value = `P${text.repeat(size / text.length)}x`
        return () => parseDuration(value)
      },
    })),
    ...['a', '/', 'Europe/', '(UTC+01:00) '].map((text) => ({
      shape: `a zone of ${text}`,
      size: MB,
      prepare(size: number) {
        const value = text.repeat(size / text.length)
        return () => ianaZone(value)
      },
    })),
    {
      shape: 'a rule',
      size: MB,
      prepare(size: number) {
        const value = 'BYDAY=MO;'.repeat(size / 9)
        return () => parseRule(value)
      },
    },
  ]),
]
