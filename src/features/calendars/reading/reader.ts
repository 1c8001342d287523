import { invalid } from '../../../lib/errors.ts'
import { type Page, type PageQuery, pageOf, pageRequest } from '../../../lib/page.ts'
import { isoTime, requireTime } from '../../../lib/time.ts'
import type { ProviderName, RemoteEvent } from '../../../providers/contract/index.ts'
import { readLive } from '../../accounts/index.ts'
import { type CalendarEventView, eventView } from '../api.ts'
import { storedRange } from '../calendar-row.ts'
import { spanOf } from '../instances/times.ts'
import { searchWords } from '../search-text.ts'
import { type CalendarRow, calendarStore } from '../store.ts'
import { type CalendarAccessDeps, calendarAccess, LIVE_MS } from './calendar-access.ts'
import { MAX_LIVE_ROWS, readLiveRange } from './live-range.ts'
import { type EventOrder, type ListedRow, readRange, type StoredRange } from './range.ts'

export interface EventQuery extends PageQuery {
  timeMin?: string | undefined
  timeMax?: string | undefined
  singleEvents?: boolean | undefined
  orderBy?: EventOrder | undefined
  q?: string | undefined
}

export interface EventPage extends Page<CalendarEventView> {
  source: 'stored' | 'provider'
  /** When the events were last known to be current. */
  syncedAt: string
}

interface ListedCalendars {
  provider: ProviderName
  accountId: string
  rows: CalendarRow[]
}

/** Without a bound, a list from the provider ends this far from the other one. */
const YEAR_MS = 366 * 24 * 60 * 60 * 1000
const MONTH_MS = 31 * 24 * 60 * 60 * 1000

/** Reads calendars for the API: from the database within the stored window, otherwise from the provider. */
export function calendarReader(deps: CalendarAccessDeps) {
  const { db, clock, accounts } = deps
  const { open, openCalendar, listNow } = calendarAccess(deps)
  return {
    /** `isFresh`: as the provider lists them now. */
    async list(idOrAlias: string, isFresh = false): Promise<ListedCalendars> {
      const account = await open(idOrAlias)
      const { id: accountId, provider } = account
      const listed = isFresh ? await listNow(account) : undefined
      const rows = await calendarStore(db.read).all(accountId)
      return { provider, accountId, rows: rows.filter(({ providerId }) => listed?.has(providerId) !== false) }
    },

    /** `isFresh`: from the provider, whatever is stored. */
    async events(idOrAlias: string, calendarId: string, query: EventQuery, isFresh: boolean): Promise<EventPage> {
      const startedMs = clock.monotonic()
      const { account, calendar } = await openCalendar(idOrAlias, calendarId)
      const { id: accountId, provider } = account
      const asked = rangeOf(query, calendar, clock.now())
      const fingerprint = [calendar.id, query.timeMin, query.timeMax, asked.isExpanded, asked.order, asked.words]
      const request = pageRequest(query, fingerprint, ['integer', 'text', 'text'])
      const position = (row: ListedRow) =>
        [asked.order === 'startTime' ? row.startMs : row.updatedAt, row.id, row.instance] as const
      const isStored = calendar.syncedAt !== null && covers(calendar, asked)
      if (isStored && !isFresh) {
        const { rows, total } = await readRange(db.read, asked, { ...request, limit: request.limit + 1 })
        const { items, pagination } = pageOf(rows, request, total, fingerprint, position)
        const syncedAt = isoTime(calendar.syncedAt ?? 0)
        return { items: items.map((row) => viewOf(row, provider, calendar)), pagination, source: 'stored', syncedAt }
      }
      // One deadline, also where the calendars had to be listed first.
      const leftMs = Math.max(0, Math.ceil(startedMs + LIVE_MS - clock.monotonic()))
      const rows = await readNow(accountId, provider, calendar, asked, AbortSignal.timeout(leftMs))
      const { after, offset, limit } = request
      const first = after === undefined ? offset : rows.findIndex((row) => isAfter(position(row), after))
      const page = first === -1 ? [] : rows.slice(first, first + limit + 1)
      const { items, pagination } = pageOf(page, request, rows.length, fingerprint, position)
      const syncedAt = isoTime(clock.now())
      return { items: items.map((row) => viewOf(row, provider, calendar)), pagination, source: 'provider', syncedAt }
    },
  }

  async function readNow(
    accountId: string,
    provider: ProviderName,
    calendar: CalendarRow,
    asked: StoredRange,
    signal: AbortSignal,
  ) {
    const remote = deps.calendars(provider).open(await accounts.access(accountId))
    const rows = await readLive('The calendar', () =>
      readLiveRange(db.read, remote, { ...asked, calendar, nowMs: clock.now(), signal }),
    )
    if (rows === undefined) {
      throw invalid('query.timeMax', `is too far from timeMin: the range has more than ${MAX_LIVE_ROWS} events`)
    }
    return rows
  }
}

export type CalendarReader = ReturnType<typeof calendarReader>

function rangeOf(query: EventQuery, calendar: CalendarRow, nowMs: number): StoredRange {
  const { singleEvents: isExpanded = false, orderBy: order = 'startTime', q = '' } = query
  if (query.orderBy === 'startTime' && !isExpanded) {
    throw invalid('query.orderBy', 'can be startTime only with singleEvents=true')
  }
  const timeMin = query.timeMin === undefined ? undefined : requireTime('query.timeMin', query.timeMin)
  const timeMax = query.timeMax === undefined ? undefined : requireTime('query.timeMax', query.timeMax)
  if (timeMin !== undefined && timeMax !== undefined && timeMin >= timeMax) {
    throw invalid('query.timeMax', 'must be later than timeMin')
  }
  // Before the first sync nothing is stored.
  const window = calendar.syncedAt === null ? { from: nowMs - MONTH_MS, to: nowMs } : storedRange(calendar)
  const from = timeMin ?? Math.min(window.from, (timeMax ?? Number.MAX_SAFE_INTEGER) - YEAR_MS)
  const to = timeMax ?? Math.max(window.to, from + YEAR_MS)
  return { calendarId: calendar.id, range: { from, to }, isExpanded, order, words: searchWords(q) }
}

function covers(calendar: CalendarRow, { range }: StoredRange): boolean {
  const { from, to } = storedRange(calendar)
  return range.from >= from && range.to <= to
}

function viewOf(row: ListedRow, provider: ProviderName, { timeZone }: CalendarRow): CalendarEventView {
  const content: RemoteEvent = JSON.parse(row.content)
  const { instance } = row
  // As in the events about it: a series shows its first instance, wherever the range begins.
  const span = instance === '' ? spanOf(content, timeZone) : row
  return eventView({ ...row, content }, { provider, span, ...(instance !== '' && { instance }) })
}

function isAfter(position: readonly (string | number)[], after: readonly (string | number)[]): boolean {
  for (const [index, value] of position.entries()) {
    const other = after[index] ?? ''
    if (value !== other) return value > other
  }
  return false
}
