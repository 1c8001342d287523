/**
 * What happened, as rows: recorded in the transaction that made it happen, stamped in a global order, read by position.
 */
import './tables.ts'

export { accountFacts } from './catalogue/account.ts'
export type { EventEntry } from './catalogue/entry.ts'
export { messageBodySchema, messageSchema } from './catalogue/message.ts'
export { eraseEvents, purgeEvents, silenceEvents } from './erase.ts'
export { type EventBody, type EventRow, eventHead, eventSchema } from './event.ts'
export { type EventFilter, type EventHead, eventFeed } from './feed.ts'
export { type EventRange, findEvents, listFannedOut } from './read.ts'
export { EVENTS_TOPIC, MAX_DATA_BYTES, type Recorder, recorder, STAMPED_TOPIC } from './record.ts'
export { sampleBody, sampleEvent } from './sample.ts'
export { holdStamping, nextEvents, stampEvents } from './stamp.ts'
export {
  ENTRIES,
  EVENT_TYPES,
  type EventData,
  type EventType,
  isEventType,
  type NewEvent,
} from './types.ts'
