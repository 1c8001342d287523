/**
 * Messages of connected mailboxes: the rows that sync stores and the API that reads them. storing/ writes rows and
 * recognises moved messages, reading/ serves lists and live contents, bodies/ fetches bodies for `sync.storeBodies`.
 */
import './tables.ts'

export { type Message, type MessageContext, messageView } from './api.ts'
export { type BodyFetcher, bodyFetcher } from './bodies/fetcher.ts'
export { draftEvents, type MessageEventData, messageEvents } from './events.ts'
export { type MessageReader, messageReader } from './reading/reader.ts'
export { messageRoutes } from './routes.ts'
export { allMail, type MessageRow, messageStore } from './store.ts'
export { type Candidate, matchMessages, type Presence } from './storing/match.ts'
export { type IncomingRow, incomingRow, locationAndFlags, newMessageRow } from './storing/row.ts'
export {
  eraseMessages,
  isVisibleChange,
  type MessageUpdate,
  type MessageWriter,
  messageWriter,
  type Relocation,
} from './storing/writer.ts'
