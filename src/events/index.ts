/**
 * Events as rows: a feature records an event in the transaction that changes the object, the fan-out gives events a global
 * order (`position`), and readers follow that order. The catalogue holds the event types that features declare.
 */
import type {} from './tables.ts'

export {
  addressSchema,
  declareEvent,
  type EventCatalogue,
  type EventContent,
  type EventDeclarations,
  type EventOf,
  EXAMPLE_ACCOUNT,
  eventCatalogue,
  type NewEvent,
  providerSchema,
} from './catalogue.ts'
export { withholdEvents } from './erase.ts'
export { type EventRow, eventHead, eventSchema, exampleEvent } from './event.ts'
export { eventsFeature } from './feature.ts'
export { type EventFilter, type EventHead, type EventRange, eventFeed, findEvents, listFannedOut } from './read.ts'
export { EVENTS_TOPIC, MAX_DATA_BYTES, type Recorder, recorder, STAMPED_TOPIC } from './record.ts'
export { holdStamping, isStampingElsewhere, nextEvents, stampEvents } from './stamp.ts'
export { type EventUnion, eventUnion } from './union.ts'
