import { eventCatalogue, plannedEvents } from '../events/index.ts'
import { accountEvents } from '../features/accounts/index.ts'
import { draftEvents, messageEvents } from '../features/messages/index.ts'
import { folderEvents } from '../features/sync/index.ts'
import { webhookEvents } from '../features/webhooks/index.ts'

const { sendingEvents, backfillEvents, calendarEvents, bookingEvents } = plannedEvents

/** Every event type, each once, in the order in which the documentation lists them. */
export const eventDeclarations = {
  ...messageEvents,
  ...sendingEvents,
  ...folderEvents,
  ...draftEvents,
  ...accountEvents,
  ...backfillEvents,
  ...calendarEvents,
  ...bookingEvents,
  ...webhookEvents,
}

export const catalogue = eventCatalogue(eventDeclarations)
