import { StaleRead } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import { TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import { insertManyRows, insertRows, type Tx } from '../../platform/db/index.ts'
import { cleanJson, cleanText } from '../../platform/formats/text.ts'
import { groupBy } from '../../platform/group-by.ts'
import type { Ids } from '../../platform/ids.ts'
import type { ProviderName, RemoteEvent, TimeRange, UnreadableEvent } from '../../providers/contract/index.ts'
import { eventView, instanceId, originalStartText, type Span } from '../api.ts'
import { type calendarEvents, changeEvent } from '../events.ts'
import { buildPlacement } from '../instance-rows.ts'
import { eventSpan, toOriginalStart } from '../instances/times.ts'
import { buildSearchText } from '../search-text.ts'
import { type CalendarRow, type EventRow, eventStore, type InstanceRow, type Placement, placeEvent } from '../store.ts'
import { saveUnreadable } from '../unreadable.ts'
import type { InstanceBuffer } from './instance-buffer.ts'
import { withStoredTimes } from './placeholders.ts'

export interface StepDeps {
  events: Recorder
  ids: Ids
}

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

export interface EventCounts {
  added: number
  updated: number
  deleted: number
}

/** `unreadable`: those that were not known. */
export interface Applied extends EventCounts {
  unreadable: UnreadableEvent[]
}

type Change = { type: keyof typeof calendarEvents; row: EventRow; content: RemoteEvent }

/**
 * Stores changes of one calendar: the rows, the instances of every series that they touch, and the events, in the caller's
 * transaction. Returns how many events changed. What is stored already is neither written nor announced, so changes may be applied again after a crash. Throws `StaleRead` when sync
 * read something before the API changed it.
 */
export async function applyChanges(
  { events, ids }: StepDeps,
  tx: Tx,
  { calendar, provider, window, nowMs, isAnnounced, source, later }: StepContext,
  { found, entered, complete, removed, unreadable = [] }: Changes,
): Promise<Applied> {
  const store = eventStore(tx, calendar.id)
  const returned = [...found, ...entered].filter(
    ({ eventId, recurringEventId }) => isIndexable(eventId) && isIndexable(recurringEventId ?? ''),
  )
  const placeholders = unreadable.flatMap(({ placeholder }) => placeholder ?? [])
  const quiet = new Set(entered)
  const earlier = await store.byProviderIds([
    ...new Set([
      ...[...returned, ...placeholders].flatMap((event) => [event.eventId, event.recurringEventId ?? []].flat()),
      ...removed,
    ]),
  ])
  const listed = [
    ...returned,
    ...placeholders.flatMap(
      (placeholder) => withStoredTimes(placeholder, earlier.get(placeholder.eventId)?.content, calendar.timeZone) ?? [],
    ),
  ]
  const named = listed.map(({ eventId, recurringEventId }) => recurringEventId ?? eventId)
  const masters = [...new Set([...named, ...removed])]
  /** Masters without exceptions need no statement each. */
  const mayHaveExceptions = await store.mastersWithExceptions(masters)
  const hasNone = new Set(masters.filter((id) => !mayHaveExceptions.has(id)))
  /** New masters and single events by id. Stored together at the end, because a first sync stores thousands. */
  const added = new Map<string, EventRow>()
  const changes: Change[] = []
  /** Provider ids of series whose instances are no longer right. */
  const stale = new Set<string>()
  const addedInstances: InstanceRow[] = []
  /** The ids of rows that are stored as they were read. */
  const confirmed: string[] = []
  /** Ids that rows got from their original start. */
  const adopted = new Set<string>()

  const exceptions = groupBy(listed, ({ recurringEventId }) => recurringEventId)
  const ofExceptions = listed.flatMap(({ recurringEventId }) => recurringEventId ?? [])
  for (const masterId of new Set('apiChange' in source ? ofExceptions : complete)) await adoptIds(masterId)
  // Masters first, because the ids of exceptions begin with theirs.
  for (const event of listed.toSorted((a, b) => Number(isException(a)) - Number(isException(b)))) {
    if (event.status === 'cancelled' && !isException(event)) await remove(event.eventId)
    else await save(event)
  }
  for (const masterId of complete) {
    const current = new Set((exceptions.get(masterId) ?? []).map(({ eventId }) => eventId))
    for (const row of await findExceptions(masterId)) if (!current.has(row.providerId)) await remove(row.providerId)
  }
  for (const providerId of removed) await remove(providerId)
  for (const providerId of stale) {
    await yieldIfHeld(TURN_MS)
    await expand(providerId)
  }
  await store.confirm(confirmed)
  await insertRows(tx, 'calendarEvents', [...added.values()])
  await insertManyRows(tx, 'calendarInstances', addedInstances)
  if (isAnnounced) await events.record(tx, changes.map(buildEvent))
  const read = [...listed.map(({ eventId }) => eventId), ...complete, ...removed]
  const notRead = unreadable
    .filter(({ eventId }) => isIndexable(eventId))
    .map(({ eventId, reason, isRefused = false }) => ({
      eventId: cleanText(eventId),
      reason: cleanText(reason),
      isRefused,
    }))
  await store.keep(
    notRead.map(({ eventId }) => eventId),
    calendar.round,
  )
  const countChanges = (type: Change['type']) => changes.filter((change) => change.type === type).length
  return {
    added: countChanges('calendar.event.created'),
    updated: countChanges('calendar.event.updated'),
    deleted: countChanges('calendar.event.deleted'),
    unreadable: await saveUnreadable(tx, calendar, { read, unreadable: notRead }, nowMs),
  }

  async function findExceptions(masterId: string): Promise<EventRow[]> {
    return hasNone.has(masterId) ? [] : store.findExceptions(masterId)
  }

  /** At Graph an instance has another id once it is cancelled, or changed again: its row stays. */
  async function adoptIds(masterId: string): Promise<void> {
    const own = exceptions.get(masterId) ?? []
    const current = new Set(own.map(({ eventId }) => eventId))
    const stored = (await findExceptions(masterId)).filter(({ providerId }) => !current.has(providerId))
    const byStart = new Map(stored.map((row) => [row.originalStart, row]))
    for (const { eventId, originalStart } of own) {
      if (originalStart === null || earlier.has(eventId)) continue
      const row = byStart.get(originalStartText(toOriginalStart(originalStart, calendar.timeZone)))
      if (row === undefined) continue
      earlier.set(eventId, { ...row, providerId: eventId })
      adopted.add(eventId)
    }
  }

  function ensureNotStale(apiChange: number): void {
    if ('readAfter' in source && apiChange > source.readAfter) throw new StaleRead()
  }

  async function save(event: RemoteEvent): Promise<void> {
    const row = earlier.get(event.eventId)
    const content = cleanJson(event)
    stale.add(event.recurringEventId ?? event.eventId)
    if (row === undefined) {
      ensureNotStale(calendar.apiDeletion)
      const inserted = await newRow(event, content)
      if (event.recurringEventId === null) added.set(inserted.id, inserted)
      else {
        await store.insert(inserted)
        hasNone.delete(event.recurringEventId)
      }
      earlier.set(event.eventId, inserted)
      if (!quiet.has(event) && !isUnknown(event))
        changes.push({ type: typeOfNew(event), row: inserted, content: event })
      return
    }
    const isSame = sameContent(row.content, event)
    if (!isSame) ensureNotStale(row.apiChange)
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
    earlier.set(event.eventId, updated)
    if (!isSame) changes.push({ type: typeOfChange(event), row: updated, content: event })
    const before: RemoteEvent = JSON.parse(row.content)
    for (const id of before.siblings ?? []) if (!event.siblings?.includes(id)) await remove(id)
  }

  /** A cancelled instance of a series that is not stored, such as a deleted one, of which Google reports the instances too. */
  function isUnknown({ status, recurringEventId }: RemoteEvent): boolean {
    return status === 'cancelled' && !earlier.has(recurringEventId ?? '')
  }

  async function newRow(event: RemoteEvent, content: string): Promise<EventRow> {
    const original =
      event.originalStart === null ? null : originalStartText(toOriginalStart(event.originalStart, calendar.timeZone))
    return {
      id: await newId(event, original),
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
      version: firstVersion(event),
      createdAt: nowMs,
      updatedAt: nowMs,
      apiChange: 'apiChange' in source ? source.apiChange : 0,
      confirmations: 0,
    }
  }

  /** An instance has the version of its series until it gets a row of its own. */
  function firstVersion({ recurringEventId }: RemoteEvent): number {
    return 1 + ((recurringEventId === null ? undefined : earlier.get(recurringEventId))?.version ?? 0)
  }

  /** Programs write two exceptions for one instance, with its start in two zones: only the first has the id of the instance. */
  async function newId({ recurringEventId }: RemoteEvent, original: string | null): Promise<string> {
    const master = recurringEventId === null ? undefined : earlier.get(recurringEventId)
    if (master === undefined || original === null) return ids('cev')
    const id = instanceId(master.id, original)
    return (await store.find(id)) === undefined ? id : ids('cev')
  }

  /** A master takes its exceptions with it; its event speaks for them. */
  async function remove(providerId: string): Promise<void> {
    const row = earlier.get(providerId) ?? (await store.find(providerId))
    if (row === undefined) {
      // An invitation to some instances of a series: there is no master.
      for (const orphan of await findExceptions(providerId)) await remove(orphan.providerId)
      return
    }
    if (row.providerId !== providerId) return
    ensureNotStale(row.apiChange)
    earlier.delete(providerId)
    const exceptions = row.isSeries === 1 ? await findExceptions(providerId) : []
    added.delete(row.id)
    const removedIds = [row.id, ...exceptions.map(({ id }) => id)]
    await store.remove(removedIds)
    for (const id of removedIds) later?.delete(id)
    for (const exception of exceptions) earlier.delete(exception.providerId)
    stale.delete(providerId)
    if (row.masterProviderId !== null) stale.add(row.masterProviderId)
    const content: RemoteEvent = { ...JSON.parse(row.content), status: 'cancelled' }
    for (const id of content.siblings ?? []) await remove(id)
    if (row.status === 'cancelled') return
    const gone = { ...row, status: 'cancelled' as const, version: row.version + 1, updatedAt: nowMs }
    changes.push({ type: 'calendar.event.deleted', row: gone, content })
  }

  async function expand(providerId: string): Promise<void> {
    const row = earlier.get(providerId) ?? (await store.find(providerId))
    const exceptions = await findExceptions(providerId)
    if (row !== undefined) {
      const { instances, ...columns } = buildPlacement(row, exceptions, calendar, window)
      if (!added.has(row.id)) await place(row.id, { ...columns, instances })
      else {
        added.set(row.id, { ...row, ...columns })
        if (later === undefined) addedInstances.push(...instances)
        else later.set(row.id, instances)
      }
    }
    for (const exception of exceptions) await place(exception.id, buildPlacement(exception, [], calendar, window))
  }

  async function place(id: string, placement: Placement): Promise<void> {
    await placeEvent(tx, id, later === undefined ? placement : { ...placement, instances: [] })
    later?.set(id, placement.instances)
  }

  function buildEvent({ type, row, content }: Change) {
    const span: Span = eventSpan(content, calendar.timeZone)
    return changeEvent(type, provider, eventView({ ...row, content }, { provider, span }))
  }
}

/** PostgreSQL refuses index entries of more than 2,704 bytes. No provider has ids of this length. */
export function isIndexable(providerId: string): boolean {
  return Buffer.byteLength(providerId) <= MAX_ID_BYTES
}

const MAX_ID_BYTES = 1024

function isException({ recurringEventId }: RemoteEvent): boolean {
  return recurringEventId !== null
}

/** An exception changes one instance of a series that was announced. Without a master in the calendar, it is an event by itself. */
function typeOfNew(event: RemoteEvent): keyof typeof calendarEvents {
  if (event.status === 'cancelled') return 'calendar.event.deleted'
  return isException(event) ? 'calendar.event.updated' : 'calendar.event.created'
}

function typeOfChange(event: RemoteEvent): keyof typeof calendarEvents {
  return event.status === 'cancelled' ? 'calendar.event.deleted' : 'calendar.event.updated'
}

/** Providers count versions that show nothing new. Of a cancelled instance they say more or less. */
export function sameContent(stored: string, event: RemoteEvent): boolean {
  const shown = ({ etag: _etag, updatedAt: _updatedAt, ...rest }: RemoteEvent) => JSON.stringify(rest)
  const before: RemoteEvent = JSON.parse(stored)
  if (before.status === 'cancelled' && event.status === 'cancelled') return true
  return shown(before) === shown(JSON.parse(cleanJson(event)))
}
