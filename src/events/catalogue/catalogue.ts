import { accountEvents } from './account.ts'
import { bookingEvents } from './booking.ts'
import { calendarEvents } from './calendar.ts'
import { mailboxEvents } from './mailbox.ts'
import { draftEvents, messageEvents } from './message.ts'
import { sendingEvents } from './sending.ts'
import { syncEvents } from './sync.ts'
import { webhookEvents } from './webhook.ts'

/**
 * Every event type there is, each once: the types in the code, the OpenAPI document, `docs/events.md`, samples and the check
 * of what tests record all come from here.
 */
export const CATALOGUE = {
  ...messageEvents,
  ...sendingEvents,
  ...mailboxEvents,
  ...draftEvents,
  ...accountEvents,
  ...syncEvents,
  ...calendarEvents,
  ...bookingEvents,
  ...webhookEvents,
}
