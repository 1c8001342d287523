import { readFileSync } from 'node:fs'

/** A calendar object that programs wrote and others read wrongly, and what takes place in 2027. */
export interface OddObject {
  name: string
  text: string
  /** Zone of the calendar. */
  zone: string
  /** `start/end` in UTC, ` free` behind those that block nothing. */
  expected: string[]
}

const HOUR = 60

/** Hours that begin at these times of 2027: `06-02T08:00`. */
function from(minutes: number, ...starts: string[]): string[] {
  return starts.map((start) => {
    const startMs = Date.parse(`2027-${start}:00Z`)
    return [startMs, startMs + minutes * 60_000]
      .map((ms) => new Date(ms).toISOString().replace(':00.000Z', 'Z'))
      .join('/')
  })
}

function file(name: string, expected: string[], zone = 'Europe/Berlin'): OddObject {
  return { name, text: readFileSync(`test/calendars/odd/${name}.ics`, 'utf8'), zone, expected }
}

/** An event in a zone that the object describes. */
function inZone(
  name: string,
  tzid: string,
  description: readonly string[],
  lines: string[],
  expected: string[],
): OddObject {
  const text = [
    ...['BEGIN:VCALENDAR', 'BEGIN:VTIMEZONE', `TZID:${tzid}`, ...description, 'END:VTIMEZONE'],
    ...['BEGIN:VEVENT', 'UID:own@example.com', ...lines, 'END:VEVENT', 'END:VCALENDAR', ''],
  ].join('\r\n')
  return { name, text, zone: 'Europe/Berlin', expected }
}

function constant(offset: string): string[] {
  return ['BEGIN:STANDARD', 'DTSTART:19700101T000000', `TZOFFSETFROM:${offset}`, `TZOFFSETTO:${offset}`, 'END:STANDARD']
}

/** Half an hour of summer time from April to September, as nowhere. */
const PRIVATE_SUMMER = [
  ...[
    'BEGIN:DAYLIGHT',
    'DTSTART:20200401T020000',
    'TZOFFSETFROM:+0020',
    'TZOFFSETTO:+0050',
    'RRULE:FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=1',
  ],
  ...['END:DAYLIGHT', 'BEGIN:STANDARD', 'DTSTART:20201001T020000', 'TZOFFSETFROM:+0050', 'TZOFFSETTO:+0020'],
  ...['RRULE:FREQ=YEARLY;BYMONTH=10;BYMONTHDAY=1', 'END:STANDARD'],
]

export const ZONES: readonly OddObject[] = [
  file('zone-named-gmt', ['2027-07-23T09:20Z/2027-07-23T09:50Z']),
  file('zone-named-est', from(HOUR, '06-14T13:00')),
  file('zone-named-ast', from(HOUR, '06-15T12:00')),
  file('zone-named-gmt-minus', from(HOUR, '06-14T19:00')),
  file('vancouver-2026', from(HOUR, '01-15T16:00')),
  file('casablanca-2026', from(HOUR, '01-15T09:00')),
  inZone(
    'a region and a false description',
    'America/New_York',
    constant('+0000'),
    ['DTSTART;TZID=America/New_York:20270601T090000', 'DURATION:PT1H'],
    from(HOUR, '06-01T13:00'),
  ),
  inZone(
    'a location beside a private name',
    'Our office',
    ['X-LIC-LOCATION:America/New_York', ...constant('+0000')],
    ['DTSTART;TZID=Our office:20270601T090000', 'DURATION:PT1H'],
    from(HOUR, '06-01T13:00'),
  ),
  inZone(
    'a name with an escaped comma',
    '(UTC+01:00) Amsterdam\\, Berlin',
    constant('+0730'),
    ['DTSTART;TZID="(UTC+01:00) Amsterdam, Berlin":20270601T090000', 'DURATION:PT1H'],
    from(HOUR, '06-01T01:30'),
  ),
  inZone(
    'a name that is escaped in both places',
    'Ship\\, port side',
    constant('+0017'),
    ['DTSTART;TZID="Ship\\, port side":20270601T090000', 'DURATION:PT1H'],
    from(HOUR, '06-01T08:43'),
  ),
  inZone(
    'a name of Microsoft that is none',
    'tzone://Microsoft/Custom',
    constant('+0545'),
    ['DTSTART;TZID="tzone://Microsoft/Custom":20270601T090000', 'DURATION:PT1H'],
    from(HOUR, '06-01T03:15'),
  ),
  inZone(
    'a series in a zone of its own, across its clock changes',
    'Works',
    PRIVATE_SUMMER,
    [
      ...['DTSTART;TZID=Works:20270329T120000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=6'],
      'EXDATE;TZID=Works:20270330T120000,20270402T120000',
    ],
    from(HOUR, '03-29T11:40', '03-31T11:40', '04-01T11:10', '04-03T11:10'),
  ),
  inZone(
    'a series of years ago in a zone of its own',
    'Works',
    PRIVATE_SUMMER,
    ['DTSTART;TZID=Works:20210101T120000', 'DURATION:PT1H', 'RRULE:FREQ=YEARLY;BYMONTH=1,7;BYMONTHDAY=1'],
    from(HOUR, '01-01T11:40', '07-01T11:10'),
  ),
  inZone(
    'a zone that differs from another one for two days of March',
    'Our office',
    [
      ...['BEGIN:DAYLIGHT', 'DTSTART:20130329T020000', 'TZOFFSETFROM:+0200', 'TZOFFSETTO:+0300'],
      ...['RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=FR;BYMONTHDAY=23,24,25,26,27,28,29', 'END:DAYLIGHT'],
      ...['BEGIN:STANDARD', 'DTSTART:20131027T020000', 'TZOFFSETFROM:+0300', 'TZOFFSETTO:+0200'],
      ...['RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU', 'END:STANDARD'],
    ],
    ['DTSTART;TZID=Our office:20270325T120000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=4'],
    from(HOUR, '03-25T10:00', '03-26T09:00', '03-27T09:00', '03-28T09:00'),
  ),
  inZone(
    'an end that is the second of two on the clocks',
    'Works',
    PRIVATE_SUMMER,
    ['DTSTART;TZID=Works:20270930T003000', 'DURATION:PT25H30M'],
    ['2027-09-29T23:40Z/2027-10-01T01:10Z'],
  ),
  {
    name: 'an offset without a description',
    text: [
      ...['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:1', 'DTSTART;TZID=UTC+05:30:20270601T090000', 'DURATION:PT1H'],
      ...['END:VEVENT', 'END:VCALENDAR'],
    ].join('\r\n'),
    zone: 'Europe/Berlin',
    expected: from(HOUR, '06-01T03:30'),
  },
]

function object(...lines: string[]): string {
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n')
}

function events(name: string, components: string[][], expected: string[], zone = 'Europe/Berlin'): OddObject {
  const lines = components.flatMap((component) => ['BEGIN:VEVENT', ...component, 'END:VEVENT'])
  return { name, text: object(...lines), zone, expected }
}

const allDay = (...days: string[]): string[] =>
  days.map((day) => {
    const next = new Date(Date.parse(`2027-${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
    return `2027-${day}/${next}`
  })

/** Days of New York in winter. */
const newYorkDays = (...days: string[]): string[] =>
  allDay(...days).map((range) => range.replace('/', 'T05:00Z/').concat('T05:00Z'))
/** Days of Berlin in winter: they begin at 23:00 UTC. */
const berlinDays = (...days: string[]): string[] =>
  days.flatMap((day) => {
    const midnight = Date.parse(`2027-${day}T00:00:00+01:00`)
    return [midnight, midnight + 86_400_000].map((ms) => new Date(ms).toISOString().replace(':00.000Z', 'Z')).join('/')
  })

const SERIES_IN_BERLIN = [
  'UID:1',
  'DTSTART;TZID=Europe/Berlin:20270602T100000',
  'DTEND;TZID=Europe/Berlin:20270602T110000',
]

export const SERIES: readonly OddObject[] = [
  file('this-and-future', from(HOUR, '06-02T08:00', '06-09T08:00', '06-16T12:00', '06-23T12:00', '06-30T12:00')),
  events(
    'this and future, with an exception behind it and a longer duration',
    [
      [...SERIES_IN_BERLIN, 'RRULE:FREQ=WEEKLY;COUNT=5'],
      ['UID:1', 'RECURRENCE-ID;TZID=Europe/Berlin:20270623T100000', 'DTSTART:20270624T060000Z', 'DURATION:PT1H'],
      [
        ...[
          'UID:1',
          'RECURRENCE-ID;RANGE=THISANDFUTURE:20270616T080000Z',
          'DTSTART;TZID=Europe/Berlin:20270617T090000',
        ],
        'DURATION:PT1H',
      ],
    ],
    from(HOUR, '06-02T08:00', '06-09T08:00', '06-17T07:00', '06-24T06:00', '07-01T07:00'),
  ),
  events(
    'this and future cancelled',
    [
      [...SERIES_IN_BERLIN, 'RRULE:FREQ=WEEKLY'],
      ['UID:1', 'RECURRENCE-ID;RANGE=THISANDFUTURE:20270616T080000Z', 'DTSTART:20270616T080000Z', 'STATUS:CANCELLED'],
    ],
    from(HOUR, '06-02T08:00', '06-09T08:00'),
  ),
  events(
    'this and future free, later busy again',
    [
      [...SERIES_IN_BERLIN, 'RRULE:FREQ=WEEKLY;COUNT=5'],
      [
        ...['UID:1', 'RECURRENCE-ID;RANGE=THISANDFUTURE:20270609T080000Z', 'DTSTART:20270609T090000Z', 'DURATION:PT1H'],
        'TRANSP:TRANSPARENT',
      ],
      ['UID:1', 'RECURRENCE-ID;RANGE=THISANDFUTURE:20270623T080000Z', 'DTSTART:20270623T080000Z', 'DURATION:PT1H'],
    ],
    [
      ...from(HOUR, '06-02T08:00'),
      ...from(HOUR, '06-09T09:00', '06-16T09:00').map((range) => `${range} free`),
      ...from(HOUR, '06-23T08:00', '06-30T08:00'),
    ],
  ),
  file('allday-exdate-utc', berlinDays('02-16', '02-17', '02-19', '02-20')),
  events(
    'all-day exception, end and exclusion at midnight in UTC',
    [
      ['UID:1', 'DTSTART;VALUE=DATE:20270201', 'RRULE:FREQ=DAILY;UNTIL=20270205T000000Z', 'EXDATE:20270202T000000Z'],
      ['UID:1', 'RECURRENCE-ID:20270203T000000Z', 'DTSTART;VALUE=DATE:20270220'],
    ],
    newYorkDays('02-01', '02-04', '02-05', '02-20'),
    'America/New_York',
  ),
  events(
    'all-day end at the midnight of the place, in UTC',
    [['UID:1', 'DTSTART;VALUE=DATE:20270201', 'RRULE:FREQ=DAILY;UNTIL=20270202T230000Z']],
    berlinDays('02-01', '02-02', '02-03'),
  ),
  file('recurrence-id-floating', [...from(HOUR, '06-02T00:00', '06-03T02:00', '06-04T00:00')]),
  events(
    'two versions of an exception',
    [
      [...SERIES_IN_BERLIN, 'RRULE:FREQ=DAILY;COUNT=2'],
      ['UID:1', 'SEQUENCE:1', 'RECURRENCE-ID:20270603T080000Z', 'DTSTART:20270603T120000Z', 'DURATION:PT1H'],
      ['UID:1', 'SEQUENCE:3', 'RECURRENCE-ID:20270603T080000Z', 'DTSTART:20270603T140000Z', 'DURATION:PT1H'],
      ['UID:1', 'SEQUENCE:2', 'RECURRENCE-ID:20270603T080000Z', 'DTSTART:20270603T130000Z', 'DURATION:PT1H'],
    ],
    from(HOUR, '06-02T08:00', '06-03T14:00'),
  ),
  events(
    'an added date in UTC that is the second of two on the clocks',
    [
      ['UID:1', 'DTSTART;TZID=Europe/Berlin:20271024T023000', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY;COUNT=2'],
      ['UID:2', 'DTSTART;TZID=Europe/Berlin:20271030T023000', 'DURATION:PT1H', 'RDATE:20271031T013000Z'],
    ],
    from(HOUR, '10-24T00:30', '10-30T00:30', '10-31T00:30', '10-31T01:30'),
  ),
  events(
    'a duration in days, and one in as many hours, over a clock change',
    [
      ['UID:1', 'DTSTART;TZID=Europe/Berlin:20270327T100000', 'DURATION:P1DT1H', 'RRULE:FREQ=DAILY;COUNT=2'],
      ['UID:2', 'DTSTART;TZID=Europe/Berlin:20270327T100000', 'DURATION:PT25H', 'RRULE:FREQ=DAILY;COUNT=2'],
    ],
    [
      ...['2027-03-27T09:00Z/2027-03-28T09:00Z', '2027-03-27T09:00Z/2027-03-28T10:00Z'],
      ...['2027-03-28T08:00Z/2027-03-29T09:00Z', '2027-03-28T08:00Z/2027-03-29T09:00Z'],
    ],
  ),
  file('unknown-part-of-rule', from(HOUR, '06-10T16:00', '07-10T16:00')),
  events(
    'a weekday that is none, beside one that is',
    [[...SERIES_IN_BERLIN, 'RRULE:FREQ=WEEKLY;BYDAY=WE,XX;COUNT=2']],
    from(HOUR, '06-02T08:00', '06-09T08:00'),
  ),
]

export const OBJECTS: readonly OddObject[] = [
  file(
    'intended-free',
    from(HOUR, '06-04T07:00').map((range) => `${range} free`),
  ),
  events(
    'free for Outlook, busy for everybody else',
    [['UID:1', 'DTSTART:20270604T070000Z', 'DURATION:PT1H', 'TRANSP:OPAQUE', 'X-MICROSOFT-CDO-BUSYSTATUS:FREE']],
    from(HOUR, '06-04T07:00'),
  ),
  file('bom', from(HOUR, '06-02T08:00')),
  file('two-uids-in-one-object', from(HOUR, '03-10T10:00', '03-11T10:00')),
  {
    name: 'lines that end with CR alone',
    text: object('BEGIN:VEVENT', 'UID:1', 'DTSTART:20270604T070000Z', 'DURATION:PT1H', 'END:VEVENT').replaceAll(
      '\n',
      '',
    ),
    zone: 'Europe/Berlin',
    expected: from(HOUR, '06-04T07:00'),
  },
  {
    name: 'two VCALENDARs',
    text: [3, 4]
      .map((day) =>
        object('BEGIN:VEVENT', `UID:${day}`, `DTSTART:2027060${day}T070000Z`, 'DURATION:PT1H', 'END:VEVENT'),
      )
      .join(''),
    zone: 'Europe/Berlin',
    expected: from(HOUR, '06-03T07:00', '06-04T07:00'),
  },
  events(
    'an end at 24:00',
    [['UID:1', 'DTSTART;TZID=Europe/Berlin:20270604T230000', 'DTEND;TZID=Europe/Berlin:20270604T240000']],
    from(HOUR, '06-04T21:00'),
  ),
  events(
    'two series in one object, one with an exception',
    [
      ['UID:1', 'DTSTART:20270601T070000Z', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=2'],
      ['UID:2', 'DTSTART:20270601T090000Z', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=2'],
      ['UID:2', 'RECURRENCE-ID:20270602T090000Z', 'DTSTART:20270602T150000Z', 'DURATION:PT1H'],
    ],
    from(HOUR, '06-01T07:00', '06-01T09:00', '06-02T07:00', '06-02T15:00'),
  ),
  {
    name: 'an attachment of more than a megabyte',
    text: object(
      ...[
        'BEGIN:VEVENT',
        'UID:1',
        'DTSTART;TZID=Europe/Berlin:20270822T180000',
        'DTEND;TZID=Europe/Berlin:20270822T190000',
      ],
      ...[`ATTACH;ENCODING=BASE64;VALUE=BINARY:${'B'.repeat(1_150_000)}`, 'END:VEVENT'],
    ),
    zone: 'Europe/Berlin',
    expected: from(HOUR, '08-22T16:00'),
  },
]
