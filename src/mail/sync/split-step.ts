/** The changes of a step that one transaction stores. Only the last part has the cursor, so it is never ahead of the rows. */
export interface StepPart<Added, Changed, Removed> {
  refetched: boolean
  added: Added[]
  changed: Changed[]
  removed: Removed[]
  cursor: string | undefined
}

/** Small, because other transactions wait for it. */
const PART_SIZE = 200

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
