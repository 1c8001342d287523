import type { Handle, Tx } from '../../../platform/db/index.ts'
import type { FailedMessage, RemoteMessage } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { locatedMessages } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { boundedSince, chooseNewSince } from '../new-since.ts'
import { type CursorRow, cursorStore } from '../store.ts'
import { itemRetryPlan } from '../timing.ts'
import { countFailures, type UnreadableRow, unreadableStore } from '../unreadable/store.ts'
import { readPartialMessage } from '../unreadable/without-content.ts'

/** The id of a message in `unreadableItems`, which is also its `providerMessageId` where the server has no ids. */
export function buildItemId(labelId: string, uidValidity: string, uid: number): string {
  return `${labelId}.${uidValidity}.${uid}`
}

/** Why a suspect failed, if it did. */
export const ENDED_CONNECTION = 'the connection ended while the message was read'

export function itemLocation({ itemId }: Pick<UnreadableRow, 'itemId'>): { uidValidity: string; uid: number } {
  const [uid = '', uidValidity = ''] = itemId.split('.').reverse()
  return { uidValidity, uid: Number(uid) }
}

interface FailingMessage {
  uidValidity: string
  uid: number
  unread: boolean
  starred: boolean
  isStored: boolean
}

/** Messages of a folder that could not be read. */
export async function failingMessages(handle: Handle, accountId: string, labelId: string): Promise<FailingMessage[]> {
  const rows = await unreadableStore(handle, accountId).inFolder(labelId)
  return rows.map((row) => {
    const { unread = true, starred = false } = readPartialMessage(row)
    return { ...itemLocation(row), unread, starred, isStored: row.isStored === 1 }
  })
}

interface Folder extends Pick<OwnedAccount, 'accountId' | 'syncedAt'> {
  label: LabelRow
}

/**
 * Separates the messages of a part that the provider returned from those that it did not, and records the latter, in the transaction that
 * moves the cursor past them. `passed`: ids of those that failed before, which are not counted again.
 */
export async function recordUnreadable(
  tx: Tx,
  deps: SyncDeps,
  context: Folder & Pick<OwnedAccount, 'provider'> & { passed: ReadonlySet<string> },
  { added, refetched, position }: { added: RemoteMessage[]; refetched: boolean; position: CursorRow | undefined },
): Promise<RemoteMessage[]> {
  if (added.every(({ unreadable }) => unreadable === undefined)) return added
  const { accountId, label, provider } = context
  const uidOf = ({ location }: RemoteMessage) => location?.uid ?? -1
  const uids = added.flatMap((message) => (message.unreadable === undefined ? [] : uidOf(message)))
  const uidValidity = added[0]?.location?.uidValidity ?? ''
  // A request may have stored the message when the server still returned it.
  const rows = await locatedMessages(tx).byLocation(label.id, uidValidity, uids)
  const stored = new Set(rows.map(({ uid }) => uid))
  const isStored = (message: RemoteMessage) => stored.has(uidOf(message))
  const toItemId = (message: RemoteMessage) => buildItemId(label.id, uidValidity, uidOf(message))
  const failed = added.filter(
    (message) => message.unreadable !== undefined && !isStored(message) && !context.passed.has(toItemId(message)),
  )
  const failures = failed.map((message) => ({
    itemId: toItemId(message),
    reason: message.error ?? '',
    labelId: label.id,
    known: JSON.stringify(pickState(message)),
    newSince: boundedSince(chooseNewSince(message, refetched, position, context.syncedAt())),
  }))
  await countFailures(tx, accountId, 'message', failures, itemRetryPlan(deps))
  if (failures.length > 0) {
    tx.afterCommit(() =>
      deps.log.warn('Some messages cannot be read. They are read again later; the others are synced.', {
        accountId,
        provider,
        operation: 'sync.message',
        metadata: { labelId: label.id, messages: failures.length, reason: failures[0]?.reason },
      }),
    )
  }
  return added.filter(
    (message) => message.unreadable === undefined || (isStored(message) && message.unreadable.knowsFlags),
  )
}

/** Returns the known state of a message that the server did not return. */
export function pickState({ unread, starred, receivedAt, unreadable }: RemoteMessage): Partial<FailedMessage> {
  const flags = unreadable?.knowsFlags ? { unread, starred } : {}
  return unreadable?.knowsTime ? { ...flags, receivedAt } : flags
}

/** Stores that the connection may end with a message, before it is fetched. */
export async function recordSuspect(
  deps: SyncDeps,
  { accountId, epoch, label, syncedAt }: Folder & Pick<OwnedAccount, 'epoch'>,
  message: { uid: number; uidValidity: string; isNew: boolean },
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, epoch)
    const position = await cursorStore(tx).find(accountId, label.id)
    const failure = {
      itemId: buildItemId(label.id, message.uidValidity, message.uid),
      reason: ENDED_CONNECTION,
      labelId: label.id,
      newSince: boundedSince(chooseNewSince(message, false, position, syncedAt())),
    }
    await countFailures(tx, accountId, 'message', [failure], itemRetryPlan(deps))
  })
}

/**
 * Forgets those of `suspects` that were read although they are not stored yet: a pass that is repeated would leave them out until their next
 * attempt. Returns whether there were any.
 */
export async function forgetSuspects(
  deps: SyncDeps,
  { suspects, ...folder }: Folder & Pick<OwnedAccount, 'epoch'> & { suspects: ReadonlySet<number> },
  added: readonly RemoteMessage[],
): Promise<boolean> {
  const read = added.flatMap(({ location }) => (location !== undefined && suspects.has(location.uid) ? location : []))
  const [first] = read
  if (first === undefined) return false
  const uids = read.map(({ uid }) => uid)
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, folder.accountId, folder.epoch)
    await forgetMessages(tx, folder, first.uidValidity, uids)
  })
  return true
}

/** The messages were read, or no longer exist. */
export async function forgetMessages(
  tx: Tx,
  { accountId, label }: Pick<Folder, 'accountId' | 'label'>,
  uidValidity: string | null,
  uids: readonly number[],
): Promise<void> {
  if (uidValidity === null || uids.length === 0) return
  const ids = uids.map((uid) => buildItemId(label.id, uidValidity, uid))
  await unreadableStore(tx, accountId).remove('message', ids)
}
