import type { Dialect, Tx } from '../../../infra/db/index.ts'
import { updateEach } from '../../../infra/db/index.ts'
import { dropBodies } from '../bodies/store.ts'
import { type MessageRow, messageStore } from '../store.ts'
import { insertMessages } from './insert.ts'
import { type Labelled, labeller } from './label-counters.ts'

/** Where a mail is put, and what else the provider said of it there. */
export interface Relocation {
  row: MessageRow
  folderId: string
  uidValidity: string | null
  uid: number | null
  providerMessageId: string
  unread: number
  starred: number
}

export interface FlagChange {
  row: MessageRow
  unread: number
  starred: number
}

/** A row as it is to be. `labelIds` absent: its labels, and what they hold of it, are so already. `rewritten`: its text changed too. */
export interface MessageUpdate extends Partial<Pick<Labelled, 'labelIds'>> {
  row: MessageRow
  rewritten: boolean
}

export interface WriterDeps {
  dialect: Dialect
  accountId: string
  nowMs: number
}

/**
 * The changes of one account's messages, in batches; each keeps `messageLabels` and `messageCounters` in step, and bumps
 * `version` where the API shows a change. Callers give at most 500 rows at a time.
 */
export function messageWriter(tx: Tx, { dialect, accountId, nowMs }: WriterDeps) {
  const labels = labeller(tx, accountId)
  return {
    /**
     * Stores new rows under the labels given, by default their folder. Without labels they are no part of lists and counters.
     * A row that the database refuses is stored as far as it goes, with `error`; answered are the rows as they stand.
     */
    async insert(rows: readonly MessageRow[], labelsOf: (row: MessageRow) => readonly string[] = ownFolder) {
      const stored = await insertMessages(tx, dialect, rows)
      await labels.attach(stored.map((row) => ({ row, labelIds: labelsOf(row) })))
      return stored
    },

    /** Brings rows of mails that have ids of their own to what is given, their labels included where these are. Kept bodies of rewritten ones go. */
    async update(changes: readonly MessageUpdate[]): Promise<void> {
      const relabelled = changes.flatMap(({ row, labelIds }) => (labelIds === undefined ? [] : [{ row, labelIds }]))
      await labels.detach(relabelled.map(({ row }) => row.id))
      for (const rewritten of [false, true]) {
        const rows = changes.filter((change) => change.rewritten === rewritten).map(({ row }) => row)
        if (rewritten) await updateEach(tx, 'messages', CONTENT_COLUMNS, rows)
        else await updateEach(tx, 'messages', STATE_COLUMNS, rows)
      }
      await labels.attach(relabelled)
      await dropBodies(
        tx,
        changes.filter((change) => change.rewritten).map(({ row }) => row.id),
      )
    },

    /** Puts rows where the provider says they stand now; answers them as they are afterwards. */
    async relocate(placements: readonly Relocation[], labelled = true): Promise<MessageRow[]> {
      const rows = placements.map((placement) => placed(placement, nowMs))
      await labels.detach(placements.map(({ row }) => row.id))
      await updateEach(tx, 'messages', PLACE_COLUMNS, rows)
      if (labelled) await labels.attach(rows.map((row) => ({ row, labelIds: ownFolder(row) })))
      return rows
    },

    /** Sets flags; rows whose flags are so already are left out of the answer. */
    async setFlags(changes: readonly FlagChange[]): Promise<MessageRow[]> {
      const real = changes.filter(({ row, unread, starred }) => row.unread !== unread || row.starred !== starred)
      const rows = real.map(({ row, unread, starred }) => ({
        ...row,
        unread,
        starred,
        version: row.version + 1,
        updatedAt: nowMs,
      }))
      await updateEach(tx, 'messages', FLAG_COLUMNS, rows)
      const read = real.filter(({ row, unread }) => row.unread !== unread)
      for (const unread of [0, 1]) {
        await labels.setUnread(
          read.filter((change) => change.unread === unread).map(({ row }) => row.id),
          unread,
        )
      }
      return rows
    },

    /** They are no longer in their folder, but may turn up in another. */
    async markMissing(rows: readonly MessageRow[]): Promise<void> {
      const ids = rows.map((row) => row.id)
      if (ids.length === 0) return
      await labels.detach(ids)
      await tx.updateTable('messages').set({ uid: null, goneAt: nowMs }).where('id', 'in', ids).execute()
    },

    /** Takes the place of at most `limit` rows of a folder whose numbering began anew; they stay in lists. Answers how many. */
    async clearLocations(folderId: string, limit: number): Promise<number> {
      const ids = await messageStore(tx).idsWithLocation(folderId, limit)
      if (ids.length > 0) await tx.updateTable('messages').set({ uid: null }).where('id', 'in', ids).execute()
      return ids.length
    },

    async remove(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      await labels.detach(ids)
      await dropBodies(tx, ids)
      await tx
        .deleteFrom('messages')
        .where('id', 'in', [...ids])
        .execute()
    },
  }
}

/** Erases up to `limit` messages of a deleted account; answers how many rows went. */
export async function eraseMessages(tx: Tx, accountId: string, limit: number): Promise<number> {
  const rows = await tx.selectFrom('messages').select('id').where('accountId', '=', accountId).limit(limit).execute()
  const ids = rows.map((row) => row.id)
  if (ids.length > 0) {
    await tx.deleteFrom('messageLabels').where('messageId', 'in', ids).execute()
    await dropBodies(tx, ids)
    await tx.deleteFrom('messages').where('id', 'in', ids).execute()
    return ids.length
  }
  const counters = await tx.deleteFrom('messageCounters').where('accountId', '=', accountId).executeTakeFirst()
  return Number(counters.numDeletedRows)
}

export type MessageWriter = ReturnType<typeof messageWriter>

const PLACE_COLUMNS = [
  ['id', 'text'],
  ['folderId', 'text'],
  ['uidValidity', 'text'],
  ['uid', 'bigint'],
  ['providerMessageId', 'text'],
  ['unread', 'bigint'],
  ['starred', 'bigint'],
  ['goneAt', 'bigint'],
  ['version', 'bigint'],
  ['updatedAt', 'bigint'],
] as const

const FLAG_COLUMNS = [
  ['id', 'text'],
  ['unread', 'bigint'],
  ['starred', 'bigint'],
  ['version', 'bigint'],
  ['updatedAt', 'bigint'],
] as const

const STATE_COLUMNS = [
  ['id', 'text'],
  ['folderId', 'text'],
  ['threadId', 'text'],
  ['unread', 'bigint'],
  ['starred', 'bigint'],
  ['goneAt', 'bigint'],
  ['version', 'bigint'],
  ['updatedAt', 'bigint'],
] as const

const CONTENT_COLUMNS = [
  ...STATE_COLUMNS,
  ['identityHash', 'text'],
  ['headerHash', 'text'],
  ['subject', 'text'],
  ['receivedAt', 'bigint'],
  ['hasAttachments', 'bigint'],
  ['sizeBytes', 'bigint'],
  ['snippet', 'text'],
  ['text', 'text'],
  ['fields', 'text'],
  ['error', 'text'],
] as const

function ownFolder({ folderId }: MessageRow): string[] {
  return folderId === null ? [] : [folderId]
}

/** A new uid in the same folder is nothing the API shows (but for `providerMessageId`, which may change). */
function placed({ row, ...place }: Relocation, nowMs: number): MessageRow {
  const moved = isVisibleChange(row, place)
  return {
    ...row,
    ...place,
    goneAt: null,
    version: row.version + (moved ? 1 : 0),
    updatedAt: moved ? nowMs : row.updatedAt,
  }
}

/** Does a new place change what the API shows of the message? Then `message.updated` tells it. */
export function isVisibleChange(row: MessageRow, place: Omit<Relocation, 'row'>): boolean {
  return row.folderId !== place.folderId || row.unread !== place.unread || row.starred !== place.starred
}
