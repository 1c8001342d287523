/** Google Calendar: lists, sync by one sync token per calendar, reads of a time range, changes of events, and busy times. */
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type CalendarAccount,
  type CalendarProvider,
  type EventRangeRequest,
  ProviderError,
  type RemoteCalendar,
  type RemoteEvent,
} from '../../contract/index.ts'
import { PageLinks, type RestClient, type RestMailbox } from '../../shared/rest/index.ts'
import { calendarPage, eventPage } from './client.ts'
import { googleCalendarEdits } from './edits.ts'
import { googleFreeBusy } from './free-busy.ts'
import { remoteCalendar } from './map.ts'
import { googleCalendarPush } from './push.ts'
import { mapItems, syncEvents } from './sync.ts'

export { calendarError, PROJECT_REQUESTS, RATE_LIMIT } from './client.ts'

const MAX_CALENDARS = 5000
const MAX_EVENTS = 10_000
const READING = 'reading events'

export function googleCalendars(client: RestClient, clock: Clock, maxEvents = MAX_EVENTS): Required<CalendarProvider> {
  return {
    open(access): CalendarAccount {
      const mailbox = client.mailbox(access)
      const urgent = client.mailbox(access, { urgent: true })
      return {
        listCalendars: (signal) => listCalendars(mailbox, signal),
        syncEvents: (request) => syncEvents(mailbox, request, clock),
        readRange: (request) => readRange(urgent, request, maxEvents),
      }
    },
    edits: (access) => googleCalendarEdits(client.mailbox(access, { urgent: true })),
    freeBusy: (access) => googleFreeBusy(client.mailbox(access, { urgent: true })),
    push: googleCalendarPush(client, () => clock.now()),
  }
}

async function listCalendars(mailbox: RestMailbox, signal: AbortSignal): Promise<RemoteCalendar[]> {
  const calendars: RemoteCalendar[] = []
  const links = new PageLinks('listing the calendars')
  for (let pageToken: string | undefined; calendars.length < MAX_CALENDARS; ) {
    const page = await calendarPage(mailbox, pageToken, signal).catch((error: unknown) => {
      // The user has mail, but no calendar.
      if (error instanceof ProviderError && error.kind === 'not_found') return { items: [], next: undefined }
      throw error
    })
    calendars.push(...page.items.flatMap((item) => remoteCalendar(item) ?? []))
    if (page.next === undefined) break
    pageToken = links.follow(page.next, page.items.length)
  }
  return calendars
}

async function readRange(
  mailbox: RestMailbox,
  { calendarId, range, expand, signal }: EventRangeRequest,
  maxEvents: number,
): Promise<RemoteEvent[]> {
  const query = {
    // Both bounds are exclusive and in whole seconds: an event without a duration at the beginning belongs to the range.
    timeMin: formatTime(range.from - 1000),
    timeMax: formatTime(range.to + 999),
    singleEvents: expand,
  }
  const events: RemoteEvent[] = []
  const links = new PageLinks(READING)
  for (let pageToken: string | undefined; ; ) {
    const page = await eventPage(mailbox, calendarId, { ...query, pageToken }, { doing: READING, signal })
    events.push(...mapItems(page).found)
    if (events.length > maxEvents) {
      throw new ProviderError('limit_exceeded', `${READING}: more than ${maxEvents} events. Ask for a shorter range.`)
    }
    if (page.next === undefined) return events
    pageToken = links.follow(page.next, page.items.length)
  }
}

function formatTime(ms: number): string | undefined {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : undefined
}
