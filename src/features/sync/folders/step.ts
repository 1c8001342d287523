import type { FolderStep } from '../../../providers/contract/index.ts'
import type { SyncDeps } from '../deps.ts'
import { cursorStore } from '../store.ts'
import { type FolderContext, folderChange } from './change.ts'

/** The changes of a step that one transaction stores. Only the last part has the cursor, so it is never ahead of the rows. */
export interface StepPart<Added, Changed, Removed> {
  refetched: boolean
  added: Added[]
  changed: Changed[]
  removed: Removed[]
  cursor: string | undefined
}

type FolderPart = StepPart<FolderStep['added'][number], FolderStep['changed'][number], number>

/** On SQLite, storing this many new messages blocks the event loop for about 10 ms. */
const PART_SIZE = 100

/** Splits a step. Removals come first, because a removed message may be added again in the same step. */
export function splitStep<Added, Changed, Removed>(
  step: StepPart<Added, Changed, Removed> & { cursor: string },
): StepPart<Added, Changed, Removed>[] {
  const parts: StepPart<Added, Changed, Removed>[] = []
  const empty = { added: [], changed: [], removed: [], refetched: step.refetched, cursor: undefined }
  for (const removed of chunks(step.removed)) parts.push({ ...empty, removed })
  for (const changed of chunks(step.changed)) parts.push({ ...empty, changed })
  for (const added of chunks(step.added)) parts.push({ ...empty, added })
  const small = step.removed.length + step.changed.length + step.added.length <= PART_SIZE
  if (small) return [{ ...step }]
  const last = parts.pop() ?? empty
  return [...parts, { ...last, cursor: step.cursor }]
}

function chunks<T>(list: readonly T[]): T[][] {
  const parts: T[][] = []
  for (let start = 0; start < list.length; start += PART_SIZE) parts.push(list.slice(start, start + PART_SIZE))
  return parts
}

/**
 * Stores one part of a step in one transaction: fence, rows, labels and counters, events, cursor. Throws `UndecidedMatches` and
 * `OwnershipLost`; the transaction is then rolled back.
 */
export async function storePart(deps: SyncDeps, context: FolderContext, part: FolderPart): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, context.accountId, context.epoch)
    const change = await folderChange(deps, tx, context, part.added)
    await change.remove(part.removed)
    await change.setFlags(part.changed)
    await change.add(part.added, part.refetched)
    await change.record()
    if (part.cursor !== undefined) {
      await cursorStore(tx).save(context.accountId, context.label.id, {
        cursor: part.cursor,
        ...(change.uidValidity !== null && { uidValidity: change.uidValidity }),
      })
    }
  })
}
