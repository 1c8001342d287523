import {
  buildIcs,
  days,
  googleEvent,
  googleException,
  graphEvent,
  graphException,
  graphSeries,
  graphTimes,
  icsFile,
  type OddEvent,
  odd,
} from './odd-event.ts'

const DAILY = { type: 'daily' }
const NEW_YORK = { zone: 'America/New_York' }
const berlin = (...dates: string[]) => days('+01:00', ...dates)

const allDay = (start: string, end: string) => ({
  ...graphTimes(`2027-${start}T00:00:00`, `2027-${end}T00:00:00`),
  isAllDay: true,
})
const googleDays = (start: string, end: string) => ({ start: { date: start }, end: { date: end } })

/** Five days in February without the second, and the third is moved to the 20th. */
function graphFive(originalStart: string, zones: { rule: string; event: string }): object {
  const range = { type: 'numbered', numberOfOccurrences: 5, recurrenceTimeZone: zones.rule }
  return {
    ...graphSeries(DAILY, range, allDay('02-01', '02-02'), zones.event),
    cancelledOccurrences: ['OID.A.2027-02-02'],
    exceptionOccurrences: [graphException({ ...allDay('02-20', '02-21'), originalStart }, zones.event)],
  }
}

const FIVE = ['02-01', '02-04', '02-05', '02-20']

export const ALL_DAY: readonly OddEvent[] = [
  odd(
    'a day in the zone of the calendar',
    days('-05:00', '02-16'),
    {
      ics: buildIcs(['DTSTART;VALUE=DATE:20270216', 'DTEND;VALUE=DATE:20270217']),
      // Google ignores the zone of all-day events.
      google: [googleEvent({ start: { date: '2027-02-16', timeZone: 'Asia/Tokyo' }, end: { date: '2027-02-17' } })],
      graph: graphEvent(allDay('02-16', '02-17'), 'UTC'),
    },
    NEW_YORK,
  ),
  odd('a day in a zone of its own', days('+13:00', '03-10'), {
    graph: graphEvent(allDay('03-10', '03-11'), 'New Zealand Standard Time'),
  }),
  odd('the midnight of its own zone', days('+13:00', '03-10'), {
    graph: graphEvent(
      { ...graphTimes('2027-03-09T11:00:00', '2027-03-10T11:00:00'), isAllDay: true },
      'New Zealand Standard Time',
    ),
  }),
  odd('the midnight of a zone that is not named', berlin('03-10'), {
    graph: graphEvent(
      { ...graphTimes('2027-03-09T23:00:00', '2027-03-10T23:00:00'), isAllDay: true },
      'Customized Time Zone',
    ),
  }),
  odd('an end on the day of the start', berlin('02-16'), {
    ics: buildIcs(['DTSTART;VALUE=DATE:20270216', 'DTEND;VALUE=DATE:20270216']),
    google: [googleEvent(googleDays('2027-02-16', '2027-02-16'))],
    graph: graphEvent(allDay('02-16', '02-16')),
  }),
  odd('an end before the start', berlin('02-16'), {
    ics: buildIcs(['DTSTART;VALUE=DATE:20270216', 'DTEND;VALUE=DATE:18991230']),
    google: [googleEvent(googleDays('2027-02-16', '1899-12-30'))],
    graph: graphEvent(allDay('02-16', '02-10')),
  }),
  odd('no end', berlin('02-16'), {
    ics: buildIcs(['DTSTART;VALUE=DATE:20270216']),
    google: [googleEvent({ start: { date: '2027-02-16' } })],
    graph: graphEvent({ ...allDay('02-16', '02-17'), end: null }),
  }),
  odd('a duration of two days', ['2027-02-15T23:00Z/2027-02-17T23:00Z'], {
    ics: buildIcs(['DTSTART;VALUE=DATE:20270216', 'DURATION:P2D']),
  }),
  odd('a duration in hours', ['2027-02-15T23:00Z/2027-02-17T23:00Z'], {
    ics: buildIcs(['DTSTART;VALUE=DATE:20270216', 'DURATION:PT48H']),
  }),
  odd('an end with a time, at midnight', ['2027-02-15T23:00Z/2027-02-17T23:00Z'], {
    ics: buildIcs(['DTSTART;VALUE=DATE:20270216', 'DTEND;TZID=Europe/Berlin:20270218T000000']),
  }),
  odd('an end with a time, in the day', ['2027-02-15T23:00Z/2027-02-18T23:00Z'], {
    ics: buildIcs(['DTSTART;VALUE=DATE:20270216', 'DTEND;TZID=Europe/Berlin:20270218T120000']),
  }),
  odd('an end with the midnight of the place, in UTC', ['2027-02-15T23:00Z/2027-02-17T23:00Z'], {
    ics: buildIcs(['DTSTART;VALUE=DATE:20270216', 'DTEND:20270217T230000Z']),
  }),
  odd('a time that is called a date', berlin('02-16'), {
    ics: buildIcs(['DTSTART;VALUE=DATE:20270216T000000', 'DTEND;VALUE=DATE:20270217T000000']),
  }),
  odd('a date that is called a time', berlin('02-16'), {
    ics: buildIcs(['DTSTART;VALUE=DATE-TIME:20270216', 'DTEND;VALUE=DATE-TIME:20270217']),
  }),
  odd('an exclusion at midnight in UTC', berlin('02-16', '02-17', '02-19', '02-20'), {
    ics: icsFile('allday-exdate-utc'),
    google: [
      googleEvent({
        ...googleDays('2027-02-16', '2027-02-17'),
        recurrence: ['RRULE:FREQ=DAILY;COUNT=5', 'EXDATE:20270218T000000Z'],
      }),
    ],
  }),
  odd('an exclusion at the midnight of the place', berlin('02-16', '02-18'), {
    ics: buildIcs([
      'DTSTART;VALUE=DATE:20270216',
      'RRULE:FREQ=DAILY;COUNT=3',
      'EXDATE;TZID=Europe/Berlin:20270217T000000',
    ]),
    google: [
      googleEvent({
        ...googleDays('2027-02-16', '2027-02-17'),
        recurrence: ['EXDATE;TZID=Europe/Berlin:20270217T000000', 'RRULE:FREQ=DAILY;COUNT=3'],
      }),
    ],
  }),
  odd(
    'exception, end and exclusion at midnight in UTC',
    days('-05:00', ...FIVE),
    {
      ics: buildIcs(
        ['DTSTART;VALUE=DATE:20270201', 'RRULE:FREQ=DAILY;UNTIL=20270205T000000Z', 'EXDATE:20270202T000000Z'],
        ['RECURRENCE-ID:20270203T000000Z', 'DTSTART;VALUE=DATE:20270220'],
      ),
      google: [
        googleEvent({
          ...googleDays('2027-02-01', '2027-02-02'),
          recurrence: ['RRULE:FREQ=DAILY;UNTIL=20270205T000000Z', 'EXDATE:20270202T000000Z'],
        }),
        googleException({ date: '2027-02-03' }, googleDays('2027-02-20', '2027-02-21')),
      ],
    },
    NEW_YORK,
  ),
  odd('an end at the midnight of the place, in UTC', berlin('02-01', '02-02', '02-03'), {
    ics: buildIcs(['DTSTART;VALUE=DATE:20270201', 'RRULE:FREQ=DAILY;UNTIL=20270202T230000Z']),
    google: [
      googleEvent({
        ...googleDays('2027-02-01', '2027-02-02'),
        recurrence: ['RRULE:FREQ=DAILY;UNTIL=20270202T230000Z'],
      }),
    ],
  }),
  odd('an exception and a cancelled day', berlin(...FIVE), {
    ics: buildIcs(
      ['DTSTART;VALUE=DATE:20270201', 'RRULE:FREQ=DAILY;COUNT=5'],
      ['RECURRENCE-ID;VALUE=DATE:20270202', 'DTSTART;VALUE=DATE:20270202', 'STATUS:CANCELLED'],
      ['RECURRENCE-ID;VALUE=DATE:20270203', 'DTSTART;VALUE=DATE:20270220'],
    ),
    google: [
      googleEvent({ ...googleDays('2027-02-01', '2027-02-02'), recurrence: ['RRULE:FREQ=DAILY;COUNT=5'] }),
      {
        kind: 'calendar#event',
        id: 'e1_2',
        status: 'cancelled',
        recurringEventId: 'e1',
        originalStartTime: { date: '2027-02-02' },
      },
      googleException({ date: '2027-02-03' }, googleDays('2027-02-20', '2027-02-21')),
    ],
    graph: graphFive('2027-02-02T23:00:00Z', { rule: 'W. Europe Standard Time', event: 'W. Europe Standard Time' }),
  }),
  // Participants get no zone of the rule, and the zone that was asked for in place of that of the event.
  odd('the original day of a participant east of UTC', berlin(...FIVE), {
    graph: graphFive('2027-02-02T23:00:00Z', { rule: '', event: 'UTC' }),
  }),
  odd(
    'the original day of a participant west of UTC',
    days('-08:00', ...FIVE),
    { graph: graphFive('2027-02-03T08:00:00Z', { rule: '', event: 'UTC' }) },
    { zone: 'America/Los_Angeles' },
  ),
  odd(
    'the original day of a participant in New Zealand',
    days('+13:00', ...FIVE),
    { graph: graphFive('2027-02-02T11:00:00Z', { rule: '', event: 'UTC' }) },
    { zone: 'Pacific/Auckland' },
  ),
]
