import { type Dialect, insertRows, type Tx } from '../../../platform/db/index.ts'
import { storedText } from '../api.ts'
import { type MessageRow, messageStore } from '../store.ts'

/** A message and its labels in `messageLabels`. */
export interface LabelledMessage {
  row: MessageRow
  labelIds: readonly string[]
}

/** Writes the JSON that lists return of these messages, in the transaction that changed them. */
export async function writeTexts(tx: Tx, messages: readonly LabelledMessage[]): Promise<void> {
  await insertRows(tx, 'messageTexts', messages.map(textRow), REPLACE)
}

/** Adds the texts of messages that have none: a version before this table stored them. Ignores ids of deleted messages. */
export async function addMissingTexts(tx: Tx, dialect: Dialect, ids: readonly string[]): Promise<void> {
  // Locked, so that a concurrent change waits and then replaces the text.
  const rows = await tx
    .selectFrom('messages')
    .selectAll()
    .where('id', 'in', [...ids])
    .orderBy('id')
    .modifyEnd(dialect.forUpdate)
    .execute()
  const labels = await messageStore(tx).labelIds(ids)
  await writeTexts(
    tx,
    rows.map((row) => ({ row, labelIds: labels.get(row.id) ?? [] })),
  )
}

export async function deleteTexts(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .deleteFrom('messageTexts')
    .where('messageId', 'in', [...ids])
    .execute()
}

const REPLACE = `on conflict ("messageId") do update set "folderId" = excluded."folderId", "text" = excluded."text"`

function textRow({ row, labelIds }: LabelledMessage) {
  return { messageId: row.id, folderId: row.folderId, text: storedText(row, labelIds) }
}
