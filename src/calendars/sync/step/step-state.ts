import { StaleRead } from '../../../accounts/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import { groupBy } from '../../../platform/group-by.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { ProviderName, RemoteEvent, TimeRange, UnreadableEvent } from '../../../providers/contract/index.ts'
import type { calendarEvents } from '../../events.ts'
import {
  type CalendarRow,
  type EventRow,
  type EventStore,
  eventStore,
  type InstanceRow,
  isIndexable,
} from '../../store.ts'
import type { InstanceBuffer } from './instance-buffer.ts'
import { withStoredTimes } from './placeholders.ts'

export interface StepContext {
  calendar: CalendarRow
  provider: ProviderName
  window: TimeRange
  nowMs: number
  /** False in the first sync: events that were there before are not announced. */
  isAnnounced: boolean
  /** Sync: the number of the last change through the API when the provider was asked. The API: the number of this change. */
  source: { readAfter: number } | { apiChange: number }
  /** Gets the instances, instead of the store. */
  later?: InstanceBuffer | undefined
}

export interface Changes {
  found: readonly RemoteEvent[]
  entered: readonly RemoteEvent[]
  complete: readonly string[]
  removed: readonly string[]
  unreadable?: readonly UnreadableEvent[] | undefined
}

/** An event that the step changed, as it is announced. */
export interface Change {
  type: keyof typeof calendarEvents
  row: EventRow
  content: RemoteEvent
}

/** The state of one call of `applyChanges`: the rows that it has read, and those that it writes at its end. */
export interface StepState extends StepContext {
  tx: Tx
  ids: Ids
  store: EventStore
  /** The events that the provider returned, and placeholders for series that it did not return. */
  listed: readonly RemoteEvent[]
  /** The exceptions among them, by the provider id of their master. */
  exceptions: ReadonlyMap<string | null, readonly RemoteEvent[]>
  /** Events that entered the window. */
  entered: ReadonlySet<RemoteEvent>
  /** By provider id: the rows that the changes name, as this step leaves them. */
  rows: Map<string, EventRow>
  /** Masters without stored exceptions, which need no statement each. */
  withoutExceptions: Set<string>
  /** New masters and single events by id. Stored together at the end, because a first sync stores thousands. */
  added: Map<string, EventRow>
  addedInstances: InstanceRow[]
  /** The ids of rows that are stored as they were read. */
  confirmed: string[]
  /** Provider ids that rows got from their original start. */
  adopted: Set<string>
  /** Provider ids of series whose instances are no longer right. */
  stale: Set<string>
  changes: Change[]
}

/** Reads the rows that the changes name. */
export async function beginStep(
  ids: Ids,
  tx: Tx,
  context: StepContext,
  { found, entered, removed, unreadable = [] }: Changes,
): Promise<StepState> {
  const store = eventStore(tx, context.calendar.id)
  const returned = [...found, ...entered].filter(
    ({ eventId, recurringEventId }) => isIndexable(eventId) && isIndexable(recurringEventId ?? ''),
  )
  const placeholders = unreadable.flatMap(({ placeholder }) => placeholder ?? [])
  const rows = await store.byProviderIds([
    ...new Set([
      ...[...returned, ...placeholders].flatMap((event) => [event.eventId, event.recurringEventId ?? []].flat()),
      ...removed,
    ]),
  ])
  const listed = [
    ...returned,
    ...placeholders.flatMap(
      (placeholder) =>
        withStoredTimes(placeholder, rows.get(placeholder.eventId)?.content, context.calendar.timeZone) ?? [],
    ),
  ]
  const named = listed.map(({ eventId, recurringEventId }) => recurringEventId ?? eventId)
  const masters = [...new Set([...named, ...removed])]
  const withExceptions = await store.mastersWithExceptions(masters)
  return {
    tx,
    ids,
    store,
    listed,
    exceptions: groupBy(listed, ({ recurringEventId }) => recurringEventId),
    entered: new Set(entered),
    rows,
    withoutExceptions: new Set(masters.filter((id) => !withExceptions.has(id))),
    added: new Map(),
    addedInstances: [],
    confirmed: [],
    adopted: new Set(),
    stale: new Set(),
    changes: [],
    ...context,
  }
}

/** The stored exceptions of a series. */
export async function findExceptions({ store, withoutExceptions }: StepState, masterId: string): Promise<EventRow[]> {
  return withoutExceptions.has(masterId) ? [] : store.findExceptions(masterId)
}

/** Throws `StaleRead` when sync read the provider before this change through the API. */
export function ensureNotStale({ source }: StepState, apiChange: number): void {
  if ('readAfter' in source && apiChange > source.readAfter) throw new StaleRead()
}

export function isException({ recurringEventId }: RemoteEvent): boolean {
  return recurringEventId !== null
}
