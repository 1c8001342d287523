import { readFileSync } from 'node:fs'

/** An event in a form that is easily misread, and when it takes place. Each provider that has such a form has it here. */
export interface OddEvent {
  name: string
  /** Zone of the calendar. */
  zone: string
  year: number
  /** `start/end` in UTC of what takes place in the year, ` free` behind what blocks nothing. */
  expected: string[]
  /** A calendar object. */
  ics?: string
  /** The items of Google's list, in its order. */
  google?: object[]
  /** An event of Graph. A master has its exceptions and cancelled instances with it. */
  graph?: object
}

type Forms = Pick<OddEvent, 'ics' | 'google' | 'graph'>
type Place = Partial<Pick<OddEvent, 'zone' | 'year'>>

/** The user, who is an attendee of some events. */
export const USER = 'me@example.com'

export function odd(name: string, expected: string[], forms: Forms, place: Place = {}): OddEvent {
  return { name, expected, zone: 'Europe/Berlin', year: 2027, ...place, ...forms }
}

/** Ranges of as many minutes that begin at these times of 2027: `06-02T08:00`. */
export function lasting(minutes: number, ...starts: string[]): string[] {
  return starts.map((start) => {
    const startMs = Date.parse(`2027-${start}:00Z`)
    return rangeText(startMs, startMs + minutes * 60_000)
  })
}

export function hours(...starts: string[]): string[] {
  return lasting(60, ...starts)
}

/** Days of 2027 where midnight is at this offset: `02-16`. */
export function days(offset: string, ...dates: string[]): string[] {
  return dates.map((date) => {
    const startMs = Date.parse(`2027-${date}T00:00:00${offset}`)
    return rangeText(startMs, startMs + 86_400_000)
  })
}

export function free(ranges: readonly string[]): string[] {
  return ranges.map((range) => `${range} free`)
}

/** `2027-06-02T08:00Z/2027-06-02T09:00Z` */
export function rangeText(startMs: number, endMs: number): string {
  return [startMs, endMs].map((ms) => new Date(ms).toISOString().replace(':00.000Z', 'Z')).join('/')
}

export function icsFile(name: string): string {
  return readFileSync(`test/calendars/odd/${name}.ics`, 'utf8')
}

export function icsObject(...lines: string[]): string {
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n')
}

/** An object whose events have these lines. */
export function buildIcs(...events: string[][]): string {
  return icsObject(...events.flatMap((lines) => ['BEGIN:VEVENT', 'UID:1', ...lines, 'END:VEVENT']))
}

export function googleEvent(members: object): object {
  return { kind: 'calendar#event', id: 'e1', iCalUID: 'e1@google.com', status: 'confirmed', ...members }
}

export function googleTimes(start: string, end: string, timeZone = 'Europe/Berlin'): { start: object; end: object } {
  return { start: { dateTime: start, timeZone }, end: { dateTime: end, timeZone } }
}

/** An exception of `e1`. */
export function googleException(originalStartTime: object, members: object): object {
  return googleEvent({ id: 'e1_1', recurringEventId: 'e1', originalStartTime, ...members })
}

const W_EUROPE = 'W. Europe Standard Time'

export function graphEvent(members: object, timeZone = W_EUROPE): object {
  return {
    id: 'A',
    iCalUId: '1',
    type: 'singleInstance',
    isAllDay: false,
    showAs: 'busy',
    originalStartTimeZone: timeZone,
    originalEndTimeZone: timeZone,
    ...members,
  }
}

/** In UTC, as Graph returns times unless it is asked for another zone. */
export function graphTimes(start: string, end: string): { start: object; end: object } {
  return { start: graphTime(start), end: graphTime(end) }
}

function graphTime(dateTime: string): object {
  return { dateTime: `${dateTime}.0000000`, timeZone: 'UTC' }
}

export function graphSeries(pattern: object, range: object, members: object, timeZone = W_EUROPE): object {
  const whole = {
    pattern: { interval: 1, month: 0, dayOfMonth: 0, firstDayOfWeek: 'sunday', index: 'first', ...pattern },
    range: { type: 'noEnd', endDate: '0001-01-01', numberOfOccurrences: 0, recurrenceTimeZone: timeZone, ...range },
  }
  return graphEvent({ type: 'seriesMaster', recurrence: whole, ...members }, timeZone)
}

/** An exception of the series `A`. */
export function graphException(members: object, timeZone = W_EUROPE): object {
  return graphEvent({ id: 'B', type: 'exception', iCalUId: '2', ...members }, timeZone)
}
