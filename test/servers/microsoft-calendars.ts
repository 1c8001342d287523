import { outbound } from '../../src/platform/outbound/index.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import type { CalendarFixture, WrittenEvent } from '../../src/providers/conformance/calendar.ts'
import type {
  CalendarAccount,
  CalendarEdits,
  CalendarFreeBusy,
  CalendarProvider,
  EventTime,
  MailAccess,
} from '../../src/providers/contract/index.ts'
import { type MicrosoftDeps, microsoftProvider } from '../../src/providers/microsoft/index.ts'
import { openGuard } from './imap-mailbox.ts'
import { type Microsoft, OUTLOOK_CALENDAR_SCOPES, startMicrosoft } from './microsoft.ts'
import { microsoftTenantAccess, TENANT, type TokenOwner, userAccess } from './opened-access.ts'

export interface MicrosoftCalendarFixture {
  graph: Microsoft
  user: string
  /** Withdraws the consent. */
  revoke(): void
  provider: CalendarProvider
  access: MailAccess
  account: CalendarAccount
  edits: CalendarEdits
  freeBusy: CalendarFreeBusy
  stop(): Promise<void>
}

/** The calendars of a user at the fake Graph, used through the provider. */
export async function microsoftCalendars(
  deps: Partial<Pick<MicrosoftDeps, 'clock' | 'rangeEvents'>> = {},
  owner: TokenOwner = 'user',
): Promise<MicrosoftCalendarFixture> {
  const user = 'ada@example.test'
  const graph = await startMicrosoft()
  graph.addUser(user, owner === 'tenant' ? { tenant: TENANT } : {})
  const { calendar, mail, tenant } = microsoftProvider({
    graphUrl: graph.url,
    loginUrl: graph.url,
    clock: systemClock,
    outbound: outbound({ guard: openGuard }),
    ...deps,
    retry: { baseMs: 5, capMs: 20 },
  })
  const opened =
    owner === 'tenant'
      ? microsoftTenantAccess(graph, user, tenant)
      : await userAccess(graph, user, ['openid', 'offline_access', 'User.Read', ...OUTLOOK_CALENDAR_SCOPES])
  const { access } = opened
  return {
    graph,
    user,
    revoke: opened.revoke,
    provider: calendar,
    access,
    account: calendar.open(access),
    edits: calendar.edits(access),
    freeBusy: calendar.freeBusy(access),
    async stop() {
      await mail.closeConnections()
      await graph.close()
    },
  }
}

/** For the conformance suite. */
export async function microsoftCalendarFixture(owner: TokenOwner = 'user'): Promise<CalendarFixture> {
  const { graph, user, provider, access, revoke, stop } = await microsoftCalendars({}, owner)
  const calendarId = 'calendar'
  const times = ({ start, end }: WrittenEvent) => {
    const toTime = (time: EventTime) =>
      'date' in time
        ? { dateTime: `${time.date}T00:00:00`, timeZone: 'UTC' }
        : { dateTime: time.dateTime, timeZone: time.timeZone ?? 'UTC' }
    const zone = { originalStartTimeZone: ZONE, originalEndTimeZone: ZONE }
    return { start: toTime(start), end: toTime(end), isAllDay: 'date' in start, ...zone }
  }
  const toDate = (time: EventTime) => ('date' in time ? time.date : time.dateTime.slice(0, 10))
  return {
    provider,
    access,
    calendarId,
    timeZone: 'Europe/Berlin',
    stop,
    async write(event, id) {
      const startDate = toDate(event.start)
      const range = { type: 'noEnd' as const, startDate, recurrenceTimeZone: ZONE }
      const pattern = { type: 'weekly' as const, interval: 1, daysOfWeek: ['monday'], firstDayOfWeek: 'monday' }
      const recurrence = event.recurrence && { recurrence: { pattern, range } }
      return graph.calendars.put(user, calendarId, {
        subject: event.summary,
        ...times(event),
        ...recurrence,
        ...(id !== undefined && { id }),
      })
    },
    async writeException(masterId, originalStart, change) {
      const date = toDate(originalStart)
      if (change === 'cancelled') graph.calendars.cancelOccurrence(user, masterId, date)
      else graph.calendars.putException(user, masterId, date, { subject: change.summary, ...times(change) })
    },
    remove: async (eventId) => graph.calendars.delete(user, eventId),
    expireCursors: async () => graph.calendars.expireDelta(user),
    refuse: async () => revoke(),
  }
}

const ZONE = 'W. Europe Standard Time'
