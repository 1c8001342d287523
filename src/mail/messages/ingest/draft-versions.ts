/** Recognises messages as new versions of stored drafts, so that a draft keeps its id: see `rows/draft-keys.ts`. */
import type { Tx } from '../../../platform/db/index.ts'
import type { RemoteMessage } from '../../../providers/contract/index.ts'
import { draftKey, findDraftsByKey } from '../rows/draft-keys.ts'
import type { IncomingRow } from '../rows/row.ts'
import { type MessageRow, messageStore } from '../store.ts'

/**
 * For unknown messages of a Drafts folder, in the order of their UIDs: by index, the stored draft of which a message is a new version,
 * or null for a version that is older than another one.
 */
export async function folderDrafts(
  tx: Tx,
  { accountId, labelId, uidValidity }: { accountId: string; labelId: string; uidValidity: string | null },
  unknown: readonly { message: RemoteMessage; row: IncomingRow }[],
): Promise<Map<number, MessageRow | null>> {
  const versions = new Map<number, MessageRow | null>()
  const keys = unknown.map(({ message }) => draftKey(message))
  const rows = await rowsByKey(
    tx,
    accountId,
    keys.filter((key) => key !== null),
  )
  const seen = new Set<string>()
  for (const [index, key] of [...keys.entries()].reverse()) {
    if (key === null) continue
    const row = rows.get(key)
    const stored = row?.folderId === labelId ? row : undefined
    // A program saves a new version before it deletes the old one, so both are there for a moment. The highest UID is the newest.
    const isOlder = stored?.uidValidity === uidValidity && (stored.uid ?? 0) > (unknown[index]?.row.uid ?? 0)
    if (seen.has(key) || isOlder) versions.set(index, null)
    else if (stored !== undefined) versions.set(index, stored)
    seen.add(key)
  }
  return versions
}

/** The same for messages with ids: the stored drafts by the id of their new version. */
export async function mailboxDrafts(
  tx: Tx,
  accountId: string,
  unknown: readonly RemoteMessage[],
): Promise<Map<string, MessageRow>> {
  const keys = new Map<string, string>()
  for (const message of unknown) {
    const key = message.draftId === undefined ? null : draftKey(message)
    if (key !== null && message.providerMessageId !== null) keys.set(message.providerMessageId, key)
  }
  if (keys.size === 0) return new Map()
  const rows = await rowsByKey(tx, accountId, [...keys.values()])
  return new Map(
    [...keys].flatMap(([id, key]) => {
      const row = rows.get(key)
      return row === undefined ? [] : [[id, row] as const]
    }),
  )
}

async function rowsByKey(tx: Tx, accountId: string, keys: readonly string[]): Promise<Map<string, MessageRow>> {
  const ids = await findDraftsByKey(tx, accountId, keys)
  const rows = new Map((await messageStore(tx).byIds([...new Set(ids.values())])).map((row) => [row.id, row]))
  return new Map(
    [...ids].flatMap(([key, id]) => {
      const row = rows.get(id)
      return row === undefined ? [] : [[key, row] as const]
    }),
  )
}
