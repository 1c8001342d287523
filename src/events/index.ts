/**
 * What happened, as rows: recorded in the transaction that made it happen, stamped in a global order, read by position.
 */
import './schema.ts'

export { type EventRow, eventHead } from './body.ts'
export { eraseEvents, purgeEvents, silenceEvents } from './erase.ts'
export { findEvents } from './read.ts'
export { EVENTS_TOPIC, MAX_DATA_BYTES, type Recorder, recorder } from './record.ts'
export { holdStamping, stampEvents } from './stamp.ts'
export { EVENT_TYPES, type EventBody, type EventType, type NewEvent } from './types.ts'
