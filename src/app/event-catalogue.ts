import { accountEvents } from '../accounts/index.ts'
import { bookingEvents } from '../booking/index.ts'
import { calendarEvents } from '../calendars/index.ts'
import { eventCatalogue } from '../events/index.ts'
import { webhookEvents } from '../events/webhooks/index.ts'
import { backfillEvents } from '../mail/backfill/index.ts'
import { bounceEvents } from '../mail/bounces/index.ts'
import { folderEvents } from '../mail/labels/index.ts'
import { draftEvents, messageEvents } from '../mail/messages/index.ts'
import { outboxEvents } from '../mail/outbox/index.ts'
import { trackingEvents } from '../mail/tracking/index.ts'

/** Every recorded event type, each once, in the order in which the documentation lists them. */
export const eventDeclarations = {
  ...messageEvents,
  ...folderEvents,
  ...draftEvents,
  ...outboxEvents,
  ...bounceEvents,
  ...trackingEvents,
  ...calendarEvents,
  ...bookingEvents,
  ...accountEvents,
  ...backfillEvents,
  ...webhookEvents,
}

export const catalogue = eventCatalogue(eventDeclarations)
