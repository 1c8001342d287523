import { groupBy } from '../../../platform/group-by.ts'
import type { FolderSession } from '../../../providers/contract/index.ts'
import type { labelStore } from '../../labels/index.ts'
import type { UndecidedMatches } from '../../messages/index.ts'

type Candidate = UndecidedMatches['rows'][number]

export type AskPresence = FolderSession['presentUids']

/** Asks the server which rows are still at their stored location, in one request per folder. */
export async function checkPresence(
  labels: Pick<ReturnType<typeof labelStore>, 'byIds'>,
  presentUids: AskPresence,
  rows: readonly Candidate[],
  presence: Map<string, 'present' | 'absent'>,
): Promise<void> {
  const folders = await labels.byIds([...new Set(rows.flatMap((row) => row.folderId ?? []))])
  for (const group of groupBy(rows, (row) => `${row.folderId} ${row.uidValidity}`).values()) {
    const path = folders.get(group[0]?.folderId ?? '')?.providerId
    const uids = group.flatMap((row) => row.uid ?? [])
    const found = path === undefined ? [] : await presentUids(path, group[0]?.uidValidity ?? '', uids)
    // A folder that is gone may have been renamed, and one with another UIDVALIDITY may still have its messages. If not, these become moves
    // when that is known.
    const present = found && new Set(found)
    const isPresent = ({ uid }: Candidate) => present?.has(uid ?? -1) ?? true
    for (const row of group) presence.set(row.id, isPresent(row) ? 'present' : 'absent')
  }
}
