/**
 * Every message in a Drafts folder is a draft; its draft id is its message id with another prefix. Each edit gives it another UID on
 * IMAP, and another message id at Gmail. What stays the same is the provider's id of the draft, or the Message-ID: by this key, sync
 * stores the new version in the row of the old one, whichever program wrote it.
 */

import { sha256 } from '../../../platform/crypto/sha256.ts'
import { type Handle, insertRows, type Tx } from '../../../platform/db/index.ts'
import type { RemoteMessage } from '../../../providers/contract/index.ts'
import type { MessageRow } from '../store.ts'
import { pickContent } from './row.ts'

/** The id of the draft with this message id. */
export function toDraftId(messageId: string): string {
  return messageId.replace(/^msg_/, 'drf_')
}

/** The message id of a draft. Undefined for an id that is not a draft's. */
export function toMessageId(draftId: string): string | undefined {
  return draftId.startsWith('drf_') ? draftId.replace(/^drf_/, 'msg_') : undefined
}

/** The ids that a draft keeps over its versions. */
type DraftIdentity = Pick<RemoteMessage, 'draftId' | 'messageId'>

/** Null for a draft that its next version cannot be matched with. */
export function draftKey({ draftId, messageId }: DraftIdentity): string | null {
  if (draftId !== undefined) return hash('draft', draftId)
  return messageId === null ? null : hash('message', messageId)
}

/** Identifies the content of a draft: each version has another hash. */
export function draftHash(row: MessageRow): string {
  return hash('content', JSON.stringify(pickContent(row)))
}

const KEYS_PER_QUERY = 200

/** The ids of the stored messages that these are versions of, by key. Of several, the one stored last. */
export async function findDraftsByKey(
  tx: Tx,
  accountId: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (let start = 0; start < keys.length; start += KEYS_PER_QUERY) {
    const rows = await tx
      .selectFrom('drafts')
      .select(['key', 'messageId'])
      .where('accountId', '=', accountId)
      .where('key', 'in', keys.slice(start, start + KEYS_PER_QUERY))
      .orderBy('messageId')
      .execute()
    for (const { key, messageId } of rows) found.set(key, messageId)
  }
  return found
}

/** Gmail's ids of these drafts, by message id. */
export async function providerDraftIds(handle: Handle, messageIds: readonly string[]): Promise<Map<string, string>> {
  if (messageIds.length === 0) return new Map()
  const rows = await handle
    .selectFrom('drafts')
    .select(['messageId', 'providerDraftId'])
    .where('messageId', 'in', [...messageIds])
    .execute()
  return new Map(rows.flatMap(({ messageId, providerDraftId: id }) => (id === null ? [] : [[messageId, id]])))
}

/** Stores by what the next versions of these messages will be recognised. */
export async function saveDraftKeys(
  tx: Tx,
  accountId: string,
  drafts: readonly { messageId: string; message: DraftIdentity }[],
): Promise<void> {
  const rows = drafts.flatMap(({ messageId, message }) => {
    const key = draftKey(message)
    return key === null ? [] : [{ messageId, accountId, key, providerDraftId: message.draftId ?? null }]
  })
  const update = `on conflict ("messageId") do update set "key" = excluded."key", "providerDraftId" = excluded."providerDraftId"`
  await insertRows(tx, 'drafts', rows, update)
}

export async function deleteDraftKeys(tx: Tx, messageIds: readonly string[]): Promise<void> {
  if (messageIds.length === 0) return
  await tx
    .deleteFrom('drafts')
    .where('messageId', 'in', [...messageIds])
    .execute()
}

/** Header values have no bounded length, and index entries must. */
function hash(...parts: string[]): string {
  return sha256(JSON.stringify(parts), 'hex').slice(0, 40)
}
