import { sql } from 'kysely'
import { type Db, type Dialect, type Handle, padded, type Utf8 } from '../../../infra/db/index.ts'
import { addMissingTexts } from '../storing/texts.ts'
import type { StoredText } from './stored-list.ts'

/** The texts of these messages, in this order. Leaves out messages that were deleted meanwhile. */
export async function readTexts(
  db: Pick<Db, 'read' | 'dialect' | 'transaction'>,
  messageIds: readonly string[],
): Promise<StoredText[]> {
  const texts = await storedTexts(db.read, db.dialect, messageIds)
  const missing = messageIds.filter((id) => !texts.has(id))
  if (missing.length > 0) {
    await db.transaction((tx) => addMissingTexts(tx, db.dialect, missing))
    for (const [id, text] of await storedTexts(db.read, db.dialect, missing)) texts.set(id, text)
  }
  return messageIds.flatMap((id) => texts.get(id) ?? [])
}

async function storedTexts(
  handle: Handle,
  dialect: Dialect,
  messageIds: readonly string[],
): Promise<Map<string, StoredText>> {
  if (messageIds.length === 0) return new Map()
  const { rows } = await sql<{ messageId: string; folderId: string | null; text: Utf8 }>`select "messageId", "folderId",
    ${dialect.utf8(sql`"text"`)} as "text" from "messageTexts" where "messageId" in (${sql.join(padded(messageIds))})`.execute(
    handle,
  )
  return new Map(
    rows.map(({ messageId, folderId, text }) => {
      const source = dialect.bytesOf(text)
      return [messageId, { folderId, source, start: 0, end: source.length }]
    }),
  )
}
