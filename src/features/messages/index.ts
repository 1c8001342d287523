/**
 * Messages of connected mailboxes: rows with what lists show, contents read live or kept where wanted. Sync writes them through
 * `messageWriter`; everything else only reads.
 */
import './tables.ts'

export type { Message } from './api.ts'
export { type BodyKeeper, bodyKeeper } from './bodies/fetcher.ts'
export { draftEvents, type MessageEventData, messageEvents } from './events.ts'
export { type IncomingRow, incomingRow } from './storing/row.ts'
export { allMail } from './storing/label-counters.ts'
export { newRow, placeOf } from './reading/live-list.ts'
export { type Candidate, matchMails, type Verdicts } from './storing/match.ts'
export { type MessageContext, messageView } from './message.ts'
export { type MessageReader, messageReader } from './reading/reader.ts'
export { messageRoutes } from './routes.ts'
export { type MessageRow, messageStore } from './store.ts'
export {
  changesView,
  eraseMessages,
  type MessageWriter,
  messageWriter,
  type Placement,
  type Restatement,
} from './storing/writer.ts'
