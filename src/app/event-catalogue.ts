import { eventCatalogue, plannedEvents } from '../events/index.ts'
import { accountEvents } from '../features/accounts/index.ts'
import { draftEvents, messageEvents } from '../features/messages/index.ts'
import { folderEvents } from '../features/sync/index.ts'
import { webhookEvents } from '../features/webhooks/index.ts'

/** Every recorded event type, each once, in the order in which the documentation lists them. */
const recordedEvents = {
  ...messageEvents,
  ...folderEvents,
  ...draftEvents,
  ...accountEvents,
  ...webhookEvents,
}

/** The recorded types and the planned ones. */
export const eventDeclarations = { ...recordedEvents, ...plannedEvents }

export const catalogue = eventCatalogue(recordedEvents, plannedEvents)
