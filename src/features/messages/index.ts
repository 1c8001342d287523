/**
 * Messages of connected mailboxes: rows with what lists show, contents read live or kept where wanted. Sync writes them through
 * `messageWriter`; everything else only reads.
 */
import './tables.ts'

export type { Message } from './api.ts'
export { type BodyFetcher, bodyFetcher } from './bodies/fetcher.ts'
export { draftEvents, type MessageEventData, messageEvents } from './events.ts'
export { type MessageContext, messageView } from './message.ts'
export { locationAndFlags, newMessageRow } from './reading/live-list.ts'
export { type MessageReader, messageReader } from './reading/reader.ts'
export { messageRoutes } from './routes.ts'
export { type MessageRow, messageStore } from './store.ts'
export { allMail } from './storing/label-counters.ts'
export { type Candidate, matchMessages, type Presence } from './storing/match.ts'
export { type IncomingRow, incomingRow } from './storing/row.ts'
export {
  eraseMessages,
  isVisibleChange,
  type MessageUpdate,
  type MessageWriter,
  messageWriter,
  type Relocation,
} from './storing/writer.ts'
