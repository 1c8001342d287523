import { eventCatalogue } from '../events/index.ts'
import { accountEvents } from '../features/accounts/index.ts'
import { backfillEvents } from '../features/backfill/index.ts'
import { bounceEvents } from '../features/bounces/index.ts'
import { calendarEvents } from '../features/calendars/index.ts'
import { folderEvents } from '../features/labels/index.ts'
import { draftEvents, messageEvents } from '../features/messages/index.ts'
import { outboxEvents } from '../features/outbox/index.ts'
import { bookingEvents } from '../features/scheduler/index.ts'
import { trackingEvents } from '../features/tracking/index.ts'
import { webhookEvents } from '../features/webhooks/index.ts'

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
