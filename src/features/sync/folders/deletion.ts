import type { Handle, Tx } from '../../../infra/db/index.ts'
import { type FolderCounts, folderEvent, type LabelRow, labelStore } from '../../labels/index.ts'
import {
  changeTypes,
  copyCandidates,
  copyKey,
  deletionType,
  identityHash,
  identityOf,
  type MessageEventType,
  type MessageRow,
  messageEvent,
  messageStore,
  messageWriter,
  type Relocation,
  wasDeliveredApart,
} from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { cursorStore } from '../store.ts'

/** The account of a run that `signal` ends. */
export type AccountRun = OwnedAccount & { signal: AbortSignal }

/** Small, because rows are wide and each one becomes an event. */
const BATCH = 200
/** A copy is a move if its original is deleted within this time. */
const MOVE_MS = 10 * 60_000

/**
 * Deletes rows missing since before `beforeMs` in small transactions and emits `message.deleted`. If a copy appeared in another
 * folder shortly before, the message was moved by copy and delete: its row takes the copy's location and keeps its id. Throws the
 * signal's reason between two batches, as the functions below do. `findExisting` asks the provider for the rows of each batch, and returns
 * the ids of those that stay.
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
      const moves = await movedByCopy(deps, context, tx, rows)
      await writer.remove(moves.map(({ copy }) => copy.id))
      const moved = await writer.relocate(moves.map(({ placement }) => placement))
      const kept = new Set(moved.map((row) => row.id))
      const deleted = rows.filter((row) => !kept.has(row.id))
      await writer.remove(deleted.map((row) => row.id))
      const folders = await labelStore(tx).byIds([...new Set([...moved, ...rows].flatMap((row) => row.folderId ?? []))])
      const folderOf = (row: MessageRow | undefined) => folders.get(row?.folderId ?? '')
      const before = new Map(rows.map((row) => [row.id, row]))
      const event = (type: MessageEventType, row: MessageRow) =>
        messageEvent(type, row, folderOf(row), context.provider)
      await deps.events.record(tx, [
        ...moved.flatMap((row) => {
          const roleBefore = folderOf(before.get(row.id))?.role ?? null
          return changeTypes(roleBefore, folderOf(row)?.role ?? null).map((type) => event(type, row))
        }),
        ...deleted.map((row) => event(deletionType(folderOf(row)?.role ?? null), { ...row, version: row.version + 1 })),
      ])
      return rows.length === BATCH
    })
  }
}

async function movedByCopy(
  deps: SyncDeps,
  context: OwnedAccount,
  tx: Tx,
  rows: readonly MessageRow[],
): Promise<{ copy: MessageRow; placement: Relocation }[]> {
  const since = deps.clock.now() - MOVE_MS
  const store = messageStore(tx)
  const folders = await labelStore(tx).byIds([...new Set(rows.flatMap((row) => row.folderId ?? []))])
  const isDraft = (row: MessageRow) => folders.get(row.folderId ?? '')?.role === 'drafts'
  const known = await store.candidates(context.accountId, rows)
  // The message that was sent of a draft is no copy of it.
  const sent = rows.filter((row) => !isDraft(row))
  const candidates = [...known, ...(await copyCandidates(tx, context.accountId, sent))].filter(
    (one) => one.uid !== null,
  )
  if (candidates.length === 0) return []
  const copyIds = [...new Set(candidates.map((one) => one.id))]
  const recent = (await store.byIds(copyIds)).filter((copy) => copy.createdAt > since)
  const listed = await store.labelIds(recent.map((copy) => copy.id))
  const copies = recent.filter(({ id }) => listed.has(id)).map((row) => comparable(row, false))
  const used = new Set<string>()
  return rows.flatMap((row) => {
    const original = comparable(row, isDraft(row))
    const copy = copies.find((one) => !used.has(one.row.id) && isCopyOf(one, original))?.row
    if (copy === undefined || copy.folderId === null) return []
    used.add(copy.id)
    const { folderId, uidValidity, uid, providerMessageId, unread, starred } = copy
    return [{ copy, placement: { row, folderId, uidValidity, uid, providerMessageId, unread, starred } }]
  })
}

/** A row and what copies of it have in common with it: read once, because each row is compared with many. */
interface ComparableRow {
  row: MessageRow
  identity: string | null
  /** Null for a draft: the message that was sent of it has the same. */
  copyKey: string | null
}

function comparable(row: MessageRow, isDraft: boolean): ComparableRow {
  const identity = identityOf(row)
  return {
    row,
    identity: identity === undefined ? null : identityHash(identity),
    copyKey: isDraft ? null : copyKey(row),
  }
}

function isCopyOf(copy: ComparableRow, original: ComparableRow): boolean {
  const { row } = original
  if (copy.row.folderId === row.folderId || copy.row.createdAt < row.createdAt || copy.row.id === row.id) return false
  if (row.emailIdHash !== null && row.emailIdHash === copy.row.emailIdHash) return true
  if (wasDeliveredApart(copy.row, row)) return false
  if (row.headerHash === copy.row.headerHash) return true
  if (original.identity !== null && original.identity === copy.identity) return true
  // A program that copies a message may add a header line, and may give it another INTERNALDATE.
  return original.copyKey !== null && original.copyKey === copy.copyKey
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
