import {
  buildIcs,
  days,
  free,
  googleEvent,
  googleException,
  googleTimes,
  graphException,
  graphSeries,
  graphTimes,
  hours,
  icsFile,
  type OddEvent,
  odd,
  USER,
} from './odd-event.ts'

/** Three Wednesdays at ten in Berlin. */
const ICS_SERIES = ['DTSTART;TZID=Europe/Berlin:20270602T100000', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY;COUNT=3']
const GOOGLE_SERIES = googleEvent({
  ...googleTimes('2027-06-02T10:00:00+02:00', '2027-06-02T11:00:00+02:00'),
  recurrence: ['RRULE:FREQ=WEEKLY;COUNT=3'],
})
const GRAPH_SERIES = graphSeries(
  { type: 'weekly', daysOfWeek: ['wednesday'] },
  { type: 'numbered', numberOfOccurrences: 3 },
  graphTimes('2027-06-02T08:00:00', '2027-06-02T09:00:00'),
)

const SECOND = { dateTime: '2027-06-09T10:00:00+02:00', timeZone: 'Europe/Berlin' }
const GOOGLE_MOVED = googleTimes('2027-06-09T15:00:00-04:00', '2027-06-09T16:00:00-04:00', 'America/New_York')
const GRAPH_MOVED = graphTimes('2027-06-09T19:00:00', '2027-06-09T20:00:00')
const ICS_MOVED = ['DTSTART;TZID=America/New_York:20270609T150000', 'DURATION:PT1H']
const MOVED = hours('06-02T08:00', '06-09T19:00', '06-16T08:00')
const WITHOUT_SECOND = hours('06-02T08:00', '06-16T08:00')

const graphWith = (exception: object) => ({ ...GRAPH_SERIES, exceptionOccurrences: [exception] })
const cancelledItem = (members: object) => ({
  kind: 'calendar#event',
  id: 'e1_1',
  status: 'cancelled',
  recurringEventId: 'e1',
  ...members,
})

export const EXCEPTIONS: readonly OddEvent[] = [
  odd('moved into another zone, whose time its original start has', MOVED, {
    ics: buildIcs(ICS_SERIES, ['RECURRENCE-ID;TZID=America/New_York:20270609T040000', ...ICS_MOVED]),
    google: [
      GOOGLE_SERIES,
      googleException({ dateTime: '2027-06-09T04:00:00-04:00', timeZone: 'America/New_York' }, GOOGLE_MOVED),
    ],
    graph: graphWith(
      graphException({ ...GRAPH_MOVED, originalStart: '2027-06-09T08:00:00Z' }, 'Eastern Standard Time'),
    ),
  }),
  odd('an original start in UTC, or with an offset', MOVED, {
    ics: buildIcs(ICS_SERIES, ['RECURRENCE-ID:20270609T080000Z', ...ICS_MOVED]),
    google: [GOOGLE_SERIES, googleException({ dateTime: '2027-06-09T08:00:00Z' }, GOOGLE_MOVED)],
    graph: graphWith(graphException({ ...GRAPH_MOVED, originalStart: '2027-06-09T10:00:00+02:00' })),
  }),
  odd('an original start that is a date', MOVED, {
    ics: buildIcs(ICS_SERIES, ['RECURRENCE-ID;VALUE=DATE:20270609', ...ICS_MOVED]),
    google: [GOOGLE_SERIES, googleException({ date: '2027-06-09' }, GOOGLE_MOVED)],
    graph: graphWith(graphException({ ...GRAPH_MOVED, occurrenceId: 'OID.A.2027-06-09' })),
  }),
  odd('an original start without a zone', hours('06-02T00:00', '06-03T02:00', '06-04T00:00'), {
    ics: icsFile('recurrence-id-floating'),
  }),
  odd('an original start without an offset', MOVED, {
    google: [
      GOOGLE_SERIES,
      googleException({ dateTime: '2027-06-09T10:00:00', timeZone: 'Europe/Berlin' }, GOOGLE_MOVED),
    ],
  }),
  odd('an exception before its series', MOVED, {
    ics: buildIcs(['RECURRENCE-ID:20270609T080000Z', ...ICS_MOVED], ICS_SERIES),
    google: [googleException(SECOND, GOOGLE_MOVED), GOOGLE_SERIES],
  }),
  odd('cancelled, with nothing but the original start', WITHOUT_SECOND, {
    ics: buildIcs(ICS_SERIES, [
      'RECURRENCE-ID;TZID=Europe/Berlin:20270609T100000',
      'DTSTART;TZID=Europe/Berlin:20270609T100000',
      'STATUS:CANCELLED',
    ]),
    google: [GOOGLE_SERIES, cancelledItem({ originalStartTime: SECOND })],
    graph: { ...GRAPH_SERIES, cancelledOccurrences: ['OID.A.2027-06-09'] },
  }),
  odd('cancelled, with times of another day', WITHOUT_SECOND, {
    ics: buildIcs(ICS_SERIES, ['RECURRENCE-ID:20270609T080000Z', 'DTSTART:20130609T080000Z', 'STATUS:CANCELLED']),
    google: [
      GOOGLE_SERIES,
      cancelledItem({
        ...googleTimes('2013-06-09T10:00:00+02:00', '2013-06-09T11:00:00+02:00'),
        originalStartTime: SECOND,
      }),
    ],
    graph: graphWith(
      graphException({
        ...graphTimes('2013-06-09T08:00:00', '2013-06-09T09:00:00'),
        originalStart: '2027-06-09T08:00:00Z',
        isCancelled: true,
      }),
    ),
  }),
  odd('free, in a busy series', [...hours('06-02T08:00'), ...free(hours('06-09T19:00')), ...hours('06-16T08:00')], {
    ics: buildIcs(ICS_SERIES, ['RECURRENCE-ID:20270609T080000Z', 'TRANSP:TRANSPARENT', ...ICS_MOVED]),
    google: [GOOGLE_SERIES, googleException(SECOND, { ...GOOGLE_MOVED, transparency: 'transparent' })],
    graph: graphWith(graphException({ ...GRAPH_MOVED, originalStart: '2027-06-09T08:00:00Z', showAs: 'free' })),
  }),
  odd(
    'declined, in a series that is not',
    [...hours('06-02T08:00'), ...free(hours('06-09T19:00')), ...hours('06-16T08:00')],
    {
      ics: buildIcs(ICS_SERIES, [
        'RECURRENCE-ID:20270609T080000Z',
        `ATTENDEE;PARTSTAT=DECLINED:mailto:${USER}`,
        ...ICS_MOVED,
      ]),
      google: [
        GOOGLE_SERIES,
        googleException(SECOND, {
          ...GOOGLE_MOVED,
          attendees: [{ email: USER, self: true, responseStatus: 'declined' }],
        }),
      ],
      graph: graphWith(
        graphException({
          ...GRAPH_MOVED,
          originalStart: '2027-06-09T08:00:00Z',
          attendees: [{ emailAddress: { address: USER }, status: { response: 'declined' } }],
        }),
      ),
    },
  ),
  odd(
    'a whole day, in a series with times',
    [...hours('06-02T08:00'), ...days('+02:00', '06-10'), ...hours('06-16T08:00')],
    {
      ics: buildIcs(ICS_SERIES, ['RECURRENCE-ID:20270609T080000Z', 'DTSTART;VALUE=DATE:20270610']),
      google: [GOOGLE_SERIES, googleException(SECOND, { start: { date: '2027-06-10' }, end: { date: '2027-06-11' } })],
      graph: graphWith(
        graphException({
          ...graphTimes('2027-06-10T00:00:00', '2027-06-11T00:00:00'),
          originalStart: '2027-06-09T08:00:00Z',
          isAllDay: true,
        }),
      ),
    },
  ),
  odd('an original start behind a change of clocks', hours('03-22T09:00', '03-29T12:00'), {
    ics: buildIcs(
      ['DTSTART;TZID=Europe/Berlin:20270322T100000', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY;COUNT=2'],
      ['RECURRENCE-ID:20270329T080000Z', 'DTSTART:20270329T120000Z', 'DURATION:PT1H'],
    ),
    google: [
      googleEvent({
        ...googleTimes('2027-03-22T10:00:00+01:00', '2027-03-22T11:00:00+01:00'),
        recurrence: ['RRULE:FREQ=WEEKLY;COUNT=2'],
      }),
      googleException(
        { dateTime: '2027-03-29T10:00:00+02:00', timeZone: 'Europe/Berlin' },
        googleTimes('2027-03-29T14:00:00+02:00', '2027-03-29T15:00:00+02:00'),
      ),
    ],
    graph: {
      ...graphSeries(
        { type: 'weekly', daysOfWeek: ['monday'] },
        { type: 'numbered', numberOfOccurrences: 2 },
        graphTimes('2027-03-22T09:00:00', '2027-03-22T10:00:00'),
      ),
      exceptionOccurrences: [
        graphException({
          ...graphTimes('2027-03-29T12:00:00', '2027-03-29T13:00:00'),
          originalStart: '2027-03-29T08:00:00Z',
        }),
      ],
    },
  }),
  odd('one instance of a series to which the user is not invited', hours('06-09T19:00'), {
    ics: buildIcs(['RECURRENCE-ID:20270609T080000Z', ...ICS_MOVED]),
    google: [googleException(SECOND, GOOGLE_MOVED)],
    graph: graphException({ ...GRAPH_MOVED, seriesMasterId: 'C', originalStart: '2027-06-09T08:00:00Z' }),
  }),
  odd('this and future', hours('06-02T08:00', '06-09T08:00', '06-16T12:00', '06-23T12:00', '06-30T12:00'), {
    ics: icsFile('this-and-future'),
  }),
  odd(
    'this and future, with an exception behind it and a longer duration',
    hours('06-02T08:00', '06-09T08:00', '06-17T07:00', '06-24T06:00', '07-01T07:00'),
    {
      ics: buildIcs(
        ['DTSTART;TZID=Europe/Berlin:20270602T100000', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY;COUNT=5'],
        ['RECURRENCE-ID;TZID=Europe/Berlin:20270623T100000', 'DTSTART:20270624T060000Z', 'DURATION:PT1H'],
        [
          'RECURRENCE-ID;RANGE=THISANDFUTURE:20270616T080000Z',
          'DTSTART;TZID=Europe/Berlin:20270617T090000',
          'DURATION:PT1H',
        ],
      ),
    },
  ),
  odd(
    'this and future free, later busy again',
    [...hours('06-02T08:00'), ...free(hours('06-09T09:00', '06-16T09:00')), ...hours('06-23T08:00', '06-30T08:00')],
    {
      ics: buildIcs(
        ['DTSTART;TZID=Europe/Berlin:20270602T100000', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY;COUNT=5'],
        [
          'RECURRENCE-ID;RANGE=THISANDFUTURE:20270609T080000Z',
          'DTSTART:20270609T090000Z',
          'DURATION:PT1H',
          'TRANSP:TRANSPARENT',
        ],
        ['RECURRENCE-ID;RANGE=THISANDFUTURE:20270623T080000Z', 'DTSTART:20270623T080000Z', 'DURATION:PT1H'],
      ),
    },
  ),
  odd('this and future cancelled', hours('06-02T08:00', '06-09T08:00'), {
    ics: buildIcs(
      ['DTSTART;TZID=Europe/Berlin:20270602T100000', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY'],
      ['RECURRENCE-ID;RANGE=THISANDFUTURE:20270616T080000Z', 'DTSTART:20270616T080000Z', 'STATUS:CANCELLED'],
    ),
  }),
  odd('two versions of an exception', hours('06-02T08:00', '06-03T14:00'), {
    ics: buildIcs(
      ['DTSTART;TZID=Europe/Berlin:20270602T100000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=2'],
      ['SEQUENCE:1', 'RECURRENCE-ID:20270603T080000Z', 'DTSTART:20270603T120000Z', 'DURATION:PT1H'],
      ['SEQUENCE:3', 'RECURRENCE-ID:20270603T080000Z', 'DTSTART:20270603T140000Z', 'DURATION:PT1H'],
      ['SEQUENCE:2', 'RECURRENCE-ID:20270603T080000Z', 'DTSTART:20270603T130000Z', 'DURATION:PT1H'],
    ),
  }),
]
