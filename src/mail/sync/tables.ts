import type { Generated } from 'kysely'

/** How far a folder, or a mailbox that syncs as one, was synced. `cursor` is the provider's text, never ahead of the stored rows. */
interface SyncCursorTable {
  accountId: string
  labelId: string
  /** Null: the next sync reads the folder from its beginning. */
  cursor: string | null
  /** The UIDVALIDITY of the stored UIDs. Null before the first message. */
  uidValidity: string | null
  /**
   * Set while the provider cannot distinguish new messages from old: after a UIDVALIDITY change, or in a folder that just appeared.
   * Unmatched messages received after this time then count as new. Null: the provider's `isNew` decides.
   */
  announceAfter: number | null
  /** When the folder was last in sync. */
  lastSyncAt: number | null
  /** imap: backfill stored messages down to this UID. The next sync compares the folder from there. Null: it stored none. */
  compareFrom: Generated<number | null>
  /** Counts the stored parts of steps; a step of many changes has several before its cursor is stored. */
  parts: Generated<number>
}

/** State of an account's runs, for operators. Its owner writes the row when attempts or errors change, or with other changes. */
interface SyncStateTable {
  accountId: string
  /** Consecutive failures. */
  attempts: number
  lastRunAt: number | null
  nextRunAt: number | null
  lastError: string | null
  /** Times in a row that the mail server exceeded the limits, syncs that succeeded in between included. */
  limitViolations: number
  /** How often in a row the mail server has refused the credentials of `refusedVersion`, an `accessVersion`. */
  refusals: Generated<number>
  refusedVersion: Generated<number | null>
}

/**
 * A message or folder that the provider does not return, although it returns others. Primary key (accountId, kind, itemId). The row is
 * removed when the item is read, or no longer exists.
 */
interface UnreadableItemTable {
  accountId: string
  kind: 'message' | 'folder'
  /** The label's id of a folder; the provider's id of a message. */
  itemId: string
  /** The folder of a message; null in a mailbox that syncs as one. */
  labelId: string | null
  /** In a row. */
  failures: number
  /** The last failure, for operators. */
  reason: string
  /** JSON of what the provider says about a message all the same: see `FailedMessage`. */
  known: string
  /** The message is announced when it is read if it was received after this time. Null: it was announced, or is not new. */
  newSince: number | null
  /** 1: the message is stored, without what could not be read. */
  isStored: number
  /** The time of the first failure. */
  failedAt: number
  nextAttemptAt: number
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    syncCursors: SyncCursorTable
    syncStates: SyncStateTable
    unreadableItems: UnreadableItemTable
  }
}
