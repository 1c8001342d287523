import {
  buildIcs,
  googleEvent,
  googleTimes,
  graphSeries,
  graphTimes,
  hours,
  icsFile,
  lasting,
  type OddEvent,
  odd,
} from './odd-event.ts'

/** Begins at ten in Berlin on this day, with these lines. */
function inSummer(name: string, day: string, lines: unknown[], expected: string[], graph?: object): OddEvent {
  const texts = lines.filter((line) => typeof line === 'string')
  return odd(name, expected, {
    ics: buildIcs([`DTSTART;TZID=Europe/Berlin:${day.replaceAll('-', '')}T100000`, 'DURATION:PT1H', ...texts]),
    google: [googleEvent({ ...googleTimes(`${day}T10:00:00+02:00`, `${day}T11:00:00+02:00`), recurrence: lines })],
    ...(graph && { graph }),
  })
}

function graphDaily(range: object): object {
  return graphSeries({ type: 'daily' }, range, graphTimes('2027-06-14T08:00:00', '2027-06-14T09:00:00'))
}

const june = (...dates: number[]) => hours(...dates.map((date) => `06-${String(date).padStart(2, '0')}T08:00`))

/** A daily series from Monday, 14 June, until then. */
function until(text: string, dates: number[], graph?: object): OddEvent {
  return inSummer(`UNTIL=${text}`, '2027-06-14', [`RRULE:FREQ=DAILY;UNTIL=${text}`], june(...dates), graph)
}

export const RULES: readonly OddEvent[] = [
  odd('a day of the month that is none', hours('06-10T16:00', '07-10T16:00'), {
    ics: icsFile('unknown-part-of-rule'),
    google: [
      googleEvent({
        ...googleTimes('2027-06-10T18:00:00+02:00', '2027-06-10T19:00:00+02:00'),
        recurrence: ['RRULE:FREQ=MONTHLY;BYMONTHDAY=32,10;COUNT=2'],
      }),
    ],
  }),
  inSummer('a weekday that is none', '2027-06-02', ['RRULE:FREQ=WEEKLY;BYDAY=WE,XX;COUNT=2'], june(2, 9)),
  inSummer(
    'a part of another program',
    '2027-06-02',
    ['RRULE:FREQ=WEEKLY;COUNT=2;BYDAY=WE;X-EVOLUTION-ENDDATE=20270609T080000Z'],
    june(2, 9),
  ),
  inSummer('spaces and small letters', '2027-06-02', ['rrule: freq=weekly; count=2; byday=we'], june(2, 9)),
  inSummer('an interval of 0', '2027-06-02', ['RRULE:FREQ=DAILY;INTERVAL=0;COUNT=2'], june(2, 3)),
  inSummer('a count below 0', '2027-06-10', ['RRULE:FREQ=DAILY;UNTIL=20270611;COUNT=-1;INTERVAL=1'], june(10, 11)),
  inSummer(
    'a start that the rule does not match',
    '2027-06-04',
    ['RRULE:FREQ=WEEKLY;BYDAY=SU;COUNT=3'],
    june(4, 6, 13),
  ),
  inSummer('two rules', '2027-06-02', ['RRULE:FREQ=WEEKLY;COUNT=2', 'RRULE:FREQ=DAILY;COUNT=2'], june(2, 3, 9)),
  until('20270616', [14, 15, 16], graphDaily({ type: 'endDate', endDate: '2027-06-16' })),
  until('2027-06-16', [14, 15, 16]),
  until('20270616T100000', [14, 15, 16]),
  until('20270616T080000Z', [14, 15, 16]),
  until('20270616T075959Z', [14, 15]),
  until('20270616T000000', [14, 15]),
  inSummer('an UNTIL that is none', '2019-06-10', ['RRULE:FREQ=YEARLY;UNTIL;BYDAY=-1MO;BYMONTH=6'], june(28)),
  inSummer('an UNTIL with half a time', '2019-06-10', ['RRULE:FREQ=YEARLY;UNTIL=20200202T1234T'], june(10)),
  inSummer('an UNTIL with an offset', '2019-06-10', ['RRULE:FREQ=YEARLY;UNTIL=20200202T120000+0100'], june(10)),
  inSummer('an UNTIL at the end of time', '2019-06-10', ['RRULE:FREQ=YEARLY;UNTIL=99991231T235959Z'], june(10)),
  inSummer(
    'a count that includes what is excluded',
    '2027-06-14',
    ['RRULE:FREQ=DAILY;COUNT=4', 'EXDATE;TZID=Europe/Berlin:20270615T100000'],
    june(14, 16, 17),
    {
      ...graphDaily({ type: 'numbered', numberOfOccurrences: 4 }),
      cancelledOccurrences: ['OID.A.2027-06-15'],
    },
  ),
  inSummer('an excluded start', '2027-06-14', ['RRULE:FREQ=DAILY;COUNT=3', 'EXDATE:20270614T080000Z'], june(15, 16), {
    ...graphDaily({ type: 'numbered', numberOfOccurrences: 3 }),
    cancelledOccurrences: ['OID.A.2027-06-14'],
  }),
  inSummer('an excluded day', '2027-06-14', ['RRULE:FREQ=DAILY;COUNT=3', 'EXDATE;VALUE=DATE:20270615'], june(14, 16)),
  inSummer(
    'an exclusion in a zone of Windows',
    '2027-06-14',
    ['EXDATE;TZID=Pacific Standard Time:20270615T010000', 'RRULE:FREQ=DAILY;COUNT=3'],
    june(14, 16),
  ),
  inSummer(
    'junk among exclusions',
    '2027-06-14',
    ['RRULE:FREQ=DAILY;COUNT=3', 'EXDATE:junk,,20270615T080000Z,20270231T080000Z'],
    june(14, 16),
  ),
  inSummer(
    'a rule that excludes',
    '2027-06-14',
    ['RRULE:FREQ=DAILY;COUNT=5', 'EXRULE:FREQ=DAILY;INTERVAL=2'],
    june(15, 17),
  ),
  inSummer(
    'dates without a rule',
    '2027-06-14',
    ['RDATE;TZID=Europe/Berlin:20270614T100000,20270701T100000,20271201T100000'],
    hours('06-14T08:00', '07-01T08:00', '12-01T09:00'),
  ),
  inSummer('a day without a time', '2027-06-14', ['RDATE;VALUE=DATE:20270616'], june(14, 16)),
  inSummer(
    'periods',
    '2027-06-14',
    ['RDATE;VALUE=PERIOD:20270616T080000Z/PT2H,20270617T080000Z/20270617T083000Z'],
    [...june(14), ...lasting(120, '06-16T08:00'), ...lasting(30, '06-17T08:00')],
  ),
  odd('dates that Google calls a rule', june(14, 16), {
    google: [
      googleEvent({
        ...googleTimes('2027-06-14T10:00:00+02:00', '2027-06-14T11:00:00+02:00'),
        recurrence: ['RRULE:DATE;TZID=Europe/Berlin:20270614T100000,20270616T100000'],
      }),
    ],
  }),
  inSummer(
    'junk beside a rule',
    '2027-06-14',
    [null, 7, 'RRULE', 'RRULE:', 'RRULE:FREQ=SOMETIMES', 'X-JUNK:1', ';;;', 'RRULE:FREQ=DAILY;COUNT=2'],
    june(14, 15),
  ),
  inSummer('junk in place of a rule', '2027-06-14', ['RRULE:FREQ=', 'RDATE:20270231T100000'], june(14)),
  odd('the last day of each month', hours('01-31T09:00', '02-28T09:00', '03-31T08:00'), {
    ics: buildIcs([
      'DTSTART;TZID=Europe/Berlin:20270131T100000',
      'DURATION:PT1H',
      'RRULE:FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1;COUNT=3',
    ]),
    google: [
      googleEvent({
        ...googleTimes('2027-01-31T10:00:00+01:00', '2027-01-31T11:00:00+01:00'),
        recurrence: ['RRULE:FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3'],
      }),
    ],
    graph: graphSeries(
      { type: 'absoluteMonthly', dayOfMonth: 31 },
      { type: 'numbered', numberOfOccurrences: 3 },
      graphTimes('2027-01-31T09:00:00', '2027-01-31T10:00:00'),
    ),
  }),
]

/** On the 31st of January and of each month after it. */
function monthEnds(name: string, part: string, expected: string[], graph?: object): OddEvent {
  const rule = `RRULE:RSCALE=GREGORIAN;FREQ=MONTHLY;${part};COUNT=4`
  return odd(name, expected, {
    ics: buildIcs(['DTSTART:20270131T090000Z', 'DURATION:PT1H', rule]),
    google: [
      googleEvent({ ...googleTimes('2027-01-31T09:00:00Z', '2027-01-31T10:00:00Z', 'UTC'), recurrence: [rule] }),
    ],
    ...(graph && { graph }),
  })
}

/** Rules with SKIP (RFC 7529), as Google and Apple write them. */
export const SKIPS: readonly OddEvent[] = [
  monthEnds(
    'the day before, in months that are too short',
    'SKIP=BACKWARD',
    hours('01-31T09:00', '02-28T09:00', '03-31T09:00', '04-30T09:00'),
    graphSeries(
      { type: 'absoluteMonthly', dayOfMonth: 31 },
      { type: 'numbered', numberOfOccurrences: 4 },
      graphTimes('2027-01-31T09:00:00', '2027-01-31T10:00:00'),
      'UTC',
    ),
  ),
  monthEnds('the day after', 'SKIP=FORWARD', hours('01-31T09:00', '03-01T09:00', '03-31T09:00', '05-01T09:00')),
  monthEnds('no day', 'SKIP=OMIT', hours('01-31T09:00', '03-31T09:00', '05-31T09:00', '07-31T09:00')),
  odd('29 February, each year', hours('03-01T09:00'), {
    ics: buildIcs(['DTSTART:20240229T090000Z', 'DURATION:PT1H', 'RRULE:RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=FORWARD']),
    google: [
      googleEvent({
        ...googleTimes('2024-02-29T09:00:00Z', '2024-02-29T10:00:00Z', 'UTC'),
        recurrence: ['RRULE:RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=FORWARD'],
      }),
    ],
  }),
]

const HOURLY_FOR_EVER = {
  ics: icsFile('hourly-for-ever'),
  google: [
    googleEvent({
      ...googleTimes('2026-12-01T00:00:00Z', '2026-12-01T00:10:00Z', 'UTC'),
      recurrence: ['RRULE:FREQ=HOURLY'],
    }),
  ],
}

/** Ten minutes of each hour. */
export const HOURLY: OddEvent = odd(
  'hourly for ever',
  Array.from({ length: 365 * 24 }, (_, hour) =>
    new Date(Date.UTC(2027, 0, 1, hour)).toISOString().slice(5, 16),
  ).flatMap((start) => lasting(10, start)),
  HOURLY_FOR_EVER,
)
