/** A new draft on its way to the provider. Written before the request, so that a retry after a crash continues with the same draft. */
interface DraftCreationTable {
  /** The id that the message of the draft gets. */
  messageId: string
  accountId: string
  /** Hash of the Idempotency-Key and what it belongs to; null without one. Unique. */
  requestKey: string | null
  createdAt: number
}

/** The request that changes a draft at present. After `heldUntil` another request may take over: the first one has crashed. */
interface DraftLockTable {
  messageId: string
  accountId: string
  holder: string
  heldUntil: number
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    draftCreations: DraftCreationTable
    draftLocks: DraftLockTable
  }
}

export {}
