/**
 * Messages of connected mailboxes: the rows that sync stores and the API that reads them. storing/ writes rows and
 * recognises moved messages, reading/ serves lists and live contents, bodies/ fetches bodies for `sync.storeBodies`, outgoing/ is
 * what all requests that send or save messages share.
 */
import './tables.ts'

export {
  type ArrivalEvent,
  arrivalEvent,
  arrivalType,
  changeTypes,
  deletionType,
  type EventBodies,
  labelledEvent,
  type MessageEventType,
  messageEvent,
} from './announce.ts'
export { attachmentSchema, attachmentView, type Message, type MessageContext } from './api.ts'
export { type BodyFetcher, bodyFetcher } from './bodies/fetcher.ts'
export { bodyStore, putBody } from './bodies/store.ts'
export { type MessageChanger, messageChanger } from './edit/changer.ts'
export { messageChangeRoutes } from './edit/routes.ts'
export type { MessageEventData } from './events.ts'
export { messagesFeature } from './feature.ts'
export {
  MAX_RECIPIENTS,
  recipientList,
  SEND_STATUSES,
  type SendResult,
  type SendStatus,
  sendOptions,
  sendResult,
  sendResultFields,
  sendStatus,
  type TrackingResult,
} from './outgoing/api.ts'
export {
  attachmentList,
  attachmentRoute,
  openReferences,
  type ParsedAttachment,
  parseAttachments,
  readAttachments,
  type UnreadAttachment,
} from './outgoing/attachments.ts'
export { parseRecipient, parseRecipients, parseSendAt } from './outgoing/input.ts'
export { type LiveAccessDeps, liveContents, type MessageRef } from './read/live-access.ts'
export { type MessageReader, messageReader } from './read/reader.ts'
export type { MessageHit, MessageQuery, MessageSearch, ProviderWords, SearchWords } from './read/search.ts'
export { messageRoutes } from './routes.ts'
export { storeApiDeletions } from './rows/api-changes.ts'
export { type DraftContext, storeDraft } from './rows/api-drafts.ts'
export { type BackfilledDeps, storeBackfilled, storeBackfilledFound } from './ingest/older.ts'
export { copyCandidates, copyKey } from './ingest/copies.ts'
export {
  draftHash,
  draftIdOf,
  draftKey,
  findDrafts,
  messageIdOf,
  providerDraftIds,
  saveDrafts,
} from './rows/drafts.ts'
export { mailHorizons } from './rows/horizons.ts'
export { type Location, locationOf } from './rows/location.ts'
export {
  type Candidate,
  isSameDelivery,
  matchMessages,
  type Presence,
  sharesKey,
  wasDeliveredApart,
} from './ingest/match.ts'
export { leaveUnrepaired, repairMessage, storeRepaired } from './rows/repaired.ts'
export {
  type ArrivingMessage,
  type Reservation,
  type ReservationKey,
  releaseReserved,
  reserveMessage,
  takeReserved,
} from './ingest/reserved.ts'
export {
  contentOf,
  hasNewContent,
  type IncomingRow,
  identityHash,
  identityOf,
  incomingRow,
  isFound,
  locationAndFlags,
  type MessageFields,
  newMessageRow,
  parseFields,
} from './rows/row.ts'
export { addUnindexed, hasMessages, olderMessages, unindexedMessages } from './rows/unindexed.ts'
export {
  isVisibleChange,
  type MessageUpdate,
  type MessageWriter,
  messageWriter,
  type Relocation,
} from './rows/writer.ts'
export { allMail, type MessageRow, messageStore } from './store.ts'
export { threadMerger } from './threads/merger.ts'
export { type ThreadReader, threadReader } from './threads/reader.ts'
export { threadRoutes } from './threads/routes.ts'
export { findInThread, findSentByUser } from './threads/store.ts'
