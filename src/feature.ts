import type { EventDeclarations } from './events/index.ts'
import type { Tables, Tx } from './platform/db/index.ts'
import type { SealedColumn } from './platform/secrets/index.ts'

/**
 * The service's view of a feature that stores rows or records events. The feature declares it in its `feature.ts`, and
 * `src/app/feature-list.ts` lists it. How features run, and which routes they have, is in `src/app/wiring`.
 */
export interface Feature {
  readonly name: string
  /** Every table that this feature writes. Each table of the database belongs to one feature. */
  readonly tables?: { readonly [Table in keyof Tables]?: TableRows }
  /** The event types that it declares. */
  readonly events?: EventDeclarations
  /** Run once an hour, in this order, each until nothing is left to delete. */
  readonly purge?: readonly PurgeRule[]
  /** Run in this order when an account was deleted, each until nothing is left to delete. */
  readonly erase?: readonly Erase[]
  /** Every column in which it stores sealed secrets. A rotation of keys seals them again. */
  readonly sealedColumns?: readonly SealedColumn[]
  /** Changes the rows of a restored backup, in the transaction that changes those of all features. */
  readonly afterRestore?: AfterRestore
  /** Run once after each start, when the service is healthy: what the first account would otherwise wait for. At most 20 ms each. */
  readonly warmUp?: readonly (() => unknown)[]
}

/** Says what deletes the rows of a table, and whether backups contain them. */
export interface TableRows {
  /**
   * `purge`: the feature deletes them when they are old. `erase`: it deletes those of a deleted account. A text says what else deletes
   * them, or why they stay; required where the feature does neither.
   */
  readonly deletedBy: readonly [Deletion, ...Deletion[]] | string
  /** Why rows of a deleted account stay until they are purged. Only for tables that name an account and are not erased. */
  readonly outlivesAccount?: string
  /** False: the rows describe running processes or sign-ins, or are derived from other tables. Default true. */
  readonly isInBackup?: false
}

export type Deletion = 'purge' | 'erase'

export interface PurgeRule {
  /** The log's name for the rows. */
  readonly rows: string
  readonly purge: Purge
  /** Milliseconds, or the setting that has the number of days. */
  readonly keptFor: number | RetentionSetting
}

/** Deletes up to `limit` rows older than `beforeMs` and returns how many; 0 when none is left. */
type Purge = (tx: Tx, beforeMs: number, limit: number) => Promise<number>

export type RetentionSetting =
  | 'retentionEventsDays'
  | 'retentionDeliveriesDays'
  | 'retentionSessionsDays'
  | 'retentionTrackingDays'
  | 'retentionAuditDays'

/**
 * Deletes up to `limit` rows of a deleted account and returns how many; 0 when none is left. May run again after the end. Must keep the
 * `account.deleted` event and its deliveries.
 */
export type Erase = (tx: Tx, accountId: string, limit: number) => Promise<number>

/**
 * Brings the feature's rows into the state after a crash at the time of the backup: nothing waits for an instance that is gone, and
 * nothing is sent again that may have been sent after the backup.
 */
export type AfterRestore = (tx: Tx, restored: Restored) => Promise<void>

export interface Restored {
  nowMs: number
  /** The service has not run since the backup, as when an installation moves. */
  isMoved: boolean
}
