import { DateTime } from 'luxon'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { googleCalendars } from '../../../test/servers/google-calendars.ts'
import type { PatternedRecurrence } from '../../../test/servers/microsoft/pattern.ts'
import { microsoftCalendars } from '../../../test/servers/microsoft-calendars.ts'
import type { CalendarAccount, RemoteEvent, TimeRange } from '../../providers/contract/index.ts'
import { expandSeries } from './instances.ts'
import { eventSpan } from './times.ts'

const { signal } = new AbortController()
const range: TimeRange = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2028, 6, 1) }

/** The starts in the range, expanded here and by the provider. */
async function bothStarts(account: CalendarAccount, calendarId: string) {
  const stored: RemoteEvent[] = []
  for await (const { found } of account.syncEvents({ calendarId, cursor: null, window: range, signal }))
    stored.push(...found)
  const findStarts = (event: RemoteEvent) => {
    if (event.recurrence.length === 0) return event.status === 'cancelled' ? [] : [eventSpan(event, null).startMs]
    const own = stored.filter(({ recurringEventId }) => recurringEventId === event.eventId)
    const exceptions = own.flatMap(({ originalStart }) => originalStart ?? [])
    return expandSeries({ ...event, exceptions }, null, range).map(({ startMs }) => startMs)
  }
  const expanded = await account.readRange({ calendarId, range, expand: true, signal })
  const isInRange = (ms: number) => ms >= range.from && ms < range.to
  const sorted = (starts: number[]) => [...new Set(starts.filter(isInRange))].sort((a, b) => a - b).map(iso)
  return {
    here: sorted(stored.flatMap(findStarts)),
    providerStarts: sorted(expanded.map((event) => eventSpan(event, null).startMs)),
  }
}

const iso = (ms: number) => new Date(ms).toISOString()

function halfHour(dateTime: string, timeZone: string) {
  const end = DateTime.fromISO(dateTime, { zone: 'utc' }).plus({ minutes: 30 }).toFormat("yyyy-MM-dd'T'HH:mm:ss")
  return { start: { dateTime, timeZone }, end: { dateTime: end, timeZone } }
}

describe('the expansion of a stored series is that of the provider', () => {
  let google: Awaited<ReturnType<typeof googleCalendars>>
  let outlook: Awaited<ReturnType<typeof microsoftCalendars>>
  beforeAll(async () => {
    google = await googleCalendars()
    outlook = await microsoftCalendars()
  })
  afterAll(async () => {
    await google.stop()
    await outlook.stop()
  })

  it.each([
    ['Europe/Berlin', '2026-01-05T09:00:00', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,TU;WKST=SU'],
    ['America/New_York', '2026-03-01T02:30:00', 'FREQ=DAILY;UNTIL=20260401T063000Z'],
    ['Australia/Lord_Howe', '2026-01-01T01:45:00', 'FREQ=MONTHLY;BYDAY=1SU,-1SU'],
    ['Asia/Kolkata', '2026-01-31T23:30:00', 'FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=20'],
    ['Pacific/Apia', '2024-02-29T08:00:00', 'FREQ=YEARLY'],
    ['Europe/London', '2026-01-01T00:00:00', 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1'],
  ])('Google: %s %s %s', async (timeZone, dateTime, rule) => {
    const { google: fake, user, account } = google
    const calendarId = `${rule}${timeZone}`
    fake.calendars.add(user, { id: calendarId })
    const event = { id: 'series', ...halfHour(dateTime, timeZone), recurrence: [`RRULE:${rule}`] }
    fake.calendars.put(user, calendarId, event)
    const last = (await bothStarts(account, calendarId)).providerStarts.at(-1) ?? ''
    fake.calendars.cancel(user, calendarId, `series_${last.replace(/[-:]|\.\d+/g, '')}`)
    const { here, providerStarts } = await bothStarts(account, calendarId)
    expect(here).toEqual(providerStarts)
    expect(here).not.toContain(last)
  })

  it.each<[zone: string, windows: string, start: string, PatternedRecurrence['pattern'], end?: string]>([
    [
      ...(['Europe/Berlin', 'W. Europe Standard Time', '2026-01-06T09:00:00'] as const),
      { type: 'weekly', interval: 2, daysOfWeek: ['sunday', 'tuesday'], firstDayOfWeek: 'monday' },
    ],
    [
      ...(['Asia/Tokyo', 'Tokyo Standard Time', '2026-01-31T00:30:00'] as const),
      { type: 'absoluteMonthly', interval: 1, dayOfMonth: 31 },
    ],
    [
      ...(['America/New_York', 'Eastern Standard Time', '2026-01-30T23:30:00'] as const),
      { type: 'relativeMonthly', interval: 2, daysOfWeek: ['friday'], index: 'last' },
      '2027-11-26',
    ],
    [
      ...(['Europe/Berlin', 'W. Europe Standard Time', '2024-02-29T12:00:00'] as const),
      { type: 'absoluteYearly', interval: 1, dayOfMonth: 29, month: 2 },
    ],
    [
      ...(['Europe/Berlin', 'W. Europe Standard Time', '2026-10-01T02:30:00'] as const),
      { type: 'daily', interval: 1 },
      '2026-11-30',
    ],
  ])('Outlook: %s %s %s %j', async (timeZone, windows, dateTime, pattern, endDate) => {
    const { graph, user, account } = outlook
    const calendarId = `${timeZone}-${pattern.type}`
    graph.calendars.add(user, { id: calendarId })
    const startDate = dateTime.slice(0, 10)
    const ends = endDate === undefined ? { type: 'noEnd' as const } : { type: 'endDate' as const, endDate }
    const id = graph.calendars.put(user, calendarId, {
      ...halfHour(dateTime, timeZone),
      originalStartTimeZone: windows,
      recurrence: { pattern, range: { ...ends, startDate, recurrenceTimeZone: windows } },
    })
    const [, , third = ''] = (await bothStarts(account, calendarId)).providerStarts
    const local = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(new Date(third))
    graph.calendars.cancelOccurrence(user, id, local)
    const { here, providerStarts } = await bothStarts(account, calendarId)
    expect(here).toEqual(providerStarts)
    expect(here).not.toContain(third)
  })
})
