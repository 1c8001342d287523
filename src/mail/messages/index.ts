/**
 * Messages of connected mailboxes: the rows that sync stores and the API that reads them. storing/ writes rows and
 * recognises moved messages, reading/ serves lists and live contents, bodies/ fetches bodies for `sync.storeBodies`, outgoing/ is
 * what all requests that send or save messages share.
 */
import './tables.ts'

export {
  type ArrivalEvent,
  arrivalType,
  type EventBodies,
} from './announce.ts'
export { attachmentSchema, attachmentView, type Message } from './api.ts'
export { type BodyFetcher, bodyFetcher } from './bodies/fetcher.ts'
export { bodyStore, putBody } from './bodies/store.ts'
export { messageChanger } from './edit/changer.ts'
export { messageChangeRoutes } from './edit/routes.ts'
export type { MessageEventData } from './events.ts'
export { messagesFeature } from './feature.ts'
export { moveToCopies } from './ingest/copied.ts'
export { ingestFolder, UndecidedMatches } from './ingest/folder.ts'
export { ingestMailbox } from './ingest/mailbox.ts'
export { ingestOlderFolder, ingestOlderMailbox, type OlderDeps } from './ingest/older.ts'
export { clearLocations, deleteMessages, removeFromFolder } from './ingest/removal.ts'
export {
  releaseReserved,
  reserveMessage,
} from './ingest/reserved.ts'
export { type LiveAccessDeps, liveContents } from './read/live-access.ts'
export { type MessageReader, messageReader } from './read/reader.ts'
export type { MessageHit, MessageQuery, MessageSearch, ProviderWords, SearchWords } from './read/search.ts'
export { messageRoutes } from './routes.ts'
export { storeApiDeletions } from './rows/api-changes.ts'
export { type DraftContext, storeDraft } from './rows/api-drafts.ts'
export {
  draftHash,
  draftIdOf,
  messageIdOf,
  providerDraftIds,
} from './rows/drafts.ts'
export { mailHorizons } from './rows/horizons.ts'
export { leaveUnrepaired, repairMessage, storeRepaired } from './rows/repaired.ts'
export {
  identityOf,
  incomingRow,
  isFound,
  type MessageFields,
  parseFields,
} from './rows/row.ts'
export { addUnindexed, hasMessages, olderMessages, unindexedMessages } from './rows/unindexed.ts'
export { type MessageRow, type MessageStore, messageStore } from './store.ts'
export { threadMerger } from './threads/merger.ts'
export { threadReader } from './threads/reader.ts'
export { threadRoutes } from './threads/routes.ts'
export { findInThread, findSentByUser } from './threads/store.ts'
