/** How far a folder was brought. `cursor` is the provider's own text; it is never ahead of the stored rows. */
interface SyncCursorTable {
  accountId: string
  labelId: string
  cursor: string
  /** When a pass over this folder last ended well. */
  lastSyncAt: number | null
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    syncCursors: SyncCursorTable
  }
}
