/**
 * Messages of connected mailboxes: the rows that sync stores and the API that reads them. ingest/ stores what
 * providers return, rows/ reads and writes rows, edit/ changes messages, read/ serves lists and live contents, threads/ finds threads,
 * bodies/ fetches bodies for `sync.storeBodies`, sanitizing/ makes HTML safe.
 */
import type {} from './tables.ts'

export type { ArrivalEvent, EventBodies } from './announce.ts'
export { attachmentSchema, attachmentView, type Message } from './api.ts'
export { type BodyFetcher, bodyFetcher } from './bodies/fetcher.ts'
export { bodyStore, putBody } from './bodies/store.ts'
export { messageChanger } from './edit/changer.ts'
export { messageChangeRoutes } from './edit/routes.ts'
export { arrivalType } from './event-types.ts'
export { messagesFeature } from './feature.ts'
export { UndecidedMatches } from './ingest/folder-matches.ts'
export { ingest } from './ingest/ingest.ts'
export { reservedIds } from './ingest/reserved.ts'
export { liveContents } from './read/live-access.ts'
export { type MessageReader, messageReader } from './read/reader.ts'
export type { MessageSearch } from './read/search-contract.ts'
export { messageRoutes } from './routes.ts'
export { storeApiDeletions } from './rows/api-changes.ts'
export { storeDraft } from './rows/api-drafts.ts'
export {
  draftHash,
  providerDraftIds,
  toDraftId,
  toMessageId,
} from './rows/draft-keys.ts'
export { mailHorizons } from './rows/horizons.ts'
export { locatedMessages } from './rows/located-messages.ts'
export { leaveUnrepaired, repairMessage, storeRepaired } from './rows/repair.ts'
export {
  incomingRow,
  isFound,
  parseFields,
  toIdentity,
} from './rows/row.ts'
export { addUnindexed, unindexedMessages } from './rows/unindexed.ts'
export { type MessageRow, messageStore } from './store.ts'
export { threadMerger } from './threads/merger.ts'
export { threadReader } from './threads/reader.ts'
export { threadRoutes } from './threads/routes.ts'
export { findInThread, findSentByUser } from './threads/store.ts'
