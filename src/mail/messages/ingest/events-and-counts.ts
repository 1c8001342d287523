import type { NewEvent, Recorder } from '../../../events/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { type FolderCounts, folderEvent, type LabelRow, labelStore } from '../../labels/index.ts'

/** The changes of a transaction so far: the events of its messages, and the counts of `mailbox.changed` by label id. */
export interface Changes {
  events: NewEvent[]
  counts: Map<string, FolderCounts>
}

export function noChanges(): Changes {
  return { events: [], counts: new Map() }
}

/** Counts one message, or `messages`, in each of the labels. */
export function countIn({ counts }: Changes, labelIds: Iterable<string>, kind: keyof FolderCounts, messages = 1): void {
  if (messages === 0) return
  for (const id of labelIds) {
    const sums = counts.get(id) ?? { added: 0, updated: 0, deleted: 0 }
    sums[kind] += messages
    counts.set(id, sums)
  }
}

/** Counts a message whose labels have changed. */
export function countRelabelled(
  changes: Changes,
  before: readonly string[],
  after: readonly string[],
  isUpdated = true,
): void {
  const added = after.filter((id) => !before.includes(id))
  const deleted = before.filter((id) => !after.includes(id))
  countIn(changes, added, 'added')
  countIn(changes, deleted, 'deleted')
  if (!isUpdated) return
  const kept = after.filter((id) => before.includes(id))
  countIn(changes, kept, 'updated')
}

/** Records the events, then one `mailbox.changed` for each of these labels that has counts. */
export async function recordChanges(
  tx: Tx,
  recorder: Recorder,
  provider: ProviderName,
  { events, counts }: Changes,
  labels: Iterable<LabelRow>,
): Promise<void> {
  const all = [...events]
  for (const label of labels) {
    const changed = counts.get(label.id)
    if (changed === undefined) continue
    all.push(folderEvent(label, await labelStore(tx).incrementVersion(label.id), provider, changed))
  }
  await recorder.record(tx, all)
}
