import { sql } from 'kysely'
import { type Db, type Dialect, type Handle, padded, type Utf8 } from '../../../platform/db/index.ts'
import { labelStore } from '../../labels/index.ts'
import { contextText } from '../api.ts'
import { addMissingTexts } from '../rows/stored-json.ts'
import type { ListScope, StoredText } from './stored-list.ts'

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
      const source = dialect.toBytes(text)
      return [messageId, { folderId, source, start: 0, end: source.length }]
    }),
  )
}

/** Adds to each stored text what it lacks, and the commas between them. */
export async function completeTexts(
  db: Pick<Db, 'read'>,
  accountId: string,
  { provider, labelId, folder }: ListScope,
  items: readonly StoredText[],
): Promise<Buffer> {
  const others = new Set<string>()
  for (const { folderId } of items) if (folderId !== null && folderId !== labelId) others.add(folderId)
  const folders = await labelStore(db.read).byIds([...others])
  const folderName = (id: string | null) => (id === labelId ? folder : (folders.get(id ?? '')?.name ?? null))
  const ends = new Map<string | null, Buffer>()
  for (const folderId of [labelId, null, ...others]) {
    const context = contextText({ accountId, provider, folder: folderName(folderId) })
    ends.set(folderId, Buffer.from(`,${context.slice(1)},`))
  }
  return joined(items, ends)
}

/** One copy of each part, because a page has a hundred of them. */
function joined(items: readonly StoredText[], ends: ReadonlyMap<string | null, Buffer>): Buffer {
  let size = 0
  for (const { folderId, start, end } of items) size += end - start - 1 + (ends.get(folderId)?.length ?? 0)
  const target = Buffer.allocUnsafe(size)
  let at = 0
  for (const { folderId, source, start, end } of items) {
    at += source.copy(target, at, start, end - 1)
    at += ends.get(folderId)?.copy(target, at) ?? 0
  }
  return target.subarray(0, Math.max(0, size - 1))
}
