import { buildIcs, hours, icsFile, type OddEvent, odd } from './odd-event.ts'

/** An event in a zone that the object describes. */
function inZone(
  name: string,
  tzid: string,
  description: readonly string[],
  lines: string[],
  expected: string[],
): OddEvent {
  const ics = [
    'BEGIN:VCALENDAR',
    'BEGIN:VTIMEZONE',
    `TZID:${tzid}`,
    ...description,
    'END:VTIMEZONE',
    'BEGIN:VEVENT',
    'UID:own@example.com',
    ...lines,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n')
  return odd(name, expected, { ics })
}

function constant(offset: string): string[] {
  return ['BEGIN:STANDARD', 'DTSTART:19700101T000000', `TZOFFSETFROM:${offset}`, `TZOFFSETTO:${offset}`, 'END:STANDARD']
}

/** Half an hour of summer time from April to September, as nowhere. */
const PRIVATE_SUMMER = [
  'BEGIN:DAYLIGHT',
  'DTSTART:20200401T020000',
  'TZOFFSETFROM:+0020',
  'TZOFFSETTO:+0050',
  'RRULE:FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=1',
  'END:DAYLIGHT',
  'BEGIN:STANDARD',
  'DTSTART:20201001T020000',
  'TZOFFSETFROM:+0050',
  'TZOFFSETTO:+0020',
  'RRULE:FREQ=YEARLY;BYMONTH=10;BYMONTHDAY=1',
  'END:STANDARD',
]

export const PRIVATE_ZONES: readonly OddEvent[] = [
  odd('zone named gmt', ['2027-07-23T09:20Z/2027-07-23T09:50Z'], { ics: icsFile('zone-named-gmt') }),
  odd('zone named est', hours('06-14T13:00'), { ics: icsFile('zone-named-est') }),
  odd('zone named ast', hours('06-15T12:00'), { ics: icsFile('zone-named-ast') }),
  odd('zone named gmt minus', hours('06-14T19:00'), { ics: icsFile('zone-named-gmt-minus') }),
  odd('vancouver 2026', hours('01-15T16:00'), { ics: icsFile('vancouver-2026') }),
  odd('casablanca 2026', hours('01-15T09:00'), { ics: icsFile('casablanca-2026') }),
  inZone(
    'a region and a false description',
    'America/New_York',
    constant('+0000'),
    ['DTSTART;TZID=America/New_York:20270601T090000', 'DURATION:PT1H'],
    hours('06-01T13:00'),
  ),
  inZone(
    'a location beside a private name',
    'Our office',
    ['X-LIC-LOCATION:America/New_York', ...constant('+0000')],
    ['DTSTART;TZID=Our office:20270601T090000', 'DURATION:PT1H'],
    hours('06-01T13:00'),
  ),
  inZone(
    'a name with an escaped comma',
    '(UTC+01:00) Amsterdam\\, Berlin',
    constant('+0730'),
    ['DTSTART;TZID="(UTC+01:00) Amsterdam, Berlin":20270601T090000', 'DURATION:PT1H'],
    hours('06-01T01:30'),
  ),
  inZone(
    'a name that is escaped in both places',
    'Ship\\, port side',
    constant('+0017'),
    ['DTSTART;TZID="Ship\\, port side":20270601T090000', 'DURATION:PT1H'],
    hours('06-01T08:43'),
  ),
  inZone(
    'a name of Microsoft that is none',
    'tzone://Microsoft/Custom',
    constant('+0545'),
    ['DTSTART;TZID="tzone://Microsoft/Custom":20270601T090000', 'DURATION:PT1H'],
    hours('06-01T03:15'),
  ),
  inZone(
    'a series in a zone of its own, across its clock changes',
    'Works',
    PRIVATE_SUMMER,
    [
      'DTSTART;TZID=Works:20270329T120000',
      'DURATION:PT1H',
      'RRULE:FREQ=DAILY;COUNT=6',
      'EXDATE;TZID=Works:20270330T120000,20270402T120000',
    ],
    hours('03-29T11:40', '03-31T11:40', '04-01T11:10', '04-03T11:10'),
  ),
  inZone(
    'a series of years ago in a zone of its own',
    'Works',
    PRIVATE_SUMMER,
    ['DTSTART;TZID=Works:20210101T120000', 'DURATION:PT1H', 'RRULE:FREQ=YEARLY;BYMONTH=1,7;BYMONTHDAY=1'],
    hours('01-01T11:40', '07-01T11:10'),
  ),
  odd('an offset without a description', hours('06-01T03:30'), {
    ics: buildIcs(['DTSTART;TZID=UTC+05:30:20270601T090000', 'DURATION:PT1H']),
  }),
  inZone(
    'a zone that differs from another one for two days of March',
    'Our office',
    [
      'BEGIN:DAYLIGHT',
      'DTSTART:20130329T020000',
      'TZOFFSETFROM:+0200',
      'TZOFFSETTO:+0300',
      'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=FR;BYMONTHDAY=23,24,25,26,27,28,29',
      'END:DAYLIGHT',
      'BEGIN:STANDARD',
      'DTSTART:20131027T020000',
      'TZOFFSETFROM:+0300',
      'TZOFFSETTO:+0200',
      'RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU',
      'END:STANDARD',
    ],
    ['DTSTART;TZID=Our office:20270325T120000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=4'],
    hours('03-25T10:00', '03-26T09:00', '03-27T09:00', '03-28T09:00'),
  ),
  inZone(
    'an end that is the second of two on the clocks',
    'Works',
    PRIVATE_SUMMER,
    ['DTSTART;TZID=Works:20270930T003000', 'DURATION:PT25H30M'],
    ['2027-09-29T23:40Z/2027-10-01T01:10Z'],
  ),
]
