import {
  buildIcs,
  googleEvent,
  googleTimes,
  graphEvent,
  graphTimes,
  hours,
  lasting,
  type OddEvent,
  odd,
} from './odd-event.ts'

const NEPAL = { zone: 'Asia/Kathmandu' }
const START = 'DTSTART;TZID=Europe/Berlin:20270604T090000'
const NINE = { dateTime: '2027-06-04T09:00:00+02:00', timeZone: 'Europe/Berlin' }
const graphNine = (end: unknown) => graphEvent({ ...graphTimes('2027-06-04T07:00:00', '2027-06-04T08:00:00'), end })
const instant = lasting(0, '06-04T07:00')

/** The instance of 2027 of a yearly event that began in the year 1. */
const SINCE_YEAR_ONE = ['2027-06-01T09:00Z/2027-06-01T10:00Z']
const FOR_EVER = ['2027-06-04T07:00Z/9999-12-31T23:59:59.000Z']

export const TIMES: readonly OddEvent[] = [
  odd('floating', hours('06-01T03:15'), { ics: buildIcs(['DTSTART:20270601T090000', 'DTEND:20270601T100000']) }, NEPAL),
  odd('without an offset, in a zone of its own', hours('06-01T13:00'), {
    ics: buildIcs(['DTSTART;TZID=America/New_York:20270601T090000', 'DURATION:PT1H']),
    google: [googleEvent(googleTimes('2027-06-01T09:00:00', '2027-06-01T10:00:00', 'America/New_York'))],
    graph: graphEvent({
      start: { dateTime: '2027-06-01T09:00:00', timeZone: 'Eastern Standard Time' },
      end: { dateTime: '2027-06-01T10:00:00', timeZone: 'Eastern Standard Time' },
    }),
  }),
  odd('an offset of 5:45', hours('06-01T03:15'), {
    ics: buildIcs(['DTSTART;TZID=Asia/Kathmandu:20270601T090000', 'DURATION:PT1H']),
    google: [googleEvent(googleTimes('2027-06-01T09:00:00+05:45', '2027-06-01T10:00:00+05:45', 'Asia/Kathmandu'))],
    graph: graphEvent(graphTimes('2027-06-01T03:15:00', '2027-06-01T04:15:00'), 'Nepal Standard Time'),
  }),
  odd('fractions of seconds', hours('06-04T07:00'), {
    google: [googleEvent(googleTimes('2027-06-04T09:00:00.000+02:00', '2027-06-04T10:00:00.999999+02:00'))],
    graph: graphEvent(graphTimes('2027-06-04T07:00:00', '2027-06-04T08:00:00')),
  }),
  odd('24:00', ['2027-06-04T21:00Z/2027-06-04T22:00Z'], {
    ics: buildIcs(['DTSTART;TZID=Europe/Berlin:20270604T230000', 'DTEND;TZID=Europe/Berlin:20270604T240000']),
    google: [googleEvent(googleTimes('2027-06-04T23:00:00+02:00', '2027-06-04T24:00:00+02:00'))],
    graph: graphEvent({
      start: { dateTime: '2027-06-04T21:00:00.0000000', timeZone: 'UTC' },
      end: { dateTime: '2027-06-04T24:00:00.0000000', timeZone: 'W. Europe Standard Time' },
    }),
  }),
  odd('a leap second', ['2027-06-30T23:00Z/2027-06-30T23:59:59.000Z'], {
    ics: buildIcs(['DTSTART:20270630T230000Z', 'DTEND:20270630T235960Z']),
    google: [googleEvent(googleTimes('2027-06-30T23:00:00Z', '2027-06-30T23:59:60Z', 'UTC'))],
    graph: graphEvent(graphTimes('2027-06-30T23:00:00', '2027-06-30T23:59:60'), 'UTC'),
  }),
  odd('a leap second in the middle of a month', ['2027-06-15T10:00Z/2027-06-15T10:59:59.000Z'], {
    ics: buildIcs(['DTSTART:20270615T100000Z', 'DTEND:20270615T105960Z']),
    google: [googleEvent(googleTimes('2027-06-15T10:00:00Z', '2027-06-15T10:59:60Z', 'UTC'))],
  }),
  odd('an hour that clocks skip', hours('03-28T01:30'), {
    ics: buildIcs(['DTSTART;TZID=Europe/Berlin:20270328T023000', 'DURATION:PT1H']),
    google: [googleEvent(googleTimes('2027-03-28T02:30:00+01:00', '2027-03-28T03:30:00+01:00'))],
    graph: graphEvent(graphTimes('2027-03-28T01:30:00', '2027-03-28T02:30:00')),
  }),
  odd('the second of two equal hours', hours('10-31T01:30'), {
    google: [googleEvent(googleTimes('2027-10-31T02:30:00+01:00', '2027-10-31T03:30:00+01:00'))],
    graph: graphEvent(graphTimes('2027-10-31T01:30:00', '2027-10-31T02:30:00')),
  }),
  odd('an end in another zone', lasting(330, '06-04T16:00'), {
    ics: buildIcs(['DTSTART;TZID=America/Los_Angeles:20270604T090000', 'DTEND;TZID=America/New_York:20270604T173000']),
    google: [
      googleEvent({
        start: { dateTime: '2027-06-04T09:00:00-07:00', timeZone: 'America/Los_Angeles' },
        end: { dateTime: '2027-06-04T17:30:00-04:00', timeZone: 'America/New_York' },
      }),
    ],
    graph: {
      ...graphEvent(graphTimes('2027-06-04T16:00:00', '2027-06-04T21:30:00'), 'Pacific Standard Time'),
      originalEndTimeZone: 'Eastern Standard Time',
    },
  }),
  odd('an end that is a date', ['2027-06-04T07:00Z/2027-06-04T22:00Z'], {
    ics: buildIcs([START, 'DTEND;VALUE=DATE:20270605']),
  }),
  odd('no end', instant, {
    ics: buildIcs([START]),
    google: [googleEvent({ start: NINE })],
    graph: graphNine(null),
  }),
  odd('an end at the start', instant, {
    ics: buildIcs([START, 'DTEND;TZID=Europe/Berlin:20270604T090000']),
    google: [googleEvent({ start: NINE, end: NINE })],
    graph: graphNine({ dateTime: '2027-06-04T07:00:00.0000000', timeZone: 'UTC' }),
  }),
  odd('an end before the start', instant, {
    ics: buildIcs([START, 'DTEND;TZID=Europe/Berlin:20270604T080000']),
    google: [googleEvent({ start: NINE, end: { dateTime: '2027-06-04T08:00:00+02:00', timeZone: 'Europe/Berlin' } })],
    graph: graphNine({ dateTime: '2027-06-04T06:00:00.0000000', timeZone: 'UTC' }),
  }),
  odd('a duration below 0', instant, { ics: buildIcs([START, 'DURATION:-PT1H']) }),
  odd('a duration of days and hours across a change of clocks', ['2027-03-27T09:00Z/2027-03-28T09:00Z'], {
    ics: buildIcs(['DTSTART;TZID=Europe/Berlin:20270327T100000', 'DURATION:P1DT1H']),
  }),
  odd('an added date in UTC that is the second of two on the clocks', hours('10-30T00:30', '10-31T01:30'), {
    ics: buildIcs(['DTSTART;TZID=Europe/Berlin:20271030T023000', 'DURATION:PT1H', 'RDATE:20271031T013000Z']),
  }),
  odd(
    'days of a duration in a series',
    ['2027-03-27T09:00Z/2027-03-28T09:00Z', '2027-03-28T08:00Z/2027-03-29T09:00Z'],
    {
      ics: buildIcs(['DTSTART;TZID=Europe/Berlin:20270327T100000', 'DURATION:P1DT1H', 'RRULE:FREQ=DAILY;COUNT=2']),
    },
  ),
  odd(
    'hours of a duration in a series',
    ['2027-03-27T09:00Z/2027-03-28T10:00Z', '2027-03-28T08:00Z/2027-03-29T09:00Z'],
    {
      ics: buildIcs(['DTSTART;TZID=Europe/Berlin:20270327T100000', 'DURATION:PT25H', 'RRULE:FREQ=DAILY;COUNT=2']),
    },
  ),
  odd('yearly since the year 1', SINCE_YEAR_ONE, {
    ics: buildIcs(['DTSTART:00010601T090000Z', 'DURATION:PT1H', 'RRULE:FREQ=YEARLY']),
    google: [
      googleEvent({
        ...googleTimes('0001-06-01T09:00:00Z', '0001-06-01T10:00:00Z', 'UTC'),
        recurrence: ['RRULE:FREQ=YEARLY'],
      }),
    ],
  }),
  odd('a day of the year 1', ['2026-12-31T23:00Z/2027-01-01T23:00Z', '2027-12-31T23:00Z/2028-01-01T23:00Z'], {
    ics: buildIcs(['DTSTART;VALUE=DATE:00010101', 'RRULE:FREQ=YEARLY']),
    google: [
      googleEvent({ start: { date: '0001-01-01' }, end: { date: '0001-01-02' }, recurrence: ['RRULE:FREQ=YEARLY'] }),
    ],
  }),
  // Both become the first second that four digits write.
  odd('times before the year 1 in UTC', ['2027-12-31T23:00Z/2027-12-31T23:53:28.000Z'], {
    google: [
      googleEvent({
        ...googleTimes('0001-01-01T00:00:00+01:00', '0001-01-01T01:00:00+01:00'),
        recurrence: ['RRULE:FREQ=YEARLY'],
      }),
    ],
  }),
  odd('an end at the end of time', FOR_EVER, {
    ics: buildIcs([START, 'DTEND:99991231T235959Z']),
    google: [googleEvent({ start: NINE, end: { dateTime: '9999-12-31T23:59:59Z', timeZone: 'UTC' } })],
    graph: graphEvent(graphTimes('2027-06-04T07:00:00', '9999-12-31T23:59:59'), 'UTC'),
  }),
  odd('an end behind the end of time', FOR_EVER, {
    ics: buildIcs([START, 'DTEND:99991231T240000Z']),
    google: [googleEvent({ start: NINE, end: { dateTime: '9999-12-31T23:59:59-08:00', timeZone: 'UTC' } })],
  }),
  odd('a duration behind the end of time', FOR_EVER, {
    ics: buildIcs(['DTSTART:20270604T070000Z', 'DURATION:P999999W']),
  }),
  odd(
    'in the year 9999',
    ['9999-12-31T07:00Z/9999-12-31T08:00Z'],
    {
      ics: buildIcs(['DTSTART:99991231T070000Z', 'DURATION:PT1H']),
      google: [googleEvent(googleTimes('9999-12-31T07:00:00Z', '9999-12-31T08:00:00Z', 'UTC'))],
      graph: graphEvent(graphTimes('9999-12-31T07:00:00', '9999-12-31T08:00:00'), 'UTC'),
    },
    { year: 9999 },
  ),
  odd('created in the year 0', hours('06-04T07:00'), {
    ics: buildIcs([START, 'DURATION:PT1H', 'CREATED:00001231T000000Z']),
    google: [
      googleEvent({
        ...googleTimes('2027-06-04T09:00:00+02:00', '2027-06-04T10:00:00+02:00'),
        created: '0000-12-31T00:00:00.000Z',
      }),
    ],
    graph: graphEvent({
      ...graphTimes('2027-06-04T07:00:00', '2027-06-04T08:00:00'),
      createdDateTime: '0001-01-01T00:00:00Z',
    }),
  }),
]
