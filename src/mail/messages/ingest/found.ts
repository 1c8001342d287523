import type { Dialect, Tx } from '../../../platform/db/index.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { FoundMessage, ProviderName } from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import { chooseLocation } from '../rows/label-location.ts'
import { incomingRow, isFound, newMessageRow, withFoundLabels } from '../rows/row.ts'
import { messageWriter } from '../rows/writer.ts'
import { type MessageRow, messageStore } from '../store.ts'

/**
 * Stores messages with provider ids that a search found, without events, counters or lists, and returns their rows. Known ones get their
 * current state, unless sync covers them. Without a folder, messages in trash and junk are left out.
 */
export async function storeFound(
  tx: Tx,
  { dialect, clock, ids }: { dialect: Dialect; clock: Clock; ids: Ids },
  { accountId, provider, folder }: { accountId: string; provider: ProviderName; folder: LabelRow | undefined },
  found: readonly FoundMessage[],
): Promise<MessageRow[]> {
  const nowMs = clock.now()
  const store = messageStore(tx)
  const writer = messageWriter(tx, { dialect, accountId, nowMs })
  const labels = new Map((await labelStore(tx).all(accountId)).map((label) => [label.providerId, label]))
  const located = found.flatMap(({ message, folders }) => {
    const carried = [...new Set(folders)].flatMap((path) => labels.get(path) ?? [])
    const location = chooseLocation(carried, provider === 'gmail')
    if (folder === undefined && !location.isListed) return []
    const incoming = incomingRow(message, { accountId, labelId: '', nowMs })
    const labelIds = carried.map(({ id }) => id)
    return { ...incoming, fields: withFoundLabels(incoming.fields, labelIds), folderId: location.folder?.id ?? null }
  })
  const providerIds = located.map(({ providerMessageId }) => providerMessageId)
  const stored = new Map((await store.byProviderIds(accountId, providerIds)).map((row) => [row.providerMessageId, row]))
  const updates = located.flatMap((now) => {
    const row = stored.get(now.providerMessageId)
    if (row === undefined || !isFound(row) || isSame(row, now)) return []
    return { row: { ...row, ...now, version: row.version + 1, updatedAt: nowMs }, labelIds: [], rewritten: true }
  })
  await writer.update(updates)
  for (const { row } of updates) stored.set(row.providerMessageId, row)
  const added = located
    .filter(({ providerMessageId }) => !stored.has(providerMessageId))
    .map(({ folderId, ...incoming }) =>
      newMessageRow(incoming, { accountId, labelId: folderId, id: ids('msg'), nowMs }),
    )
  for (const row of await writer.insert(added, () => [])) stored.set(row.providerMessageId, row)
  return located.flatMap(({ providerMessageId }) => stored.get(providerMessageId) ?? [])
}

const STATE = ['unread', 'starred', 'folderId', 'fields', 'subject', 'text'] as const

function isSame(row: MessageRow, now: Pick<MessageRow, (typeof STATE)[number]>): boolean {
  return STATE.every((column) => row[column] === now[column])
}
