import type { Handle } from '../../../platform/db/index.ts'
import { type FolderCounts, folderEvent, type LabelRow, labelStore } from '../../labels/index.ts'
import { deletionType, type MessageRow, messageEvent, messageStore, messageWriter } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { cursorStore } from '../store.ts'

/** The account of a run that `signal` ends. */
export type AccountRun = OwnedAccount & { signal: AbortSignal }

/** Small, because rows are wide and each one becomes an event. */
const BATCH = 200

/**
 * Deletes rows missing since before `beforeMs` in small transactions and emits `message.deleted`. Throws the signal's reason between
 * two batches, as the functions below do. `findExisting` asks the provider for the rows of each batch, and returns the ids of those
 * that stay.
 */
export async function deleteMissing(
  deps: SyncDeps,
  context: AccountRun,
  beforeMs: number,
  findExisting?: (rows: readonly MessageRow[]) => Promise<ReadonlySet<string>>,
): Promise<void> {
  const readMissing = (handle: Handle) => messageStore(handle).missing(context.accountId, beforeMs, BATCH)
  for (let more = true; more; ) {
    context.signal.throwIfAborted()
    const asked = findExisting && (await readMissing(deps.db.read))
    const existing = asked && (await findExisting(asked))
    const isAsked = new Set(asked?.map(({ id }) => id))
    const mayDelete = ({ id }: MessageRow) => existing === undefined || (isAsked.has(id) && !existing.has(id))
    more = await deps.db.transaction(async (tx) => {
      await deps.fence(tx, context.accountId, context.epoch)
      const rows = (await readMissing(tx)).filter(mayDelete)
      if (rows.length === 0) return false
      const writer = messageWriter(tx, {
        dialect: deps.db.dialect,
        accountId: context.accountId,
        nowMs: deps.clock.now(),
      })
      await writer.remove(rows.map((row) => row.id))
      const folders = await labelStore(tx).byIds([...new Set(rows.flatMap((row) => row.folderId ?? []))])
      await deps.events.record(
        tx,
        rows.map((row) => {
          const folder = folders.get(row.folderId ?? '')
          const deleted = { ...row, version: row.version + 1 }
          return messageEvent(deletionType(folder?.role ?? null), deleted, folder, context.provider)
        }),
      )
      return rows.length === BATCH
    })
  }
}

/**
 * Removes the messages whose ids `next` returns from a folder, in small transactions, until it returns none. Listed rows become missing,
 * since they may appear in another folder. Rows that only live reads stored are deleted without an event.
 */
export async function removeFromFolder(
  deps: SyncDeps,
  context: AccountRun,
  label: LabelRow,
  next: (store: ReturnType<typeof messageStore>) => Promise<string[]>,
): Promise<void> {
  for (let removed = -1; removed !== 0; ) {
    context.signal.throwIfAborted()
    let deleted = 0
    removed = await deps.db.transaction(async (tx) => {
      await deps.fence(tx, context.accountId, context.epoch)
      const store = messageStore(tx)
      const ids = await next(store)
      if (ids.length === 0) return 0
      const writer = messageWriter(tx, {
        dialect: deps.db.dialect,
        accountId: context.accountId,
        nowMs: deps.clock.now(),
      })
      const listed = await store.labelIds(ids)
      const missing = ids.filter((id) => listed.has(id))
      await writer.markMissing(missing)
      await writer.remove(ids.filter((id) => !listed.has(id)))
      deleted = missing.length
      if (missing.length > 0) {
        const counts: FolderCounts = { added: 0, updated: 0, deleted: missing.length }
        const version = await labelStore(tx).incrementVersion(label.id)
        await deps.events.record(tx, [folderEvent(label, version, context.provider, counts)])
      }
      return ids.length
    })
    if (deleted > 0) context.onStored({ added: 0, updated: 0, deleted })
  }
}

/** Removes the messages of a folder that the server deleted. Deletes its label and cursor once the folder is empty. */
export async function deleteFolder(deps: SyncDeps, context: AccountRun, label: LabelRow): Promise<void> {
  await removeFromFolder(deps, context, label, async (store) => [
    ...(await store.idsWithLocation(label.id, BATCH / 2)),
    ...(await store.idsWithoutLocation(label.id, BATCH / 2)),
  ])
  if (!(await messageStore(deps.db.read).isFolderEmpty(label.id))) return
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, context.accountId, context.epoch)
    await cursorStore(tx).remove(label.id)
    await labelStore(tx).remove(label.id)
  })
}
