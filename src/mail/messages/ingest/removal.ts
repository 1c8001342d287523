import type { Tx } from '../../../platform/db/index.ts'
import { folderEvent, type LabelRow, labelStore } from '../../labels/index.ts'
import { messageEvent } from '../announce.ts'
import { deletionType } from '../event-types.ts'
import { locatedMessages } from '../rows/located-messages.ts'
import { messageWriter } from '../rows/writer.ts'
import { type MessageRow, messageStore } from '../store.ts'
import type { IngestDeps, Read } from './batch.ts'

type Deps = Pick<IngestDeps, 'db' | 'clock' | 'events'>
type Account = Pick<Read, 'accountId' | 'provider'>

/** Deletes messages that appeared in no other folder, with `message.deleted` or `draft.deleted`. */
export async function deleteMessages(
  tx: Tx,
  deps: Deps,
  { accountId, provider }: Account,
  rows: readonly MessageRow[],
): Promise<void> {
  if (rows.length === 0) return
  const writer = messageWriter(tx, { dialect: deps.db.dialect, accountId, nowMs: deps.clock.now() })
  await writer.remove(rows.map((row) => row.id))
  const folders = await labelStore(tx).byIds([...new Set(rows.flatMap((row) => row.folderId ?? []))])
  await deps.events.record(
    tx,
    rows.map((row) => {
      const folder = folders.get(row.folderId ?? '')
      const deleted = { ...row, version: row.version + 1 }
      return messageEvent(deletionType(folder?.role ?? null), deleted, folder, provider)
    }),
  )
}

/**
 * Removes messages from a folder. Listed rows become missing, since they may appear in another folder; returns how many. Rows that only
 * live reads stored are deleted without an event.
 */
export async function removeFromFolder(
  tx: Tx,
  deps: Deps,
  { accountId, provider }: Account,
  label: LabelRow,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0
  const writer = messageWriter(tx, { dialect: deps.db.dialect, accountId, nowMs: deps.clock.now() })
  const listed = await messageStore(tx).labelIds(ids)
  const missing = ids.filter((id) => listed.has(id))
  await writer.markMissing(missing)
  await writer.remove(ids.filter((id) => !listed.has(id)))
  if (missing.length === 0) return 0
  const version = await labelStore(tx).incrementVersion(label.id)
  const counts = { added: 0, updated: 0, deleted: missing.length }
  await deps.events.record(tx, [folderEvent(label, version, provider, counts)])
  return missing.length
}

/** After a new UIDVALIDITY: clears the UIDs of up to `limit` messages of the folder and returns how many. They stay in lists. */
export async function clearLocations(tx: Tx, folderId: string, limit: number): Promise<number> {
  const ids = await locatedMessages(tx).idsWithLocation(folderId, limit)
  if (ids.length > 0) await tx.updateTable('messages').set({ uid: null }).where('id', 'in', ids).execute()
  return ids.length
}
