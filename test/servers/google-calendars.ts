import { systemClock } from '../../src/lib/clock.ts'
import type {
  CalendarAccount,
  CalendarChanges,
  CalendarFreeBusy,
  MailAccess,
} from '../../src/providers/contract/index.ts'
import { type GmailDeps, gmailProvider } from '../../src/providers/gmail/index.ts'
import { CALENDAR_SCOPES, type Google, startGoogle } from './google.ts'

export interface GoogleCalendarFixture {
  google: Google
  /** Its address is also the id of the primary calendar. */
  user: string
  account: CalendarAccount
  changes: CalendarChanges
  freeBusy: CalendarFreeBusy
  stop(): Promise<void>
}

/** The calendars of a user at the fake Google, used through the provider. */
export async function googleCalendars(
  limits: GmailDeps['limits'] = {},
  scopes: string[] = CALENDAR_SCOPES,
): Promise<GoogleCalendarFixture> {
  const user = 'ann@gmail.test'
  const google = await startGoogle()
  google.addUser(user)
  const { accessToken } = await google.grant(user, ['openid', 'email', ...scopes])
  const { calendar, mail } = gmailProvider({ apiUrl: google.url, clock: systemClock, limits })
  const access: MailAccess = {
    ...{ accountId: 'acc_google', email: user, settings: {}, secrets: {} },
    accessToken: async () => accessToken,
  }
  return {
    ...{ google, user, account: calendar.open(access) },
    ...{ changes: calendar.changes(access), freeBusy: calendar.freeBusy(access) },
    async stop() {
      await mail.closeConnections()
      await google.close()
    },
  }
}
