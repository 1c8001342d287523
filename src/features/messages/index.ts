/**
 * Messages of connected mailboxes: rows with what lists show, contents read live or kept where wanted. Sync writes them through
 * `messageWriter`; everything else only reads.
 */
import './schema.ts'

export type { Message } from './api.ts'
export { type BodyKeeper, bodyKeeper } from './body-keeper.ts'
export { draftEvents, type MessageEventData, messageEvents } from './events.ts'
export { type IncomingRow, incomingRow } from './incoming.ts'
export { allMail } from './labeller.ts'
export { newRow, placeOf } from './live-list.ts'
export { type Candidate, matchMails, type Verdicts } from './match.ts'
export { type MessageContext, messageView } from './message.ts'
export { type MessageReader, messageReader } from './reader.ts'
export { messageRoutes } from './routes.ts'
export { type MessageRow, messageStore } from './store.ts'
export {
  changesView,
  eraseMessages,
  type MessageWriter,
  messageWriter,
  type Placement,
  type Restatement,
} from './writer.ts'
