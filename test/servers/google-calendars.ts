import { DateTime } from 'luxon'
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
import { type GmailDeps, gmailProvider } from '../../src/providers/gmail/index.ts'
import { CALENDAR_SCOPES, type Google, startGoogle } from './google.ts'
import { googleTenantAccess, type TokenOwner, userAccess } from './opened-access.ts'

export interface GoogleCalendarFixture {
  google: Google
  /** Its address is also the id of the primary calendar. */
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

/** The calendars of a user at the fake Google, used through the provider. */
export async function googleCalendars(
  limits: GmailDeps['limits'] = {},
  scopes: string[] = CALENDAR_SCOPES,
  owner: TokenOwner = 'user',
): Promise<GoogleCalendarFixture> {
  const user = 'ann@gmail.test'
  const google = await startGoogle()
  google.addUser(user)
  const tokens = { tokenUrl: `${google.url}/token`, withContacts: false }
  const { calendar, mail, tenant } = gmailProvider({ apiUrl: google.url, tenant: tokens, clock: systemClock, limits })
  const opened =
    owner === 'tenant'
      ? googleTenantAccess(google, user, tenant)
      : await userAccess(google, user, ['openid', 'email', ...scopes])
  const { access } = opened
  return {
    google,
    user,
    revoke: opened.revoke,
    provider: calendar,
    access,
    account: calendar.open(access),
    edits: calendar.edits(access),
    freeBusy: calendar.freeBusy(access),
    async stop() {
      await mail.closeConnections()
      await google.close()
    },
  }
}

/** For the conformance suite. */
export async function googleCalendarFixture(owner: TokenOwner = 'user'): Promise<CalendarFixture> {
  const { google, user, provider, access, revoke, stop } = await googleCalendars({}, CALENDAR_SCOPES, owner)
  const entry = { selected: true }
  google.calendars.add(user, { id: user, primary: true, ...entry })
  const instanceId = (masterId: string, start: EventTime) => {
    const local = 'date' in start ? start.date : start.dateTime
    const at = DateTime.fromISO(local, { zone: ('timeZone' in start && start.timeZone) || 'utc' }).toUTC()
    return `${masterId}_${'date' in start ? at.toFormat('yyyyMMdd') : at.toFormat("yyyyMMdd'T'HHmmss'Z'")}`
  }
  const toTime = (time: EventTime) => ('date' in time ? time : { ...time, timeZone: time.timeZone ?? 'UTC' })
  const put = (id: string | undefined, { start, end, ...event }: WrittenEvent, more: object = {}) =>
    google.calendars.put(user, user, {
      ...event,
      ...(id !== undefined && { id }),
      start: toTime(start),
      end: toTime(end),
      ...more,
    })
  return {
    provider,
    access,
    calendarId: user,
    timeZone: 'Europe/Berlin',
    stop,
    write: async (event, eventId) => put(eventId, event),
    async writeException(masterId, originalStart, change) {
      const id = instanceId(masterId, originalStart)
      if (change === 'cancelled') google.calendars.cancel(user, user, id)
      else put(id, change, { recurringEventId: masterId, originalStartTime: originalStart })
    },
    remove: async (eventId) => google.calendars.cancel(user, user, eventId),
    expireCursors: async () => google.calendars.expireSyncTokens(user),
    refuse: async () => revoke(),
  }
}
