import { outbound } from '../../src/infra/http/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type {
  CalendarAccount,
  CalendarChanges,
  CalendarFreeBusy,
  MailAccess,
} from '../../src/providers/contract/index.ts'
import { type MicrosoftDeps, microsoftProvider } from '../../src/providers/microsoft/index.ts'
import { openGuard } from './imap-mailbox.ts'
import { type Microsoft, OUTLOOK_CALENDAR_SCOPES, startMicrosoft } from './microsoft.ts'

export interface MicrosoftCalendarFixture {
  graph: Microsoft
  user: string
  account: CalendarAccount
  changes: CalendarChanges
  freeBusy: CalendarFreeBusy
  stop(): Promise<void>
}

/** The calendars of a user at the fake Graph, used through the provider. */
export async function microsoftCalendars(
  deps: Partial<Pick<MicrosoftDeps, 'clock' | 'rangeEvents'>> = {},
): Promise<MicrosoftCalendarFixture> {
  const user = 'ada@example.test'
  const graph = await startMicrosoft()
  graph.addUser(user)
  const { accessToken } = await graph.grant(user, ['openid', 'offline_access', 'User.Read', ...OUTLOOK_CALENDAR_SCOPES])
  const { calendar, mail } = microsoftProvider({
    ...{ graphUrl: graph.url, clock: systemClock, outbound: outbound({ guard: openGuard }), ...deps },
  })
  const access: MailAccess = {
    ...{ accountId: 'acc_microsoft', email: user, settings: {}, secrets: {} },
    accessToken: async () => accessToken,
  }
  return {
    ...{ graph, user, account: calendar.open(access) },
    ...{ changes: calendar.changes(access), freeBusy: calendar.freeBusy(access) },
    async stop() {
      await mail.closeConnections()
      await graph.close()
    },
  }
}
