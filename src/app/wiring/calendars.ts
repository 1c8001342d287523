import { fence, sharedFence } from '../../accounts/cluster/index.ts'
import { bookingRecorder } from '../../booking/index.ts'
import {
  availabilityRoutes,
  calendarChangeRoutes,
  calendarChanger,
  calendarNotifications,
  calendarPushRoutes,
  calendarReader,
  calendarRoutes,
  calendarSync,
  availability as createAvailability,
  GOOGLE_NOTIFICATIONS_PATH,
} from '../../calendars/index.ts'
import { webhookTarget } from '../../mail/push/index.ts'
import type { App as HttpServer } from '../../platform/http/index.ts'
import type { Features } from '../features.ts'
import type { Part } from '../start-stop.ts'
import type { Accounts } from './accounts.ts'
import type { FeatureOptions } from './options.ts'
import type { Shared } from './shared.ts'

export type Calendars = ReturnType<typeof openCalendars>

/** Calendars: what is read, changed and synced. Bookings follow the changes that sync and requests record. */
export function openCalendars(shared: Shared, { accounts, mailboxes, ownership }: Accounts, options: FeatureOptions) {
  const { config } = shared
  const { calendars } = mailboxes
  const webhook = webhookTarget(config.publicUrl)
  const events = bookingRecorder({ ...shared, accounts })

  const calendarLists = calendarReader({ ...shared, accounts, calendars })
  const availability = createAvailability({ ...shared, accounts, calendars, lists: calendarLists })
  const calendarChanges = calendarChanger({ ...shared, events, accounts, calendars })
  const notifications = calendarNotifications(shared)
  const calendarRuns = calendarSync({
    ...shared,
    events,
    accounts,
    ownership,
    fence,
    sharedFence,
    calendars,
    pushTarget: (provider) =>
      webhook && (provider === 'gmail' ? { ...webhook, url: config.publicUrl + GOOGLE_NOTIFICATIONS_PATH } : webhook),
    windowMonths: config.syncCalendarWindow,
    ...(options.calendars && { timing: options.calendars }),
  })

  const calendarParts: readonly Part[] = [{ start: calendarRuns.start, stop: calendarRuns.stop, stopsWith: 'work' }]
  return { calendarLists, availability, calendarChanges, notifications, calendarRuns, calendarParts }
}

export function calendarsRoutes(server: HttpServer, { log }: Shared, features: Features): void {
  const { availability, calendarChanges, calendarLists, idempotency, notifications } = features
  calendarPushRoutes(server, { log, notifications })
  calendarRoutes(server, calendarLists)
  availabilityRoutes(server, { availability, idempotency })
  calendarChangeRoutes(server, { changer: calendarChanges, idempotency })
}
