import type { Db } from '../../platform/db/index.ts'
import type { EventStep } from '../../providers/contract/index.ts'
import type { Changes } from './step.ts'

/** Bounds how long one transaction of the file store holds its writer. PostgreSQL takes some milliseconds for each transaction. */
const EVENTS_PER_TRANSACTION = { sqlite: 100, postgres: 500 } as const
/** A series may have thousands of instances. */
const SERIES_PER_TRANSACTION = 100

export const NOTHING: Changes = { found: [], entered: [], complete: [], removed: [] }

/** A step in parts for one transaction each. A complete series stays with its exceptions in one. */
export function partsOf({ found, entered, complete, removed, unreadable }: EventStep, engine: Db['engine']): Changes[] {
  const most = EVENTS_PER_TRANSACTION[engine]
  const isQuiet = new Set(entered)
  const groups = new Map<string, Changes['found'][number][]>()
  for (const event of [...found, ...entered]) {
    const key = event.recurringEventId ?? event.eventId
    groups.set(key, [...(groups.get(key) ?? []), event])
  }
  const parts: Changes[] = []
  let events: Changes['found'][number][] = []
  let masters: string[] = []
  let series = 0
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
    series = 0
  }
  for (const [masterId, group] of groups) {
    const isFull = events.length + group.length > most || series >= SERIES_PER_TRANSACTION
    if (events.length > 0 && isFull) end()
    for (const event of group) events.push(event)
    if (group.some(({ recurrence }) => recurrence.length > 0)) series += 1
    if (isComplete.has(masterId)) masters.push(masterId)
  }
  end()
  for (let start = 0; start < removed.length; start += most) {
    parts.push({ ...NOTHING, removed: removed.slice(start, start + most) })
  }
  // Last: what is found in a step has been read, unless the step says otherwise.
  const last = parts.pop() ?? NOTHING
  return [...parts, { ...last, unreadable }]
}
