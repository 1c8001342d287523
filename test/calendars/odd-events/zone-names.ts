import {
  buildIcs,
  googleEvent,
  googleTimes,
  graphEvent,
  graphSeries,
  graphTimes,
  hours,
  lasting,
  type OddEvent,
  odd,
} from './odd-event.ts'

const TWO = 'RRULE:FREQ=WEEKLY;COUNT=2'
const ON_MONDAYS = { type: 'weekly', daysOfWeek: ['monday'] }
const TWICE = { type: 'numbered', numberOfOccurrences: 2 }

/** Two Mondays at this hour of `tzid`. */
function icsMondays(tzid: string, date: string): string {
  return buildIcs([`DTSTART;TZID=${tzid}:${date}`, 'DURATION:PT1H', TWO])
}

function googleMondays(timeZone: string, start: string, end: string): object[] {
  return [googleEvent({ ...googleTimes(start, end, timeZone), recurrence: [TWO] })]
}

function graphMondays(timeZone: string, start: string, end: string, range: object = {}): object {
  return graphSeries(ON_MONDAYS, { ...TWICE, ...range }, graphTimes(start, end), timeZone)
}

const MARCH = ['2027-03-22T09:00:00', '2027-03-22T10:00:00'] as const

/** A series at ten in Berlin across the change of clocks of 28 March, in a zone that Graph does not name. */
function graphCustom(recurrenceTimeZone: string, originalStartTimeZone: string): object {
  return {
    ...graphMondays('', ...MARCH, { recurrenceTimeZone }),
    originalStartTimeZone,
    originalEndTimeZone: originalStartTimeZone,
  }
}

const TEN_IN_BERLIN = hours('03-22T09:00', '03-29T08:00')

/** Tuesdays at nine from 29 December 2026, in a zone whose clocks were changed by law in 2026. */
function lawOf2026(zone: { name: string; offset: string; windows?: string }, utcHour: string): OddEvent {
  const start = (hour: string) => `2026-12-29T${hour}:00:00`
  const end = (hour: string) => `2026-12-29T${hour}:59:00`
  const thrice = 'RRULE:FREQ=WEEKLY;COUNT=3'
  const [startTime, endTime] = [start('09'), end('09')].map((local) => `${local}${zone.offset}`)
  return odd(`${zone.name} after 2026`, lasting(59, `01-05T${utcHour}:00`, `01-12T${utcHour}:00`), {
    ics: buildIcs([`DTSTART;TZID=${zone.name}:20261229T090000`, 'DURATION:PT59M', thrice]),
    google: [googleEvent({ ...googleTimes(startTime ?? '', endTime ?? '', zone.name), recurrence: [thrice] })],
    ...(zone.windows !== undefined && {
      graph: graphSeries(
        { type: 'weekly', daysOfWeek: ['tuesday'] },
        { type: 'numbered', numberOfOccurrences: 3 },
        graphTimes(start(utcHour), end(utcHour)),
        zone.windows,
      ),
    }),
  })
}

export const ZONE_NAMES: readonly OddEvent[] = [
  odd('London, by its name in Windows', hours('03-22T10:00', '03-29T09:00'), {
    ics: icsMondays('GMT Standard Time', '20270322T100000'),
    google: googleMondays('Europe/London', '2027-03-22T10:00:00Z', '2027-03-22T11:00:00Z'),
    graph: graphMondays('GMT Standard Time', '2027-03-22T10:00:00', '2027-03-22T11:00:00'),
  }),
  odd('GMT, which has no summer time', hours('03-22T10:00', '03-29T10:00'), {
    ics: icsMondays('GMT', '20270322T100000'),
    google: googleMondays('GMT', '2027-03-22T10:00:00Z', '2027-03-22T11:00:00Z'),
    graph: graphMondays('Greenwich Standard Time', '2027-03-22T10:00:00', '2027-03-22T11:00:00'),
  }),
  odd('EST, which has no summer time', hours('03-08T14:00', '03-15T14:00'), {
    ics: icsMondays('EST', '20270308T090000'),
    google: googleMondays('EST', '2027-03-08T09:00:00-05:00', '2027-03-08T10:00:00-05:00'),
    graph: graphMondays('SA Pacific Standard Time', '2027-03-08T14:00:00', '2027-03-08T15:00:00'),
  }),
  odd('Eastern Standard Time, which has', hours('03-08T14:00', '03-15T13:00'), {
    ics: icsMondays('Eastern Standard Time', '20270308T090000'),
    google: googleMondays('America/New_York', '2027-03-08T09:00:00-05:00', '2027-03-08T10:00:00-05:00'),
    graph: graphMondays('Eastern Standard Time', '2027-03-08T14:00:00', '2027-03-08T15:00:00'),
  }),
  odd(
    'BST, which may mean several zones, is that of the calendar',
    hours('10-25T08:00', '11-01T09:00'),
    {
      ics: icsMondays('BST', '20271025T090000'),
      google: googleMondays('BST', '2027-10-25T09:00:00+01:00', '2027-10-25T10:00:00+01:00'),
      graph: graphMondays('BST', '2027-10-25T08:00:00', '2027-10-25T09:00:00'),
    },
    { zone: 'Europe/London' },
  ),
  odd(
    'IST',
    hours('06-07T03:30', '06-14T03:30'),
    {
      ics: icsMondays('IST', '20270607T090000'),
      google: googleMondays('IST', '2027-06-07T09:00:00+05:30', '2027-06-07T10:00:00+05:30'),
      graph: graphMondays('India Standard Time', '2027-06-07T03:30:00', '2027-06-07T04:30:00'),
    },
    { zone: 'Asia/Kolkata' },
  ),
  odd(
    'AST',
    hours('03-08T13:00', '03-15T12:00'),
    {
      ics: icsMondays('AST', '20270308T090000'),
      google: googleMondays('AST', '2027-03-08T09:00:00-04:00', '2027-03-08T10:00:00-04:00'),
      graph: graphMondays('Atlantic Standard Time', '2027-03-08T13:00:00', '2027-03-08T14:00:00'),
    },
    { zone: 'America/Halifax' },
  ),
  odd('a zone that nobody describes', TEN_IN_BERLIN, {
    ics: icsMondays('Customized Time Zone', '20270322T100000'),
    google: googleMondays('No/Such', '2027-03-22T10:00:00+01:00', '2027-03-22T11:00:00+01:00'),
    graph: graphCustom('Customized Time Zone', 'Customized Time Zone'),
  }),
  odd('the address of a zone that nobody describes', TEN_IN_BERLIN, {
    ics: icsMondays('"tzone://Microsoft/Custom"', '20270322T100000'),
    graph: graphCustom('tzone://Microsoft/Custom', 'tzone://Microsoft/Custom'),
  }),
  odd('an invitation of another program, whose rule has no zone', TEN_IN_BERLIN, {
    graph: graphCustom('', 'W. Europe Standard Time'),
  }),
  odd('a rule in a private zone of an event in a known one', TEN_IN_BERLIN, {
    graph: graphCustom('Customized Time Zone', 'Romance Standard Time'),
  }),
  odd('a rule and an event without zones', TEN_IN_BERLIN, { graph: graphCustom('', '') }),
  odd('UTC, by its address', hours('03-22T09:00', '03-29T09:00'), {
    ics: icsMondays('"tzone://Microsoft/Utc"', '20270322T090000'),
    google: googleMondays('Etc/UTC', '2027-03-22T09:00:00Z', '2027-03-22T10:00:00Z'),
    graph: graphMondays('tzone://Microsoft/Utc', ...MARCH),
  }),
  odd('a single event in a private zone', hours('03-22T09:00'), {
    google: [googleEvent(googleTimes('2027-03-22T10:00:00+01:00', '2027-03-22T11:00:00+01:00', 'No/Such'))],
    graph: graphEvent(graphTimes(...MARCH), 'Customized Time Zone'),
  }),
  lawOf2026({ name: 'America/Vancouver', offset: '-07:00' }, '16'),
  lawOf2026({ name: 'America/Edmonton', offset: '-06:00' }, '15'),
  lawOf2026({ name: 'America/Winnipeg', offset: '-05:00' }, '14'),
  lawOf2026({ name: 'Africa/Casablanca', offset: '+00:00', windows: 'Morocco Standard Time' }, '09'),
]
