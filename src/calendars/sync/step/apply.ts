import type { UnreadableItem } from '../../../accounts/collections/index.ts'
import type { Recorder } from '../../../events/index.ts'
import { TURN_MS, yieldIfHeld } from '../../../platform/concurrency/event-loop.ts'
import { insertManyRows, type Tx } from '../../../platform/db/index.ts'
import { cleanText } from '../../../platform/formats/text.ts'
import type { Ids } from '../../../platform/ids.ts'
import { eventView, type Span } from '../../api.ts'
import { changeEvent } from '../../events.ts'
import { buildPlacement } from '../../instance-rows.ts'
import { eventSpan } from '../../instances/times.ts'
import { isIndexable, type Placement, placeEvent } from '../../store.ts'
import { unreadableEvents } from '../../unreadable.ts'
import { removeEvent, removeOtherExceptions } from './remove.ts'
import { adoptIds, saveEvent } from './save.ts'
import {
  beginStep,
  type Change,
  type Changes,
  findExceptions,
  isException,
  type StepContext,
  type StepState,
} from './step-state.ts'

export interface StepDeps {
  events: Recorder
  ids: Ids
}

export interface EventCounts {
  added: number
  updated: number
  deleted: number
}

/** `unreadable`: those that were not known. */
export interface Applied extends EventCounts {
  unreadable: UnreadableItem[]
}

/**
 * Stores changes of one calendar: the rows, the instances of every series that they touch, and the events, in the caller's
 * transaction. Returns how many events changed. What is stored already is neither written nor announced, so changes may be
 * applied again after a crash. Throws `StaleRead` when sync read something before the API changed it.
 */
export async function applyChanges(
  { events, ids }: StepDeps,
  tx: Tx,
  context: StepContext,
  changes: Changes,
): Promise<Applied> {
  const { complete, removed } = changes
  const state = await beginStep(ids, tx, context, changes)
  const { listed, store } = state
  const mastersOfExceptions = listed.flatMap(({ recurringEventId }) => recurringEventId ?? [])
  for (const masterId of new Set('apiChange' in context.source ? mastersOfExceptions : complete)) {
    await adoptIds(state, masterId)
  }
  for (const event of listed.toSorted((a, b) => Number(isException(a)) - Number(isException(b)))) {
    if (event.status === 'cancelled' && !isException(event)) await removeEvent(state, event.eventId)
    else await saveEvent(state, event)
  }
  for (const masterId of complete) await removeOtherExceptions(state, masterId)
  for (const providerId of removed) await removeEvent(state, providerId)
  for (const providerId of state.stale) {
    await yieldIfHeld(TURN_MS)
    await placeInstances(state, providerId)
  }
  await store.confirm(state.confirmed)
  await insertManyRows(tx, 'calendarEvents', [...state.added.values()])
  await insertManyRows(tx, 'calendarInstances', state.addedInstances)
  if (context.isAnnounced) {
    const announced = state.changes.map((change) => buildEvent(context, change))
    await events.record(tx, announced)
  }
  const unreadable = await recordUnreadable(state, changes)
  const countChanges = (type: Change['type']) => state.changes.filter((change) => change.type === type).length
  return {
    added: countChanges('calendar.event.created'),
    updated: countChanges('calendar.event.updated'),
    deleted: countChanges('calendar.event.deleted'),
    unreadable,
  }
}

/** Stores when an event takes place, and the exceptions of a series. */
async function placeInstances(state: StepState, providerId: string): Promise<void> {
  const { calendar, window, later, store, rows, added, addedInstances } = state
  const row = rows.get(providerId) ?? (await store.find(providerId))
  const exceptions = await findExceptions(state, providerId)
  if (row !== undefined) {
    const { instances, ...columns } = buildPlacement(row, exceptions, calendar, window)
    if (!added.has(row.id)) await place(state, row.id, { ...columns, instances })
    else {
      added.set(row.id, { ...row, ...columns })
      if (later === undefined) addedInstances.push(...instances)
      else later.set(row.id, instances)
    }
  }
  for (const exception of exceptions) {
    await place(state, exception.id, buildPlacement(exception, [], calendar, window))
  }
}

async function place({ tx, later }: StepState, id: string, placement: Placement): Promise<void> {
  await placeEvent(tx, id, later === undefined ? placement : { ...placement, instances: [] })
  later?.set(id, placement.instances)
}

function buildEvent({ calendar, provider }: StepContext, { type, row, content }: Change) {
  const span: Span = eventSpan(content, calendar.timeZone)
  return changeEvent(type, provider, eventView({ ...row, content }, { provider, span }))
}

/** Returns the events that cannot be read and were not known as such. Their rows stay as they are. */
async function recordUnreadable(
  { tx, calendar, nowMs, store, listed }: StepState,
  { complete, removed, unreadable = [] }: Changes,
): Promise<UnreadableItem[]> {
  const read = [...listed.map(({ eventId }) => eventId), ...complete, ...removed]
  const notRead = unreadable
    .filter(({ eventId }) => isIndexable(eventId))
    .map(({ eventId, ...event }) => ({ ...event, itemId: cleanText(eventId) }))
  await store.keep(
    notRead.map(({ itemId }) => itemId),
    calendar.round,
  )
  return unreadableEvents.save(tx, calendar, { read, unreadable: notRead }, nowMs)
}
