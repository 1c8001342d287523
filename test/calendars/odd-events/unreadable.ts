import { buildIcs, googleEvent, graphEvent, type OddEvent, odd } from './odd-event.ts'

const HOUR = { dateTime: '2027-06-04T09:00:00+02:00', timeZone: 'Europe/Berlin' }
const GRAPH_HOUR = { dateTime: '2027-06-04T07:00:00.0000000', timeZone: 'UTC' }

/** The result for a time that does not exist. */
const WHOLE_DAY = ['2027-06-03T22:00Z/2027-06-04T22:00Z']

/** Builds an event with this start. */
function start(
  name: string,
  { ics, google, graph, times = [] }: { ics?: string; google?: unknown; graph?: unknown; times?: string[] },
): OddEvent {
  return odd(name, times, {
    ...(ics !== undefined && { ics: buildIcs([ics, 'DURATION:PT1H'].filter((line) => line !== '')) }),
    ...(google !== undefined && { google: [googleEvent({ start: google, end: HOUR })] }),
    ...(graph !== undefined && { graph: graphEvent({ start: graph, end: GRAPH_HOUR }) }),
  })
}

/** Events that cannot be read. No mapping returns an event for them. */
export const UNREADABLE: readonly OddEvent[] = [
  start('no start', { ics: '', google: null, graph: null }),
  start('an empty start', { ics: 'DTSTART:', google: {}, graph: {} }),
  start('an empty date', {
    ics: 'DTSTART;VALUE=DATE:',
    google: { date: '' },
    graph: { dateTime: '', timeZone: 'UTC' },
  }),
  start('words', {
    ics: 'DTSTART:tomorrow',
    google: { dateTime: 'tomorrow' },
    graph: { dateTime: 'tomorrow', timeZone: 'UTC' },
  }),
  start('a day that does not exist', {
    ics: 'DTSTART;VALUE=DATE:20270230',
    google: { date: '2027-02-30' },
    graph: { dateTime: '2027-02-30T00:00:00.0000000', timeZone: 'UTC' },
  }),
  start('a number', { google: { date: 20270604 }, graph: { dateTime: 20270604 } }),
  odd('no id', [], {
    google: [{ ...googleEvent({ start: HOUR, end: HOUR }), id: '' }],
    graph: { ...graphEvent({ start: GRAPH_HOUR, end: GRAPH_HOUR }), id: null },
  }),
]

/** Events that are busy where their hours are known. */
export const PARTLY_READABLE: readonly OddEvent[] = [
  start('a time that does not exist', {
    ics: 'DTSTART:20270604T250000Z',
    google: { dateTime: '2027-06-04T25:00:00Z' },
    graph: { dateTime: '2027-06-04T25:00:00.0000000', timeZone: 'UTC' },
    times: WHOLE_DAY,
  }),
  start('an offset of iCalendar', { ics: 'DTSTART:20270604T090000+0200', times: WHOLE_DAY }),
  odd('an end that is none', ['2027-06-04T07:00Z/2027-06-04T08:00Z'], {
    ics: buildIcs(['DTSTART:20270604T070000Z', 'DTEND:tomorrow']),
    google: [googleEvent({ start: HOUR, end: { dateTime: 'tomorrow' } })],
    graph: graphEvent({ start: GRAPH_HOUR, end: { dateTime: 'tomorrow', timeZone: 'UTC' } }),
  }),
]
