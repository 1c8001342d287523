/**
 * Delivery reports: sync names the messages that look like one, they are read and parsed in the background, and what they say of a sent
 * message is stored and recorded as `message.bounced`.
 */
import type {} from './tables.ts'

export { bouncesFeature } from './feature.ts'
export { type BouncedRecipient, bouncedRecipients } from './read.ts'
export { bounceReader } from './reader.ts'
