import { scheduler as createScheduler } from '../../booking/index.ts'
import type { Part } from '../start-stop.ts'
import type { Accounts } from './accounts.ts'
import type { Calendars } from './calendars.ts'
import type { Sending } from './mail.ts'
import type { FeatureOptions } from './options.ts'
import type { Shared } from './shared.ts'

/** The booking scheduler. Its routes are `schedulerRoutes` of `src/booking`. */
export function openBooking(
  shared: Shared,
  { accounts, availability, calendarChanges, outbox }: Accounts & Calendars & Sending,
  options: FeatureOptions,
) {
  const { config } = shared
  const scheduler = createScheduler({
    ...shared,
    accounts,
    outbox,
    calendars: calendarChanges,
    publicUrl: config.publicUrl,
    readBusy: availability.readBusy,
    mailLimits: {
      experience: config.schedulerMailPerExperience,
      client: config.schedulerMailPerClient,
      account: config.schedulerMailPerAccount,
      address: config.schedulerMailPerAddress,
    },
    ...(options.scheduler && { timing: options.scheduler }),
  })
  const bookingParts: readonly Part[] = [
    { start: scheduler.tasks.start, stop: scheduler.tasks.stop, stopsWith: 'work' },
  ]
  return { scheduler, bookingParts }
}
