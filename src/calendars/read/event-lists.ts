import { readLive } from '../../accounts/index.ts'
import { DAY_MS } from '../../platform/calendar/days.ts'
import type { Db } from '../../platform/db/index.ts'
import { AppError, invalid } from '../../platform/errors/app-error.ts'
import type { PageRequest } from '../../platform/formats/pagination.ts'
import type { CalendarAccount, TimeRange } from '../../providers/contract/index.ts'
import { storedRange } from '../calendar-row.ts'
import type { CalendarRow } from '../store.ts'
import { MAX_LIVE_ROWS, readLiveRange } from './live-range.ts'
import { readOpenRange, readOpenRangeByChange } from './open-range.ts'
import { byPosition, type EventOrder, isAfter, type ListedRow, type Position, readRange } from './range.ts'

/** The request for a list of events. */
export interface AskedEvents {
  calendar: CalendarRow
  /** Infinite where the request has no bound. */
  range: TimeRange
  isExpanded: boolean
  order: EventOrder
  words: readonly string[]
  /** From the provider, whatever is stored. */
  isFresh: boolean
  request: PageRequest<Position>
}

interface EventRows {
  /** The rows of the page, and one more if there is one. */
  rows: ListedRow[]
  total: { count: number; capped: boolean }
  /** When the stored ones were last known to be current. Null: all are from the provider. */
  storedAt: number | null
  /** Where the list goes on: the provider could not be asked for the rest. */
  next?: Position
}

interface EventListDeps {
  db: Db
  open(): Promise<CalendarAccount>
  nowMs: number
  signal: AbortSignal
}

/** Without a bound, instances by last change end this far from the other one. */
const YEAR_MS = 366 * DAY_MS
/** Providers expand ranges of a few years. */
const MAX_EXPANDED_MS = 4 * YEAR_MS

/** Reads one page: from the database within the stored window, otherwise from the provider. */
export function listedEvents(deps: EventListDeps, asked: AskedEvents): Promise<EventRows> {
  const isOpen = !Number.isFinite(asked.range.from) || !Number.isFinite(asked.range.to)
  if (!isOpen) return closedList(deps, asked)
  return asked.order === 'startTime' ? openList(deps, asked) : openListByChange(deps, asked)
}

async function closedList(deps: EventListDeps, asked: AskedEvents): Promise<EventRows> {
  const { calendar, range, request, isFresh } = asked
  const stored = storedRange(calendar)
  const isStored = calendar.syncedAt !== null && range.from >= stored.from && range.to <= stored.to
  const all = { ...asked, calendarId: calendar.id }
  if (isStored && !isFresh) {
    const found = await readRange(deps.db.read, all, { ...request, limit: request.limit + 1 })
    return { ...found, storedAt: calendar.syncedAt }
  }
  if (asked.isExpanded && range.to - range.from > MAX_EXPANDED_MS) return wholeList(deps, asked, range)
  const rows = await live(deps, (remote) =>
    readLiveRange(deps.db.read, remote, { ...all, nowMs: deps.nowMs, signal: deps.signal }),
  )
  return pageIn(rows, asked)
}

/** From the first event on, or to the last one. What begins within the stored window is stored. */
async function openList(deps: EventListDeps, asked: AskedEvents): Promise<EventRows> {
  const { calendar, range, request, isFresh } = asked
  const count = rowsUpTo(request)
  const stored = storedRange(calendar)
  const from = Math.max(range.from, request.after?.[0] ?? range.from)
  if (isFresh || calendar.syncedAt === null || from >= stored.to || range.to <= stored.from) {
    const rows = await readOn(deps, asked, { range, after: request.after, count })
    return { ...part(rows, request, count), storedAt: null }
  }
  const storedAt = calendar.syncedAt
  const { after } = request
  const before = { from: range.from, to: stored.from }
  const within = { from: Math.max(range.from, stored.from), to: Math.min(range.to, stored.to) }
  const page = { after, offset: 0, limit: count }
  const found = await readRange(deps.db.read, { ...asked, calendarId: calendar.id, range: within }, page)
  const earlier = from < stored.from ? await readOn(deps, asked, { range: before, after, count }) : []
  const rows = merged(earlier, found.rows).slice(0, count)
  if (rows.length >= count || range.to <= stored.to) return { ...part(rows, request, count), storedAt }
  const next: Position = [stored.to, '', '']
  const later = { range: { from: stored.to, to: range.to }, after: next, count: count - rows.length }
  try {
    return { ...part([...rows, ...(await readOn(deps, asked, later))], request, count), storedAt }
  } catch (error) {
    // The list shows the known rows; the next page asks again.
    if (!(error instanceof AppError) || rows.length <= request.offset) throw error
    return { ...part(rows, request, count), storedAt, next }
  }
}

/** In order. What began before the stored window and goes on in it is in both. */
function merged(earlier: readonly ListedRow[], stored: readonly ListedRow[]): ListedRow[] {
  if (earlier.length === 0) return [...stored]
  const rows = new Map([...earlier, ...stored].map((row) => [`${row.id} ${row.instance}`, row]))
  return [...rows.values()].sort(byPosition('startTime'))
}

/** Instances end with the stored window, because those of one event come before those of the next one. */
async function openListByChange(deps: EventListDeps, asked: AskedEvents): Promise<EventRows> {
  const { calendar, isExpanded, request } = asked
  const { from, to } = asked.range
  const lastMs = Math.max(storedRange(calendar).to, Number.isFinite(from) ? from + YEAR_MS : 0)
  const range = { from, to: isExpanded ? Math.min(to, lastMs) : to }
  const count = rowsUpTo(request)
  const reading = { ...asked, range, nowMs: deps.nowMs, signal: deps.signal }
  const page = { after: request.after, count }
  const rows = await live(deps, (remote) => readOpenRangeByChange(deps.db.read, remote, reading, page))
  return { ...part(rows, request, count), storedAt: null }
}

/** Reads everything in the range for one page of it. */
async function wholeList(deps: EventListDeps, asked: AskedEvents, range: TimeRange): Promise<EventRows> {
  const rows = await readOn(deps, asked, { range, after: undefined, count: MAX_LIVE_ROWS + 1 })
  return pageIn(rows.length > MAX_LIVE_ROWS ? undefined : rows.sort(byPosition(asked.order)), asked)
}

function readOn(
  deps: EventListDeps,
  asked: AskedEvents,
  { range, after, count }: { range: TimeRange; after: Position | undefined; count: number },
): Promise<ListedRow[]> {
  const { db, nowMs, signal } = deps
  return live(deps, (remote) => readOpenRange(db.read, remote, { ...asked, range, nowMs, signal }, { after, count }))
}

function live<T>({ open }: EventListDeps, read: (remote: CalendarAccount) => Promise<T>): Promise<T> {
  return open().then((remote) => readLive('The calendar', () => read(remote)))
}

/** A page of all rows. */
function pageIn(rows: readonly ListedRow[] | undefined, { request, order }: AskedEvents): EventRows {
  if (rows === undefined) {
    throw invalid('query.timeMax', `is too far from timeMin: the range has more than ${MAX_LIVE_ROWS} events`)
  }
  const { after, offset, limit } = request
  const first = after === undefined ? offset : rows.findIndex((row) => isAfter(row, after, order))
  const page = first === -1 ? [] : rows.slice(first, first + limit + 1)
  return { rows: page, total: { count: rows.length, capped: false }, storedAt: null }
}

/** The page, and the number of rows that are known so far: nobody counts those that follow. */
function part(
  rows: readonly ListedRow[],
  { after, page, limit, offset }: PageRequest,
  count: number,
): Pick<EventRows, 'rows' | 'total'> {
  const before = after === undefined ? 0 : (page - 1) * limit
  return { rows: rows.slice(offset), total: { count: before + rows.length, capped: rows.length >= count } }
}

/** How many rows to read for a page and one more. */
function rowsUpTo({ offset, limit }: PageRequest): number {
  const count = offset + limit + 1
  if (count > MAX_LIVE_ROWS) throw invalid('query.page', 'is too far from the first one: use pageToken')
  return count
}
