import { groupBy } from '../../../platform/group-by.ts'
import type { EventStep } from '../../../providers/contract/index.ts'
import type { Changes } from './step-state.ts'

/** Bounds how long one transaction of the file store holds its writer. */
const EVENTS_PER_TRANSACTION = 100

export const NOTHING: Changes = { found: [], entered: [], complete: [], removed: [] }

/** A step in parts for one transaction each. A complete series stays with its exceptions in one. */
export function splitIntoParts({ found, entered, complete, removed, unreadable }: EventStep): Changes[] {
  const isQuiet = new Set(entered)
  const groups = groupBy([...found, ...entered], (event) => event.recurringEventId ?? event.eventId)
  const parts: Changes[] = []
  let events: Changes['found'][number][] = []
  let masters: string[] = []
  const isComplete = new Set(complete)
  const end = () => {
    if (events.length > 0)
      parts.push({
        found: events.filter((event) => !isQuiet.has(event)),
        entered: events.filter((event) => isQuiet.has(event)),
        complete: masters,
        removed: [],
      })
    events = []
    masters = []
  }
  for (const [masterId, group] of groups) {
    if (events.length > 0 && events.length + group.length > EVENTS_PER_TRANSACTION) end()
    for (const event of group) events.push(event)
    if (isComplete.has(masterId)) masters.push(masterId)
  }
  end()
  for (let start = 0; start < removed.length; start += EVENTS_PER_TRANSACTION) {
    parts.push({ ...NOTHING, removed: removed.slice(start, start + EVENTS_PER_TRANSACTION) })
  }
  // Last: what is found in a step has been read, unless the step says otherwise.
  const last = parts.pop() ?? NOTHING
  return [...parts, { ...last, unreadable }]
}
