import type { Db, Handle, Tx } from '../../platform/db/index.ts'
import type { FailedMessage, RemoteMessage, SuspectMessage } from '../../providers/contract/index.ts'
import { buildItemId, ENDED_CONNECTION, failingMessages, pickState } from './folders/failing-messages.ts'
import { cursorStore } from './store.ts'
import { DEFAULT_TIMING } from './timing.ts'
import { buildControl } from './unreadable/control.ts'
import { countFailures, toFailure, unreadableStore } from './unreadable/store.ts'

export interface SyncPosition {
  /** The provider's text. */
  cursor: string
  /** imap: null before the first message. */
  uidValidity: string | null
  /** Another number than before: sync has read messages meanwhile, and ignored changes of those that were not stored. */
  parts: number
}

/** Shares positions between backfill and sync. */
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

  control: buildControl,

  /** Lets sync read old messages again that could not be read. They are not announced. */
  async readAgain(
    tx: Tx,
    { accountId, labelId }: { accountId: string; labelId: string | null },
    failed: readonly FailedMessage[],
    nowMs: number,
  ): Promise<void> {
    const failures = failed.map((message) => toFailure(message, labelId))
    await countFailures(tx, accountId, 'message', failures, { nowMs, backoff: DEFAULT_TIMING.itemRetry })
  },

  /** imap: messages of a folder that could not be read. */
  failing: ({ read }: Pick<Db, 'read'>, accountId: string, labelId: string) =>
    failingMessages(read, accountId, labelId),

  /** imap: the connection may end with this message, which is read next. */
  async suspect(
    tx: Tx,
    { accountId, labelId }: Folder,
    { uidValidity, uid }: Pick<SuspectMessage, 'uid' | 'uidValidity'>,
    nowMs: number,
  ): Promise<void> {
    const itemId = buildItemId(labelId, uidValidity, uid)
    const failure = { itemId, labelId, reason: ENDED_CONNECTION }
    await countFailures(tx, accountId, 'message', [failure], { nowMs, backoff: DEFAULT_TIMING.itemRetry })
  },

  /** imap: lets sync read old messages again that could not be read. They are not announced. Those that could be are forgotten. */
  async readUidsAgain(
    tx: Tx,
    { accountId, labelId }: Folder,
    { failed, read }: { failed: readonly RemoteMessage[]; read: readonly RemoteMessage[] },
    nowMs: number,
  ): Promise<void> {
    const toItemId = ({ location }: RemoteMessage) =>
      buildItemId(labelId, location?.uidValidity ?? '', location?.uid ?? -1)
    const store = unreadableStore(tx, accountId)
    const stored = await store.byIds('message', failed.map(toItemId))
    const failures = failed
      .filter((message) => !stored.has(toItemId(message)))
      .map((message) => ({
        itemId: toItemId(message),
        labelId,
        reason: message.error ?? '',
        known: JSON.stringify(pickState(message)),
      }))
    await countFailures(tx, accountId, 'message', failures, { nowMs, backoff: DEFAULT_TIMING.itemRetry })
    await store.remove('message', read.map(toItemId))
  },
}

interface Folder {
  accountId: string
  labelId: string
}

export type SyncPositions = typeof syncPositions
