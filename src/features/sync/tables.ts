/** How far a folder was brought. `cursor` is the provider's own text; it is never ahead of the stored rows. */
interface SyncCursorTable {
  accountId: string
  labelId: string
  /** Null: the folder must be read from its beginning. */
  cursor: string | null
  /** The numbering that the uids of the next steps belong to; null before the first message. */
  uidValidity: string | null
  /**
   * Set while the provider cannot tell new mail from old (the server's numbering began anew, the folder just appeared): mail that
   * matches nothing stored is announced when it arrived after this time. Null: the provider's `isNew` decides.
   */
  announceAfter: number | null
  /** When a pass over this folder last ended well. */
  lastSyncAt: number | null
}

/** How the runs of an account go, for operators; its owner writes the row when attempts or errors change, or with other changes. */
interface SyncStateTable {
  accountId: string
  /** Failures in a row. */
  attempts: number
  lastRunAt: number | null
  nextRunAt: number | null
  lastError: string | null
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    syncCursors: SyncCursorTable
    syncStates: SyncStateTable
  }
}
