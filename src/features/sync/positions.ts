import type { Handle, Tx } from '../../infra/db/index.ts'
import type { FailedMessage } from '../../providers/contract/index.ts'
import { DEFAULT_TIMING } from './deps.ts'
import { cursorStore } from './store.ts'
import { controlOf } from './unreadable/control.ts'
import { countFailures, failureOf } from './unreadable/store.ts'

export interface SyncPosition {
  /** The provider's text. */
  cursor: string
  /** imap: null before the first message. */
  uidValidity: string | null
  /** Another number than before: sync has read messages meanwhile, and ignored changes of those that were not stored. */
  parts: number
}

/** What backfill needs to know about sync, and the other way round. */
export const syncPositions = {
  /** The position of a folder, or of a mailbox that syncs as one. Undefined while sync reads it for the first time, or again. */
  async find(handle: Handle, accountId: string, scopeId: string): Promise<SyncPosition | undefined> {
    const row = await cursorStore(handle).find(accountId, scopeId)
    if (row === undefined || row.cursor === null || row.announceAfter !== null) return undefined
    return { cursor: row.cursor, uidValidity: row.uidValidity, parts: row.parts }
  },

  /** imap: makes the next sync of a folder compare the messages that backfill has stored, from this UID on, and sync them from then on. */
  async compareFrom(tx: Tx, accountId: string, labelId: string, lowUid: number): Promise<void> {
    await tx
      .updateTable('syncCursors')
      .set((eb) => ({
        compareFrom: eb.case().when('compareFrom', '<', lowUid).then(eb.ref('compareFrom')).else(lowUid).end(),
      }))
      .where('accountId', '=', accountId)
      .where('labelId', '=', labelId)
      .execute()
  },

  control: controlOf,

  /** Lets sync read old messages again that could not be read. They are not announced. */
  async readAgain(
    tx: Tx,
    { accountId, labelId }: { accountId: string; labelId: string | null },
    failed: readonly FailedMessage[],
    nowMs: number,
  ): Promise<void> {
    const failures = failed.map((one) => failureOf(one, labelId))
    await countFailures(tx, accountId, 'message', failures, { nowMs, backoff: DEFAULT_TIMING.itemRetry })
  },
}

export type SyncPositions = typeof syncPositions
