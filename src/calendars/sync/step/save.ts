import { cleanJson } from '../../../platform/formats/text.ts'
import type { RemoteEvent } from '../../../providers/contract/index.ts'
import { instanceId, originalStartText } from '../../api.ts'
import { toOriginalStart } from '../../instances/times.ts'
import { buildSearchText } from '../../search-text.ts'
import type { EventRow } from '../../store.ts'
import { removeEvent } from './remove.ts'
import { type Change, ensureNotStale, findExceptions, isException, type StepState } from './step-state.ts'

/** Stores an event that the provider returned. Masters come first, because the ids of exceptions begin with theirs. */
export function saveEvent(state: StepState, event: RemoteEvent): Promise<void> {
  const row = state.rows.get(event.eventId)
  const content = cleanJson(event)
  state.stale.add(event.recurringEventId ?? event.eventId)
  return row === undefined ? addEvent(state, event, content) : updateEvent(state, row, event, content)
}

async function addEvent(state: StepState, event: RemoteEvent, content: string): Promise<void> {
  const { calendar, store, rows, entered, withoutExceptions, added, changes } = state
  ensureNotStale(state, calendar.apiDeletion)
  const row = await newRow(state, event, content)
  if (event.recurringEventId === null) added.set(row.id, row)
  else {
    await store.insert(row)
    withoutExceptions.delete(event.recurringEventId)
  }
  rows.set(event.eventId, row)
  if (!entered.has(event) && !isUnknown(state, event)) changes.push({ type: typeOfNew(event), row, content: event })
}

async function updateEvent(state: StepState, row: EventRow, event: RemoteEvent, content: string): Promise<void> {
  const { calendar, nowMs, source, store, rows, added, adopted, confirmed, changes } = state
  const isSame = sameContent(row.content, event)
  if (!isSame) ensureNotStale(state, row.apiChange)
  const version = row.version + (isSame ? 0 : 1)
  const updated: EventRow = {
    ...row,
    status: event.status,
    isSeries: Number(event.recurrence.length > 0),
    content,
    searchText: buildSearchText(event),
    round: calendar.round,
    version,
    updatedAt: isSame ? row.updatedAt : nowMs,
    ...('apiChange' in source
      ? { apiChange: source.apiChange }
      : { confirmations: row.confirmations + Number(isSame) }),
  }
  const isWritten = !isSame || row.round !== calendar.round || adopted.has(event.eventId) || 'apiChange' in source
  if (added.has(row.id)) added.set(row.id, updated)
  else if (isWritten) await store.update(row.id, updated)
  else confirmed.push(row.id)
  rows.set(event.eventId, updated)
  if (!isSame) changes.push({ type: typeOfChange(event), row: updated, content: event })
  const before: RemoteEvent = JSON.parse(row.content)
  for (const id of before.siblings ?? []) if (!event.siblings?.includes(id)) await removeEvent(state, id)
}

/** At Graph an instance has another id once it is cancelled, or changed again: its row stays. */
export async function adoptIds(state: StepState, masterId: string): Promise<void> {
  const { calendar, rows, adopted } = state
  const own = state.exceptions.get(masterId) ?? []
  const current = new Set(own.map(({ eventId }) => eventId))
  const stored = (await findExceptions(state, masterId)).filter(({ providerId }) => !current.has(providerId))
  const byStart = new Map(stored.map((row) => [row.originalStart, row]))
  for (const { eventId, originalStart } of own) {
    if (originalStart === null || rows.has(eventId)) continue
    const row = byStart.get(originalStartText(toOriginalStart(originalStart, calendar.timeZone)))
    if (row === undefined) continue
    rows.set(eventId, { ...row, providerId: eventId })
    adopted.add(eventId)
  }
}

async function newRow(state: StepState, event: RemoteEvent, content: string): Promise<EventRow> {
  const { calendar, nowMs, source } = state
  const original =
    event.originalStart === null ? null : originalStartText(toOriginalStart(event.originalStart, calendar.timeZone))
  return {
    id: await newId(state, event, original),
    accountId: calendar.accountId,
    calendarId: calendar.id,
    providerId: event.eventId,
    masterProviderId: event.recurringEventId,
    originalStart: original,
    status: event.status,
    isSeries: Number(event.recurrence.length > 0),
    content,
    searchText: buildSearchText(event),
    startMs: 0,
    firstMs: null,
    lastMs: null,
    gapMs: -1,
    round: calendar.round,
    version: firstVersion(state, event),
    createdAt: nowMs,
    updatedAt: nowMs,
    apiChange: 'apiChange' in source ? source.apiChange : 0,
    confirmations: 0,
  }
}

/** An instance has the version of its series until it gets a row of its own. */
function firstVersion({ rows }: StepState, { recurringEventId }: RemoteEvent): number {
  return 1 + ((recurringEventId === null ? undefined : rows.get(recurringEventId))?.version ?? 0)
}

/** Programs write two exceptions for one instance, with its start in two zones: only the first has the id of the instance. */
async function newId(
  { ids, rows, store }: StepState,
  { recurringEventId }: RemoteEvent,
  original: string | null,
): Promise<string> {
  const master = recurringEventId === null ? undefined : rows.get(recurringEventId)
  if (master === undefined || original === null) return ids('cev')
  const id = instanceId(master.id, original)
  return (await store.find(id)) === undefined ? id : ids('cev')
}

/** A cancelled instance of a series that is not stored, such as a deleted one, of which Google reports the instances too. */
function isUnknown({ rows }: StepState, { status, recurringEventId }: RemoteEvent): boolean {
  return status === 'cancelled' && !rows.has(recurringEventId ?? '')
}

/** An exception changes one instance of a series that was announced. Without a master in the calendar, it is an event by itself. */
function typeOfNew(event: RemoteEvent): Change['type'] {
  if (event.status === 'cancelled') return 'calendar.event.deleted'
  return isException(event) ? 'calendar.event.updated' : 'calendar.event.created'
}

function typeOfChange(event: RemoteEvent): Change['type'] {
  return event.status === 'cancelled' ? 'calendar.event.deleted' : 'calendar.event.updated'
}

/** Providers count versions that show nothing new. Of a cancelled instance they say more or less. */
export function sameContent(stored: string, event: RemoteEvent): boolean {
  const shown = ({ etag: _etag, updatedAt: _updatedAt, ...rest }: RemoteEvent) => JSON.stringify(rest)
  const before: RemoteEvent = JSON.parse(stored)
  if (before.status === 'cancelled' && event.status === 'cancelled') return true
  return shown(before) === shown(JSON.parse(cleanJson(event)))
}
