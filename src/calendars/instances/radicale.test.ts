import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caldavAccess, testCaldav } from '../../../test/kit/calendars/caldav.ts'
import { type Radicale, radicaleAvailable, startRadicale } from '../../../test/servers/radicale.ts'
import { type IcsEvent, icsObject } from '../../../test/servers/radicale-calendar.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { CalendarAccount, EventTime, RemoteEvent, TimeRange } from '../../providers/contract/index.ts'
import { expandSeries } from './instances.ts'
import { eventSpan } from './times.ts'

interface Case {
  name: string
  zone: string
  window: [string, string]
  /** Its library cannot compare dates in UTC with those in other zones. */
  isRefusedByRadicale?: boolean
  events: {
    start: EventTime
    end: EventTime
    recurrence: string[]
    exceptions?: { originalStart: EventTime; start?: EventTime; end?: EventTime }[]
    /** The TZID in place of the zone, and its description. */
    tzid?: string
    vtimezone?: string[]
  }[]
}

const ALL: Case[] = JSON.parse(readFileSync('test/calendars/cases.json', 'utf8'))
const CASES = ALL.filter(({ isRefusedByRadicale }) => isRefusedByRadicale !== true)
const EXPECTED: Record<string, string[]> = JSON.parse(readFileSync('test/calendars/instances.json', 'utf8'))
const USER = 'ada@example.com'

describe.skipIf(!radicaleAvailable())('the calendars of the table on a real server', () => {
  let radicale: Radicale
  let account: CalendarAccount
  let close: () => Promise<void>
  const { signal } = new AbortController()
  beforeAll(async () => {
    radicale = await startRadicale()
    await radicale.addUser(USER, 'secret')
    const caldav = testCaldav()
    close = caldav.close
    account = caldav.provider.open(caldavAccess(radicale.url, USER, 'secret'))
  })
  afterAll(async () => {
    await close()
    await radicale.stop()
  })

  it.each(CASES.map((each, at) => ({ ...each, at })))('$name', async ({ name, zone, window, events, at }) => {
    const path = await radicale.makeCalendar(USER, `c${at}`, `<D:displayname>${name}</D:displayname>${timeZone(zone)}`)
    for (const [index, event] of events.entries()) {
      await radicale.request(USER, 'PUT', `${path}${index}.ics`, buildIcs(event))
    }
    const calendar = (await account.listCalendars(signal)).find(({ calendarId }) => calendarId === path)
    expect(calendar).toMatchObject({ summary: name, timeZone: zone })

    const [from = '', to = ''] = window
    const range = { from: Date.parse(from), to: Date.parse(to) }
    const synced: RemoteEvent[] = []
    for await (const step of account.syncEvents({ calendarId: path, cursor: null, window: range, signal })) {
      synced.push(...step.found)
    }
    expect(instances(synced, zone, range)).toEqual(EXPECTED[name])
    const ranged = await account.readRange({ calendarId: path, range, expand: true, signal })
    expect(instances(ranged, zone, range)).toEqual(EXPECTED[name])
  })
})

function instances(events: readonly RemoteEvent[], zone: string, window: TimeRange): string[] {
  const found = events.flatMap((event) => {
    if (event.recurringEventId !== null) {
      const span = eventSpan(event, zone)
      return event.status === 'cancelled' || span.startMs >= window.to || span.endMs <= window.from ? [] : [span]
    }
    const exceptions = events.flatMap(({ recurringEventId, originalStart }) =>
      recurringEventId === event.eventId && originalStart !== null ? [originalStart] : [],
    )
    return expandSeries({ ...event, exceptions }, zone, window)
  })
  return found.map(({ startMs, endMs }) => `${isoTime(startMs)}/${isoTime(endMs)}`.replaceAll('.000Z', 'Z')).sort()
}

function buildIcs({ tzid, vtimezone, exceptions = [], ...event }: Case['events'][number]): string {
  const named = (time: EventTime): EventTime =>
    'date' in time || tzid === undefined ? time : { ...time, timeZone: tzid }
  const master: IcsEvent = { ...event, summary: 'Master', start: named(event.start), end: named(event.end) }
  const changed = exceptions.map(({ originalStart, start, end }): IcsEvent => {
    if (start !== undefined && end !== undefined) return { summary: 'Moved', start, end, originalStart }
    const times = { start: originalStart, end: originalStart, originalStart }
    return { ...times, summary: 'Cancelled', lines: ['STATUS:CANCELLED'] }
  })
  if (vtimezone !== undefined) return icsObject([master, ...changed], { timezones: described(tzid ?? '', vtimezone) })
  // Radicale refuses lines with a TZID that is not described. The names alone decide here, so any offset will do.
  const text = icsObject([master, ...changed])
  const names = new Set([...text.matchAll(/TZID=([^:;]+)/g)].map(([, name = '']) => name))
  names.delete('Nowhere/Known')
  return icsObject([master, ...changed], { timezones: [...names].flatMap((name) => described(name, ANY_OFFSET)) })
}

const ANY_OFFSET = [
  'BEGIN:STANDARD',
  'DTSTART:19700101T000000',
  'TZOFFSETFROM:+0000',
  'TZOFFSETTO:+0000',
  'END:STANDARD',
]

function described(name: string, observances: string[]): string[] {
  return ['BEGIN:VTIMEZONE', `TZID:${name}`, ...observances, 'END:VTIMEZONE']
}

function timeZone(zone: string): string {
  const observance = [
    'BEGIN:STANDARD',
    'DTSTART:19700101T000000',
    'TZOFFSETFROM:+0000',
    'TZOFFSETTO:+0000',
    'END:STANDARD',
  ]
  const lines = ['BEGIN:VCALENDAR', 'BEGIN:VTIMEZONE', `TZID:${zone}`, ...observance, 'END:VTIMEZONE', 'END:VCALENDAR']
  return `<C:calendar-timezone>${lines.join('\r\n')}</C:calendar-timezone>`
}
