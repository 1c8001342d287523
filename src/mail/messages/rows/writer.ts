import { compiledOnce, type Dialect, padded, type Tx, updateEach } from '../../../platform/db/index.ts'
import { deleteBodies } from '../bodies/store.ts'
import { type MessageRow, messageStore } from '../store.ts'
import { recordMerge, type ThreadMerge } from '../threads/merges.ts'
import { assignThreads, forgetReferences } from '../threads/references.ts'
import { deleteDraftKeys } from './draft-keys.ts'
import { labelCounters } from './label-counters.ts'
import { insertMessages } from './row.ts'
import { deleteTexts, type LabelledMessage, writeTexts } from './stored-json.ts'
import { markUnindexed } from './unindexed.ts'

/** The location and flags that the provider reported for a message that moved. */
export interface Relocation {
  row: MessageRow
  folderId: string
  uidValidity: string | null
  uid: number | null
  providerMessageId: string
  unread: number
  starred: number
}

interface FlagChange {
  row: MessageRow
  unread: number
  starred: number
}

/** The new version of a row. */
export interface MessageUpdate {
  row: MessageRow
  /** All labels of the message; absent: neither they nor the columns that `messageLabels` repeats have changed. */
  labelIds?: readonly string[]
  /** True when the content changed too: subject, text, attachments. */
  rewritten: boolean
}

interface WriterDeps {
  dialect: Dialect
  accountId: string
  nowMs: number
}

/**
 * Changes one account's messages, at most 500 rows per call. Every method updates `messageLabels`,
 * `messageCounters`, `messageTexts` and the queue of the search index too. The methods that change what the API shows increment `version`, except `update`, whose rows
 * are complete.
 */
export function messageWriter(tx: Tx, { dialect, accountId, nowMs }: WriterDeps) {
  const labels = labelCounters(tx, dialect, accountId)
  return {
    /**
     * Inserts new rows with the labels given, by default their folder. Without labels they are in no list or counter. Finds the
     * threads of rows that have none, which may join threads of stored messages.
     * Returns the rows as stored: see `insertMessages` for rows that the database refuses.
     */
    async insert(rows: readonly MessageRow[], toLabelIds: (row: MessageRow) => readonly string[] = ownFolder) {
      const { rows: threaded, merges } = await assignThreads(tx, dialect, accountId, rows)
      const stored = await insertMessages(tx, dialect, threaded)
      const labelled = stored.map((row) => ({ row, labelIds: toLabelIds(row) }))
      await labels.attach(labelled)
      await writeTexts(tx, labelled)
      await markUnindexed(tx, accountId, idsOf(stored))
      await joinThreads(merges)
      return stored
    },

    /** Stores the new content of one message at its location. Finds its thread when the row has none. Returns the row as stored. */
    async rewrite(row: MessageRow, labelIds: readonly string[]): Promise<MessageRow> {
      const { rows, merges } = await assignThreads(tx, dialect, accountId, [row])
      const stored = rows[0] ?? row
      await this.update([{ row: stored, labelIds, rewritten: true }])
      await joinThreads(merges)
      return stored
    },

    /** Moves up to `limit` messages of a thread to the one that it was merged into, and returns how many. */
    moveThread,

    /** Stores complete rows. Only a rewritten message may have another location, or another provider id; its stored body is deleted. */
    async update(updates: readonly MessageUpdate[]): Promise<void> {
      const relabelled = updates.flatMap(({ row, labelIds }) => (labelIds === undefined ? [] : [{ row, labelIds }]))
      const sameLabels = updates.filter(({ labelIds }) => labelIds === undefined).map(({ row }) => row)
      const rewritten = updates.filter((update) => update.rewritten).map(({ row }) => row)
      const kept = updates.filter((update) => !update.rewritten).map(({ row }) => row)
      await labels.detach(relabelled.map(({ row }) => row.id))
      await updateEach(tx, 'messages', STATE_COLUMNS, kept)
      await updateEach(tx, 'messages', CONTENT_COLUMNS, rewritten)
      await labels.attach(relabelled)
      await deleteBodies(tx, idsOf(rewritten))
      await markUnindexed(tx, accountId, idsOf(rewritten))
      await writeTexts(tx, [...relabelled, ...(await withLabels(sameLabels))])
    },

    /** Writes rows changed through the API, with all their labels. Without labels they are in no list or counter. */
    async storeChanged(changed: readonly LabelledMessage[]): Promise<void> {
      const rows = changed.map(({ row }) => row)
      await labels.detach(rows.map((row) => row.id))
      await updateEach(tx, 'messages', [...LOCATION_COLUMNS, ['apiChange', 'bigint'], ['fields', 'text']], rows)
      await labels.attach(changed)
      await writeTexts(tx, changed)
    },

    /** Moves messages to new locations and returns their new rows. `labelled` false: they are in no list or counter. */
    async relocate(relocations: readonly Relocation[], labelled = true): Promise<MessageRow[]> {
      const rows = relocations.map((relocation) => relocated(relocation, nowMs))
      await labels.detach(rows.map((row) => row.id))
      await updateEach(tx, 'messages', LOCATION_COLUMNS, rows)
      const messages = rows.map((row) => ({ row, labelIds: labelled ? ownFolder(row) : [] }))
      await labels.attach(messages)
      await writeTexts(tx, messages)
      return rows
    },

    /** Returns only the rows whose flags changed. */
    setFlags,

    /** As `setFlags`, for flags that sync has read: confirms the other rows. */
    async syncFlags(changes: readonly FlagChange[]): Promise<MessageRow[]> {
      const rows = await setFlags(changes)
      const changed = new Set(idsOf(rows))
      await confirm(changes.flatMap(({ row }) => (changed.has(row.id) ? [] : row.id)))
      return rows
    },

    /** For messages that sync has found as they are stored. */
    confirm,

    /** Marks messages that left their folder. Sync deletes them unless they appear in another folder. */
    async markMissing(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      await labels.detach(ids)
      await tx
        .updateTable('messages')
        .set({ uid: null, goneAt: nowMs })
        .where('id', 'in', [...ids])
        .execute()
    },

    async remove(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      await labels.detach(ids)
      await deleteBodies(tx, ids)
      await deleteTexts(tx, ids)
      await deleteDraftKeys(tx, ids)
      await markUnindexed(tx, accountId, ids)
      const deleted = await tx
        .deleteFrom('messages')
        .where('id', 'in', [...ids])
        .returning(['threadId', 'fields', 'uidValidity'])
        .execute()
      await forgetReferences(
        tx,
        accountId,
        deleted.filter((row) => row.uidValidity !== null),
      )
    },
  }

  /** No event follows, and versions stay: the old id of the thread continues to work. */
  async function moveThread({ threadId, intoThreadId }: ThreadMerge, limit: number): Promise<number> {
    const found = await tx.selectFrom('messages').select('id').where('threadId', '=', threadId).limit(limit).execute()
    const ids = found.map((row) => row.id)
    if (ids.length === 0) return 0
    await tx.updateTable('messages').set({ threadId: intoThreadId }).where('id', 'in', padded(ids)).execute()
    await labels.moveThread(ids, { threadId, intoThreadId })
    await writeTexts(tx, await withLabels(await messageStore(tx).byIds(ids)))
    return ids.length
  }

  async function joinThreads(merges: readonly ThreadMerge[]): Promise<void> {
    let left = MOVED_WITH_INSERT
    for (const merge of merges) {
      const moved = await moveThread(merge, left)
      left -= moved
      await recordMerge(tx, accountId, merge, left === 0)
    }
  }

  async function setFlags(changes: readonly FlagChange[]): Promise<MessageRow[]> {
    const changed = changes.filter(({ row, unread, starred }) => row.unread !== unread || row.starred !== starred)
    const rows = changed.map(({ row, unread, starred }) => ({
      ...row,
      unread,
      starred,
      version: row.version + 1,
      updatedAt: nowMs,
    }))
    await updateEach(tx, 'messages', FLAG_COLUMNS, rows)
    for (const unread of [0, 1]) {
      const toggled = changed.filter((change) => change.row.unread !== unread && change.unread === unread)
      await labels.setUnread(
        toggled.map(({ row }) => row.id),
        unread,
      )
    }
    await writeTexts(tx, await withLabels(rows))
    return rows
  }

  async function confirm(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await confirmRows(tx, padded(ids))
  }

  async function withLabels(rows: readonly MessageRow[]): Promise<LabelledMessage[]> {
    const labelIds = await messageStore(tx).labelIds(rows.map((row) => row.id))
    return rows.map((row) => ({ row, labelIds: labelIds.get(row.id) ?? [] }))
  }
}

const confirmRows = compiledOnce((handle, ids: readonly string[]) =>
  handle
    .updateTable('messages')
    .set((eb) => ({ confirmations: eb('confirmations', '+', 1) }))
    .where('id', 'in', ids),
)

export type MessageWriter = ReturnType<typeof messageWriter>

/** Bounds a transaction that joins large threads. `threadMerger` moves the rest. */
const MOVED_WITH_INSERT = 100

/** True when the move changes what the API shows of the message: sync then emits `message.updated`. */
export function isVisibleChange(row: MessageRow, to: Omit<Relocation, 'row'>): boolean {
  return row.folderId !== to.folderId || row.unread !== to.unread || row.starred !== to.starred
}

function idsOf(rows: readonly MessageRow[]): string[] {
  return rows.map((row) => row.id)
}

function ownFolder({ folderId }: MessageRow): string[] {
  return folderId === null ? [] : [folderId]
}

function relocated({ row, ...location }: Relocation, nowMs: number): MessageRow {
  const isVisible = isVisibleChange(row, location)
  return {
    ...row,
    ...location,
    goneAt: null,
    version: row.version + (isVisible ? 1 : 0),
    updatedAt: isVisible ? nowMs : row.updatedAt,
  }
}

const FLAG_COLUMNS = [
  ['id', 'text'],
  ['unread', 'bigint'],
  ['starred', 'bigint'],
  ['version', 'bigint'],
  ['updatedAt', 'bigint'],
] as const

const LOCATION_COLUMNS = [
  ...FLAG_COLUMNS,
  ['folderId', 'text'],
  ['uidValidity', 'text'],
  ['uid', 'bigint'],
  ['providerMessageId', 'text'],
  ['goneAt', 'bigint'],
] as const

const STATE_COLUMNS = [...FLAG_COLUMNS, ['folderId', 'text'], ['threadId', 'text'], ['goneAt', 'bigint']] as const

const CONTENT_COLUMNS = [
  ...STATE_COLUMNS,
  ['providerMessageId', 'text'],
  ['uidValidity', 'text'],
  ['uid', 'bigint'],
  ['emailIdHash', 'text'],
  ['apiChange', 'bigint'],
  ['identityHash', 'text'],
  ['headerHash', 'text'],
  ['traceHash', 'text'],
  ['subject', 'text'],
  ['receivedAt', 'bigint'],
  ['hasAttachments', 'bigint'],
  ['sizeBytes', 'bigint'],
  ['snippet', 'text'],
  ['text', 'text'],
  ['fields', 'text'],
  ['error', 'text'],
] as const
