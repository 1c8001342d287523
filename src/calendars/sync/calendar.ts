import { syncFromCursor } from '../../accounts/collections/index.ts'
import { findApiChanges } from '../../accounts/index.ts'
import { allEnded } from '../../platform/concurrency/all-ended.ts'
import { readAhead } from '../../platform/concurrency/read-ahead.ts'
import { insertManyRows } from '../../platform/db/index.ts'
import type { EventStep, TimeRange } from '../../providers/contract/index.ts'
import { buildPlacement } from '../instance-rows.ts'
import { calendarGone } from '../refusals.ts'
import {
  type CalendarRow,
  calendarStore,
  currentInstances,
  eventStore,
  type InstanceRow,
  placeEvent,
} from '../store.ts'
import { unreadableEvents } from '../unreadable.ts'
import type { AccountCalendarsDeps, OwnedCalendars } from './owned-calendars.ts'
import { removeEvents } from './removal.ts'
import { applyChanges } from './step/apply.ts'
import { InstanceBuffer } from './step/instance-buffer.ts'
import { splitIntoParts } from './step/split-step.ts'
import type { Changes } from './step/step-state.ts'

/** A poll without changes is stored this seldom. */
const RECORD_MS = 5 * 60_000
const ROWS_PER_TRANSACTION = 50
/** So that the provider works while instances are inserted. A step has at most some hundred events. */
const STEPS_AHEAD = 3
/** How many a first sync runs; each takes a connection of the pool. */
const TRANSACTIONS_AT_ONCE = 3
/** A first sync stores the cursor after so many events; an interrupted one begins there. */
const EVENTS_PER_CURSOR = 2000
const DAY_MS = 24 * 60 * 60 * 1000

/** Reads and stores the changes of one calendar. Throws `ProviderError`, `OwnershipLost`, or the signal's reason. */
export async function syncCalendar(
  deps: AccountCalendarsDeps,
  owned: OwnedCalendars,
  stored: CalendarRow,
): Promise<void> {
  const window = windowAt(deps)
  const calendar = await moveWindow(deps, owned, stored, window)
  await syncFromCursor(calendar, {
    read: (row) => readCalendarChanges(deps, owned, row, window),
    find: (id) => calendarStore(deps.db.read).get(id),
    save: (row, changes) => save(deps, owned, row, changes),
    toGone: calendarGone,
  })
}

/** Reads and stores everything that changed since the cursor. Throws `StaleRead`. */
async function readCalendarChanges(
  deps: AccountCalendarsDeps,
  owned: OwnedCalendars,
  started: CalendarRow,
  window: TimeRange,
): Promise<void> {
  const { remote, signal } = owned
  const { latest: readAfter } = await findApiChanges(deps.db.read, owned.accountId)
  let calendar = await beginRound(deps, owned, started)
  let hasChanged = false
  const later = started.syncedAt === null ? new InstanceBuffer() : undefined
  const { providerId: calendarId, timeZone } = calendar
  const again = await unreadableEvents.findDue(deps.db.read, calendar, deps.clock.now())
  const request = { calendarId, timeZone, cursor: calendar.cursor, window, again, signal }
  for await (const step of readAhead(remote.syncEvents(request), STEPS_AHEAD)) {
    signal.throwIfAborted()
    hasChanged ||= step.found.length + step.entered.length + step.removed.length > 0
    calendar = await storeStep(deps, owned, { calendar, window, readAfter, later }, step)
    if (later !== undefined && later.events >= EVENTS_PER_CURSOR) await storeLater(later)
  }
  if (later !== undefined) await storeLater(later)
  if (calendar.isComparing === 1 || started.syncedAt === null) {
    await removeEvents(deps, owned, calendar, calendar.round)
    await forgetUnreadable(deps, owned, calendar)
    hasChanged = true
  }
  const nowMs = deps.clock.now()
  const isListed = calendar.listedFrom === window.from && calendar.listedTo === window.to
  const isDue = hasChanged || !isListed || calendar.syncedAt === null || nowMs - calendar.syncedAt >= RECORD_MS
  const listed = { listedFrom: window.from, listedTo: window.to }
  if (isDue) await save(deps, owned, calendar, { isComparing: 0, syncedAt: nowMs, ...listed })

  async function storeLater(buffer: InstanceBuffer): Promise<void> {
    await flush(deps, owned, buffer, readAfter)
    await save(deps, owned, calendar, { cursor: calendar.cursor })
  }
}

/** A listing that begins again: what an earlier one stored may be deleted since. */
async function beginRound(
  deps: AccountCalendarsDeps,
  owned: OwnedCalendars,
  calendar: CalendarRow,
): Promise<CalendarRow> {
  if (calendar.cursor !== null) return calendar
  const isAgain = calendar.unreadable > 0 || (await eventStore(deps.db.read, calendar.id).hasEvents())
  return isAgain ? save(deps, owned, calendar, { round: calendar.round + 1 }) : calendar
}

interface StepPlace {
  calendar: CalendarRow
  window: TimeRange
  readAfter: number
  /** Set in a first sync. The caller stores the cursor with the instances. */
  later: InstanceBuffer | undefined
  /** To store with the changes. */
  cursor?: string
}

/**
 * In small transactions. The last one has the cursor, so after a crash the others are applied again and change nothing. Those of a first
 * sync, which has no cursor yet, run several at once: each waits for the database more than it works.
 */
async function storeStep(
  deps: AccountCalendarsDeps,
  owned: OwnedCalendars,
  place: StepPlace,
  step: EventStep,
): Promise<CalendarRow> {
  const { later, readAfter } = place
  const parts = splitIntoParts(step)
  const stored = { ...place.calendar, cursor: step.cursor }
  if (later === undefined) {
    const last = parts.pop()
    for (const part of parts) await storePart(deps, owned, place, part)
    if (last !== undefined) await storePart(deps, owned, { ...place, cursor: step.cursor }, last)
    return stored
  }
  while (parts.length > 0) {
    if (later.isFull) await flush(deps, owned, later, readAfter)
    await allEnded(takeIndependent(parts).map((part) => storePart(deps, owned, place, part)))
  }
  return stored
}

/** Takes the next parts that may be stored at the same time: those that only find events, each its own. */
function takeIndependent(parts: Changes[]): Changes[] {
  const isFinding = ({ removed, unreadable = [] }: Changes) => removed.length === 0 && unreadable.length === 0
  const other = parts.findIndex((part) => !isFinding(part))
  const finding = other === -1 ? parts.length : other
  return parts.splice(0, Math.max(1, Math.min(finding, TRANSACTIONS_AT_ONCE)))
}

async function storePart(
  deps: AccountCalendarsDeps,
  owned: OwnedCalendars,
  { calendar, window, readAfter, later, cursor }: StepPlace,
  part: Changes,
): Promise<void> {
  const { db, clock } = deps
  const { accountId, epoch, provider } = owned
  const fence = later === undefined ? deps.fence : deps.sharedFence
  const counts = await db.transaction(async (tx) => {
    await fence(tx, accountId, epoch)
    const { apiDeletion, unreadable } = (await calendarStore(tx).get(calendar.id)) ?? calendar
    const context = {
      calendar: { ...calendar, apiDeletion, unreadable },
      provider,
      window,
      nowMs: clock.now(),
      isAnnounced: calendar.syncedAt !== null,
    }
    const changed = await applyChanges(deps, tx, { ...context, source: { readAfter }, later }, part)
    if (cursor !== undefined) await calendarStore(tx).update(calendar.id, { cursor })
    return changed
  })
  owned.onStored?.(counts)
  if (counts.unreadable.length > 0) owned.onUnreadable?.(calendar, counts.unreadable)
}

/**
 * Inserts the instances of the buffer. Leaves out those of events that were deleted, or changed through the API after `readAfter`:
 * they are no longer right.
 */
async function flush(
  { db, sharedFence }: AccountCalendarsDeps,
  { accountId, epoch, signal }: OwnedCalendars,
  later: InstanceBuffer,
  readAfter: number,
): Promise<void> {
  const parts = later.takeParts()
  while (parts.length > 0) {
    signal.throwIfAborted()
    await allEnded(parts.splice(0, TRANSACTIONS_AT_ONCE).map(insert))
  }

  function insert(rows: readonly InstanceRow[]): Promise<void> {
    return db.transaction(async (tx) => {
      await sharedFence(tx, accountId, epoch)
      const { latest } = await findApiChanges(tx, accountId)
      const current = latest === readAfter ? rows : await currentInstances(tx, rows, readAfter)
      await insertManyRows(tx, 'calendarInstances', current)
    })
  }
}

/** Forgets unreadable events that the present round has not found. */
async function forgetUnreadable(
  { db, fence }: AccountCalendarsDeps,
  { accountId, epoch }: OwnedCalendars,
  { id, round }: CalendarRow,
): Promise<void> {
  await db.transaction(async (tx) => {
    await fence(tx, accountId, epoch)
    await unreadableEvents.removeBefore(tx, id, round)
  })
}

/** Computes the instances of every stored event anew when a day has passed or the setting changed. Interrupted, it begins again. */
async function moveWindow(
  deps: AccountCalendarsDeps,
  owned: OwnedCalendars,
  calendar: CalendarRow,
  window: TimeRange,
): Promise<CalendarRow> {
  if (calendar.windowFrom === window.from && calendar.windowTo === window.to) return calendar
  const { db, fence } = deps
  const { accountId, epoch, signal } = owned
  for (let last = ''; calendar.windowTo !== 0; ) {
    signal.throwIfAborted()
    const rows = await eventStore(db.read, calendar.id).after(last, ROWS_PER_TRANSACTION)
    if (rows.length === 0) break
    last = rows.at(-1)?.providerId ?? last
    await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      const store = eventStore(tx, calendar.id)
      const now = await store.byProviderIds(rows.map(({ providerId }) => providerId))
      for (const row of now.values()) {
        const exceptions = row.isSeries === 1 ? await store.findExceptions(row.providerId) : []
        await placeEvent(tx, row.id, buildPlacement(row, exceptions, calendar, window))
      }
    })
  }
  return save(deps, owned, calendar, { windowFrom: window.from, windowTo: window.to })
}

async function save(
  { db, fence }: AccountCalendarsDeps,
  { accountId, epoch }: OwnedCalendars,
  calendar: CalendarRow,
  changes: Partial<CalendarRow>,
): Promise<CalendarRow> {
  await db.transaction(async (tx) => {
    await fence(tx, accountId, epoch)
    await calendarStore(tx).update(calendar.id, changes)
  })
  return { ...calendar, ...changes }
}

/** In whole days, so that it moves once a day. */
function windowAt({ clock, windowMonths }: Pick<AccountCalendarsDeps, 'clock' | 'windowMonths'>): TimeRange {
  const [past, future] = windowMonths
  const today = Math.floor(clock.now() / DAY_MS) * DAY_MS
  const shifted = (months: number) => {
    const date = new Date(today)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, date.getUTCDate())
  }
  return { from: shifted(-past), to: shifted(future) }
}
