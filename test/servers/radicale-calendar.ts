import { randomUUID } from 'node:crypto'
import { parseLocal } from '../../src/platform/calendar/days.ts'
import type { EventTime } from '../../src/providers/contract/index.ts'

/** An event of an iCalendar object. Times with a zone have its name as TZID. */
export interface IcsEvent {
  summary: string
  start: EventTime
  end: EventTime
  recurrence?: string[]
  originalStart?: EventTime
  /** Further content lines. */
  lines?: string[]
}

/** An object with one master or single event and its exceptions. */
export function icsObject(
  events: readonly IcsEvent[],
  { uid = randomUUID() as string, timezones = [] as string[] } = {},
): string {
  const lines = events.flatMap((event) => [
    'BEGIN:VEVENT',
    `UID:${uid}`,
    'DTSTAMP:20261101T000000Z',
    ...(event.originalStart === undefined ? [] : [icsTime('RECURRENCE-ID', event.originalStart)]),
    icsTime('DTSTART', event.start),
    // RFC 5545 has no DTEND that equals DTSTART.
    ...(isSameTime(event.start, event.end) ? [] : [icsTime('DTEND', event.end)]),
    `SUMMARY:${event.summary}`,
    ...(event.recurrence ?? []),
    ...(event.lines ?? []),
    'END:VEVENT',
  ])
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//tests//EN', ...timezones, ...lines, 'END:VCALENDAR', ''].join(
    '\r\n',
  )
}

function isSameTime(start: EventTime, end: EventTime): boolean {
  return JSON.stringify(start) === JSON.stringify(end)
}

function icsTime(name: string, time: EventTime): string {
  if ('date' in time) return `${name};VALUE=DATE:${time.date.replaceAll('-', '')}`
  if (parseLocal(time.dateTime) === undefined) throw new Error(`not a local time: ${time.dateTime}`)
  const text = time.dateTime.replaceAll(/[-:]/g, '')
  if (time.timeZone === 'UTC') return `${name}:${text}Z`
  return time.timeZone === null ? `${name}:${text}` : `${name};TZID=${time.timeZone}:${text}`
}
