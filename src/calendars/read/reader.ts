import { invalid } from '../../platform/errors/app-error.ts'
import { buildPage, continuedAt, type Page, type PageQuery, pageRequest } from '../../platform/formats/pagination.ts'
import { isoTime, requireTime } from '../../platform/time/time.ts'
import type { ProviderName, RemoteEvent } from '../../providers/contract/index.ts'
import { type CalendarEventView, eventView } from '../api.ts'
import { eventSpan } from '../instances/times.ts'
import { searchWords } from '../search-text.ts'
import { type CalendarRow, calendarStore } from '../store.ts'
import { unreadableEvents } from '../unreadable.ts'
import { type CalendarAccessDeps, calendarAccess, LIVE_MS } from './calendar-access.ts'
import { type AskedEvents, listedEvents } from './event-lists.ts'
import { type EventOrder, type ListedRow, listPosition } from './range.ts'

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

/** Reads calendars for the API. */
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

    unreadable: (calendars: readonly CalendarRow[]) => unreadableEvents.readSome(db.read, calendars),

    /** `isFresh`: from the provider, whatever is stored. */
    async events(idOrAlias: string, calendarId: string, query: EventQuery, isFresh: boolean): Promise<EventPage> {
      const startedMs = clock.monotonic()
      const { account, calendar } = await openCalendar(idOrAlias, calendarId)
      const { id: accountId, provider } = account
      const what = requested(query)
      const fingerprint = [calendar.id, query.timeMin, query.timeMax, what.isExpanded, what.order, what.words]
      const request = pageRequest(query, fingerprint, ['time', 'text', 'text'])
      // One deadline, also where the calendars had to be listed first.
      const leftMs = Math.max(0, Math.ceil(startedMs + LIVE_MS - clock.monotonic()))
      const remote = async () => deps.calendars(provider).open(await accounts.access(accountId))
      const reading = { db, open: remote, nowMs: clock.now(), signal: AbortSignal.timeout(leftMs) }
      const found = await listedEvents(reading, { ...what, calendar, isFresh, request })
      const page = buildPage(found.rows, request, found.total, fingerprint, (row) => listPosition(row, what.order))
      const { next } = found
      return {
        items: page.items.map((row) => toView(row, provider, calendar)),
        pagination: next === undefined ? page.pagination : continuedAt(page.pagination, next, fingerprint),
        source: found.storedAt === null ? 'provider' : 'stored',
        syncedAt: isoTime(found.storedAt ?? clock.now()),
      }
    },
  }
}

export type CalendarReader = ReturnType<typeof calendarReader>

function requested(query: EventQuery): Pick<AskedEvents, 'range' | 'isExpanded' | 'order' | 'words'> {
  const { singleEvents: isExpanded = false, orderBy: order = 'startTime', q = '' } = query
  if (query.orderBy === 'startTime' && !isExpanded) {
    throw invalid('query.orderBy', 'can be startTime only with singleEvents=true')
  }
  const from = query.timeMin === undefined ? Number.NEGATIVE_INFINITY : requireTime('query.timeMin', query.timeMin)
  const to = query.timeMax === undefined ? Number.POSITIVE_INFINITY : requireTime('query.timeMax', query.timeMax)
  if (from >= to) throw invalid('query.timeMax', 'must be later than timeMin')
  return { range: { from, to }, isExpanded, order, words: searchWords(q) }
}

function toView(row: ListedRow, provider: ProviderName, { timeZone }: CalendarRow): CalendarEventView {
  const content: RemoteEvent = JSON.parse(row.content)
  const { instance } = row
  // As in the events about it: a series shows its first instance, wherever the range begins.
  const span = instance === '' ? eventSpan(content, timeZone) : row
  return eventView({ ...row, content }, { provider, span, ...(instance !== '' && { instance }) })
}
