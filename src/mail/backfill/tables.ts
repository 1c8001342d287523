import type { BackfillStatus } from './api.ts'

/** The historical backfill of an account. Without a row it is idle. */
interface BackfillTable {
  accountId: string
  status: Exclude<BackfillStatus, 'idle'>
  /** Incremented with every change. A batch is stored only if it has not changed since the batch was begun. */
  version: number
  /** Messages received earlier are not read. Fixed when it starts. */
  sinceMs: number
  processed: number
  /** Null until every folder is counted, and when one cannot be counted. */
  total: number | null
  /** When the oldest processed message was received. */
  oldestReached: number | null
  /** JSON of `RateSample[]`, for the rate. */
  samples: string
  /** Consecutive failures. */
  attempts: number
  /** imap: consecutive reads that a message may have ended, which is then found by reading fewer at once. */
  losses: number
  /** A batch begins at this time at the earliest. */
  nextBatchAt: number
  /** With status `paused`: whether it continues with the account, or when a user resumes it. */
  pausedBy: 'user' | 'account' | null
  lastError: string | null
  /** The time of the last progress event. */
  announcedAt: number
  announcedProcessed: number
  startedAt: number
  updatedAt: number
}

/** A folder of a backfill, or a mailbox that syncs as one. */
interface BackfillFolderTable {
  accountId: string
  /** As in `mailHorizons`: the label's id, or the account's. */
  scopeId: string
  /** Messages in the range. Null: not counted yet, or not countable. */
  total: number | null
  isCounted: number
  /** The provider's position of the next read, or a time. Null: the beginning. */
  checkpoint: string | null
  isDone: number
  /** imap: the lowest UID that was stored since sync was last asked to compare the folder. */
  lowUid: number | null
  /** Why the folder could not be read. */
  error: string | null
  createdAt: number
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    backfills: BackfillTable
    backfillFolders: BackfillFolderTable
  }
}
