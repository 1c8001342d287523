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
