import type { Recorder } from '../../../events/index.ts'
import { type Db, insertManyRows } from '../../../infra/db/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Ids } from '../../../lib/ids.ts'
import { readAhead } from '../../../lib/read-ahead.ts'
import {
  type CalendarAccount,
  type EventStep,
  ProviderError,
  type ProviderName,
  type TimeRange,
  type UnreadableEvent,
} from '../../../providers/contract/index.ts'
import { type Fence, findApiChanges, StaleRead } from '../../accounts/index.ts'
import { newCalendarRow, sameListing } from '../calendar-row.ts'
import { placementOf } from '../instance-rows.ts'
import {
  type CalendarRow,
  calendarStore,
  currentInstances,
  type EventRow,
  eventStore,
  placeEvent,
  saveListing,
} from '../store.ts'
import { removeUnreadableBefore } from '../unreadable.ts'
import { InstanceBuffer } from './instance-buffer.ts'
import { NOTHING, partsOf } from './parts.ts'
import { applyChanges, type EventCounts, isIndexable } from './step.ts'

export interface AccountCalendarsDeps {
  db: Db
  events: Recorder
  ids: Ids
  clock: Clock
  fence: Fence
  /** Months before and after now in which instances are stored. */
  windowMonths: readonly [past: number, future: number]
}

export interface OwnedCalendars {
  accountId: string
  epoch: number
  provider: ProviderName
  remote: CalendarAccount
  signal: AbortSignal
  /** Called after each transaction that stored events. */
  onStored?(counts: EventCounts): void
  /** Called with events that cannot be read, and were not known as such. */
  onUnreadable?(calendar: CalendarRow, events: readonly UnreadableEvent[]): void
}

/** How often the calendars themselves are listed: a new one appears, and a deleted one disappears, within a minute. */
const LIST_MS = 50_000
/** A poll without changes is stored this seldom. */
const RECORD_MS = 5 * 60_000
const ROWS_PER_TRANSACTION = 50
/** So that the provider works while instances are inserted. A step has at most some hundred events. */
const STEPS_AHEAD = 3
/** A first sync stores the cursor after so many events; an interrupted one begins there. */
const EVENTS_PER_CURSOR = 2000
const DAY_MS = 24 * 60 * 60 * 1000

export interface DueCalendars {
  isDue(calendar: CalendarRow): boolean
  /** The calendars are listed first, however recently they were. */
  isListed: boolean
  /** Called with each calendar that was read, and each that could not be. Says whether the others may be read, too. */
  onSynced(calendar: CalendarRow): void
  onFailed(calendar: CalendarRow, error: ProviderError): boolean
}

/**
 * Syncs the calendars of one account that are due, once, and returns all that can be synced. One that fails does not stop the others; one
 * that is gone is removed. Throws `ProviderError` when the account itself fails, `OwnershipLost`, or the signal's reason.
 */
export async function syncCalendars(
  deps: AccountCalendarsDeps,
  owned: OwnedCalendars,
  { isDue, isListed, onSynced, onFailed }: DueCalendars,
): Promise<CalendarRow[]> {
  const { db, clock } = deps
  const { accountId, signal } = owned
  const listedAt = await calendarStore(db.read).listedAt(accountId)
  if (isListed || listedAt === undefined || clock.now() - listedAt >= LIST_MS) await list(deps, owned)
  let isGone = false
  for (const calendar of (await readable(deps, accountId)).filter(isDue)) {
    signal.throwIfAborted()
    try {
      await syncCalendar(deps, owned, calendar)
      onSynced(calendar)
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      isGone ||= error.kind === 'not_found'
      if (!onFailed(calendar, error)) throw error
    }
  }
  if (isGone) await list(deps, owned)
  return readable(deps, accountId)
}

/** The events of others cannot be read. */
async function readable({ db }: AccountCalendarsDeps, accountId: string): Promise<CalendarRow[]> {
  return (await calendarStore(db.read).all(accountId)).filter(({ role }) => role !== 'freeBusyReader')
}

async function list(deps: AccountCalendarsDeps, owned: OwnedCalendars): Promise<void> {
  const { db, ids, clock, fence } = deps
  const { accountId, epoch, remote, signal } = owned
  const isKnown = (await calendarStore(db.read).all(accountId)).length > 0
  const all = await remote.listCalendars(signal, isKnown)
  const listed = all.filter(({ calendarId }) => isIndexable(calendarId))
  const nowMs = clock.now()
  const gone = await db.transaction(async (tx) => {
    await fence(tx, accountId, epoch)
    const known = new Map((await calendarStore(tx).all(accountId)).map((row) => [row.providerId, row]))
    const rows = listed.map((one) =>
      newCalendarRow(one, { id: ids('cal'), accountId, nowMs }, known.get(one.calendarId)),
    )
    await saveListing(tx, accountId, nowMs, {
      inserted: rows.filter(({ providerId }) => !known.has(providerId)),
      updated: rows.filter((row) => {
        const before = known.get(row.providerId)
        return before !== undefined && !sameListing(before, row)
      }),
    })
    const current = new Set(listed.map(({ calendarId }) => calendarId))
    return [...known.values()].filter((row) => !current.has(row.providerId))
  })
  for (const calendar of gone) {
    await removeEvents(deps, owned, calendar, Number.MAX_SAFE_INTEGER)
    await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      await removeUnreadableBefore(tx, calendar.id, Number.MAX_SAFE_INTEGER)
      await tx.deleteFrom('calendars').where('id', '=', calendar.id).execute()
    })
  }
}

async function syncCalendar(deps: AccountCalendarsDeps, owned: OwnedCalendars, stored: CalendarRow): Promise<void> {
  const window = windowAt(deps)
  const calendar = await moveWindow(deps, owned, stored, window)
  try {
    await readAll(deps, owned, calendar, window)
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'cursor_expired' || calendar.cursor === null) throw error
    const isComparing = Number(calendar.syncedAt !== null)
    const restarted = await save(deps, owned, calendar, { cursor: null, round: calendar.round + 1, isComparing })
    await readAll(deps, owned, restarted, window)
  }
}

/** Reads again from the stored cursor what the API changed meanwhile. */
async function readAll(
  deps: AccountCalendarsDeps,
  owned: OwnedCalendars,
  started: CalendarRow,
  window: TimeRange,
): Promise<void> {
  for (let calendar: CalendarRow | undefined = started; calendar !== undefined; ) {
    try {
      return await readChanges(deps, owned, calendar, window)
    } catch (error) {
      if (!(error instanceof StaleRead)) throw error
      calendar = await calendarStore(deps.db.read).get(calendar.id)
    }
  }
}

/** Reads and stores everything that changed since the cursor. Throws `StaleRead`. */
async function readChanges(
  deps: AccountCalendarsDeps,
  owned: OwnedCalendars,
  started: CalendarRow,
  window: TimeRange,
): Promise<void> {
  const { remote, signal } = owned
  const { latest: readAfter } = await findApiChanges(deps.db.read, owned.accountId)
  let calendar = started
  let hasChanged = false
  const later = started.syncedAt === null ? new InstanceBuffer() : undefined
  const { providerId: calendarId, timeZone } = calendar
  const request = { calendarId, timeZone, cursor: calendar.cursor, window, signal }
  for await (const step of readAhead(remote.syncEvents(request), STEPS_AHEAD)) {
    signal.throwIfAborted()
    hasChanged ||= step.found.length + step.entered.length + step.removed.length > 0
    calendar = await storeStep(deps, owned, { calendar, window, readAfter, later }, step)
    if (later !== undefined && later.events >= EVENTS_PER_CURSOR) await storeLater(later)
  }
  if (later !== undefined) await storeLater(later)
  if (calendar.isComparing === 1) {
    await removeEvents(deps, owned, calendar, calendar.round)
    hasChanged = true
  }
  if (calendar.isComparing === 1 || started.syncedAt === null) await forgetUnreadable(deps, owned, calendar)
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

interface StepPlace {
  calendar: CalendarRow
  window: TimeRange
  readAfter: number
  /** Of a first sync. The caller stores the cursor with the instances. */
  later: InstanceBuffer | undefined
}

/** In small transactions. The last one has the cursor, so after a crash the others are applied again and change nothing. */
async function storeStep(
  deps: AccountCalendarsDeps,
  owned: OwnedCalendars,
  { calendar, window, readAfter, later }: StepPlace,
  step: EventStep,
): Promise<CalendarRow> {
  const parts = partsOf(step)
  const { db, clock, fence } = deps
  const { accountId, epoch, provider } = owned
  const isAnnounced = calendar.syncedAt !== null
  const result = { ...calendar, cursor: step.cursor }
  for (const [index, part] of parts.entries()) {
    if (later?.isFull) await flush(deps, owned, later, readAfter)
    const counts = await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      const { apiDeletion, unreadable } = (await calendarStore(tx).get(calendar.id)) ?? calendar
      const context = {
        calendar: { ...calendar, apiDeletion, unreadable },
        provider,
        window,
        nowMs: clock.now(),
        isAnnounced,
      }
      const changed = await applyChanges(deps, tx, { ...context, source: { readAfter }, later }, part)
      if (later === undefined && index === parts.length - 1)
        await calendarStore(tx).update(calendar.id, { cursor: step.cursor })
      return changed
    })
    owned.onStored?.(counts)
    if (counts.unreadable.length > 0) owned.onUnreadable?.(calendar, counts.unreadable)
  }
  return result
}

/**
 * Inserts the instances of the buffer. Leaves out those of events that were deleted, or changed through the API after `readAfter`:
 * they are no longer right.
 */
function flush(
  { db, fence }: AccountCalendarsDeps,
  { accountId, epoch, signal }: OwnedCalendars,
  later: InstanceBuffer,
  readAfter: number,
): Promise<void> {
  return later.flush(async (rows) => {
    signal.throwIfAborted()
    await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      const { latest } = await findApiChanges(tx, accountId)
      const current = latest === readAfter ? rows : await currentInstances(tx, rows, readAfter)
      await insertManyRows(tx, 'calendarInstances', current)
    })
  })
}

/** Deletes the events that rounds before `round` stored. Those that ended before the window are not listed again, so nothing is announced. */
async function removeEvents(
  deps: AccountCalendarsDeps,
  { accountId, epoch, provider, signal, onStored }: OwnedCalendars,
  calendar: CalendarRow,
  round: number,
): Promise<void> {
  const { db, clock, fence } = deps
  for (let more = true; more; ) {
    signal.throwIfAborted()
    const deleted = await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      const rows = await eventStore(tx, calendar.id).beforeRound(round, ROWS_PER_TRANSACTION)
      const source = { readAfter: Number.MAX_SAFE_INTEGER }
      const context = { calendar, provider, window: windowOf(calendar), nowMs: clock.now(), source }
      const hasLeft = ({ firstMs, startMs }: EventRow) => firstMs === null && startMs < calendar.windowFrom
      for (const isAnnounced of [true, false]) {
        const removed = rows.filter((row) => hasLeft(row) !== isAnnounced).map(({ providerId }) => providerId)
        const isFirst = calendar.syncedAt === null
        await applyChanges(deps, tx, { ...context, isAnnounced: isAnnounced && !isFirst }, { ...NOTHING, removed })
      }
      return rows.length
    })
    if (deleted > 0) onStored?.({ added: 0, updated: 0, deleted })
    more = deleted > 0
  }
}

/** Those of events that the present round has not found. */
async function forgetUnreadable(
  { db, fence }: AccountCalendarsDeps,
  { accountId, epoch }: OwnedCalendars,
  { id, round }: CalendarRow,
): Promise<void> {
  await db.transaction(async (tx) => {
    await fence(tx, accountId, epoch)
    await removeUnreadableBefore(tx, id, round)
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
        const exceptions = row.isSeries === 1 ? await store.exceptionsOf(row.providerId) : []
        await placeEvent(tx, row.id, placementOf(row, exceptions, calendar, window))
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

function windowOf({ windowFrom, windowTo }: CalendarRow): TimeRange {
  return { from: windowFrom, to: windowTo }
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
