import { Refusals, type Refused } from '../fake/refusals.ts'
import type { Route, Routed } from '../fake/router.ts'
import { type CalendarEntry, CalendarStore, type GoogleEvent, resource } from './calendar-store.ts'
import { type SentUpdate, writeRoutes } from './calendar-writes.ts'
import { Channels } from './channels.ts'
import { badRequest, googleError, notFound, refusedCalendar } from './errors.ts'
import { partial } from './fields.ts'

const BASE = '/calendar/v3'

/** Changes by a test to the calendars of a user, effective at once. */
export interface GoogleCalendars {
  /** Adds a calendar to the user's list. The primary one exists, with the user's address as its id. */
  add(user: string, entry: Partial<CalendarEntry> & { id: string }): void
  /** The owner gives the user other rights. */
  setRole(user: string, calendarId: string, accessRole: CalendarEntry['accessRole']): void
  /** Removes it from the user's list. */
  remove(user: string, calendarId: string): void
  /** Creates or replaces an event, and returns its id. Times may be local to their zone. */
  put(user: string, calendarId: string, event: Partial<GoogleEvent>): string
  get(user: string, calendarId: string, eventId: string): GoogleEvent | undefined
  /** Every event of the calendar, cancelled ones too. */
  events(user: string, calendarId: string): GoogleEvent[]
  /** Runs once, after the next read of a single event. */
  afterNextRead(run: () => void): void
  /** Cancels a single event, a series, or one instance by its id. */
  cancel(user: string, calendarId: string, eventId: string): void
  /** Makes the API return 410 for every sync token issued so far. */
  expireSyncTokens(user: string): void
  /** From now on the calendar is listed, but refused; null ends that. */
  refuse(user: string, calendarId: string, refused: Refused | null): void
  /** The user has an account without a calendar. */
  withhold(user: string): void
  /** Emails about changes that the API made. */
  readonly sent: readonly SentUpdate[]
  channels: Pick<Channels, 'sent' | 'of' | 'route' | 'flush'>
}

/** Google Calendar v3: lists, pages, sync tokens, partial responses and expansion. */
export function googleCalendar(): { routes: Route[]; calendars: GoogleCalendars } {
  const users = new Map<string, Map<string, CalendarStore>>()
  const withheld = new Set<string>()
  const sent: SentUpdate[] = []
  const channels = new Channels()
  const refusals = new Refusals()
  let afterRead = () => {}
  let created = 0

  function findStores(user: string): Map<string, CalendarStore> {
    const stores = users.get(user) ?? new Map([[user, new CalendarStore(buildEntry({ id: user, primary: true }))]])
    users.set(user, stores)
    return stores
  }

  function findStore(user: string, id: string): CalendarStore | undefined {
    return findStores(user).get(id === 'primary' ? user : id)
  }

  function required(user: string, id: string): CalendarStore {
    const store = findStore(user, id)
    if (store === undefined) throw new Error(`${user} has no calendar ${id}`)
    return store
  }

  function calendarList({ user, url }: Routed): Response {
    if (withheld.has(user ?? '')) {
      return googleError(
        403,
        'notACalendarUser',
        'PERMISSION_DENIED',
        'The user must be signed up for Google Calendar.',
      )
    }
    const size = pageSize(url.searchParams.get('maxResults'), 100, 250)
    const shown = [...findStores(user ?? '').values()]
      .map(({ entry }) => entry)
      .filter(({ hidden }) => hidden !== true || url.searchParams.get('showHidden') === 'true')
      .filter(({ deleted }) => deleted !== true || url.searchParams.get('showDeleted') === 'true')
    const from = Number(url.searchParams.get('pageToken') ?? 0)
    const items = shown.slice(from, from + size).map((entry) => ({ kind: 'calendar#calendarListEntry', ...entry }))
    const next = from + size < shown.length ? { nextPageToken: String(from + size) } : { nextSyncToken: 'list' }
    return respond({ kind: 'calendar#calendarList', ...next, items }, url)
  }

  function calendarEntry({ user, params, url }: Routed): Response {
    const store = findStore(user ?? '', params.calendarId ?? '')
    return store === undefined ? notFound() : respond(store.entry, url)
  }

  function listEvents({ user, params, url }: Routed): Response {
    const store = findStore(user ?? '', params.calendarId ?? '')
    return store === undefined ? notFound() : eventList(store, url)
  }

  function getEvent({ user, params, url }: Routed): Response {
    const store = findStore(user ?? '', params.calendarId ?? '')
    const id = params.eventId ?? ''
    const event = store?.get(id) ?? store?.instance(id)
    if (store === undefined || event === undefined) return notFound()
    const response = respond(resource(store, event, url.searchParams), url)
    const run = afterRead
    afterRead = () => {}
    run()
    return response
  }

  return {
    routes: [
      { method: 'GET', pattern: `${BASE}/users/me/calendarList`, handle: calendarList },
      { method: 'GET', pattern: `${BASE}/users/me/calendarList/{calendarId}`, handle: calendarEntry },
      ...refusals.routes(
        [
          { method: 'GET', pattern: `${BASE}/calendars/{calendarId}/events`, handle: listEvents },
          { method: 'GET', pattern: `${BASE}/calendars/{calendarId}/events/{eventId}`, handle: getEvent },
          ...writeRoutes({
            findStore,
            isRefused: (user, calendarId) => refusals.of(user, calendarId) !== undefined,
            changed: (user, calendarId) => channels.changed(user, calendarId),
            sent,
          }),
          ...channels.routes((user, id) =>
            id.endsWith('#holiday') ? 'unsupported' : findStore(user, id) !== undefined,
          ),
        ],
        'calendarId',
        { isLaterPage: ({ searchParams }) => searchParams.has('pageToken'), toResponse: refusedCalendar },
      ),
    ],
    calendars: {
      add: (user, entry) => void findStores(user).set(entry.id, new CalendarStore(buildEntry(entry))),
      setRole(user, calendarId, accessRole) {
        const store = required(user, calendarId)
        store.entry = { ...store.entry, accessRole }
      },
      remove: (user, calendarId) => void findStores(user).delete(calendarId),
      put(user, calendarId, { id = `event${(created++).toString(32)}`, ...event }) {
        const store = required(user, calendarId)
        const times = { start: { date: '2026-01-01' }, end: { date: '2026-01-02' } }
        store.put({
          kind: 'calendar#event',
          status: 'confirmed',
          iCalUID: `${id.split('_')[0]}@google.com`,
          ...times,
          ...event,
          id,
        })
        channels.changed(user, calendarId)
        return id
      },
      get: (user, calendarId, eventId) => required(user, calendarId).get(eventId),
      events: (user, calendarId) =>
        required(user, calendarId)
          .all()
          .map(({ event }) => event),
      afterNextRead(run) {
        afterRead = run
      },
      cancel(user, calendarId, eventId) {
        if (!required(user, calendarId).cancel(eventId)) throw new Error(`no event ${eventId}`)
        channels.changed(user, calendarId)
      },
      expireSyncTokens(user) {
        for (const store of findStores(user).values()) store.horizon = ++store.version
      },
      refuse: (user, calendarId, refused) => refusals.set(user, calendarId, refused),
      withhold: (user) => void withheld.add(user),
      sent,
      channels,
    },
  }
}

function buildEntry(entry: Partial<CalendarEntry> & { id: string }): CalendarEntry {
  const defaults = { summary: entry.id, timeZone: 'Europe/Berlin', accessRole: 'owner' as const }
  return { ...defaults, defaultReminders: [{ method: 'popup', minutes: 10 }], ...entry }
}

/** Parameters that Google refuses beside a sync token. */
const NOT_WITH_TOKEN = ['iCalUID', 'orderBy', 'privateExtendedProperty', 'q', 'sharedExtendedProperty']
const TIMES = ['timeMin', 'timeMax', 'updatedMin']
/** Parameters that may differ between the pages of a listing. */
const FREE = new Set(['pageToken', 'syncToken', 'maxResults', 'fields'])

interface Token {
  /** Changes after this version; null: a listing. */
  since: number | null
  /** The version when the listing or the round of changes began. */
  upTo: number
  /** The position after the previous page. */
  after?: string
  /** The other parameters of the first request. */
  query: string
}

/** `events.list`. A listing's pages are ordered by id, those of changes by version. */
function eventList(store: CalendarStore, url: URL): Response {
  const query = url.searchParams
  const [syncToken, pageToken] = [query.get('syncToken'), query.get('pageToken')]
  if (syncToken !== null && (NOT_WITH_TOKEN.some((name) => query.has(name)) || TIMES.some((name) => query.has(name)))) {
    const message = 'Sync token cannot be used with other request restrictions.'
    return googleError(400, 'syncTokenWithRequestRestrictions', 'INVALID_ARGUMENT', message)
  }
  if (syncToken !== null && query.get('showDeleted') === 'false') return badRequest('Sync requires showDeleted.')
  if (query.get('orderBy') === 'startTime' && query.get('singleEvents') !== 'true') {
    return badRequest('The requested ordering is not available for the particular query.')
  }
  for (const name of TIMES) {
    if (query.has(name) && !/T.*(Z|[+-]\d\d:\d\d)$/.test(query.get(name) ?? '')) return badRequest('Bad Request')
  }

  const synced = syncToken === null ? undefined : read(syncToken)
  if (synced === null) return badRequest('Invalid sync token value.')
  if (synced !== undefined && synced.upTo < store.horizon) {
    const message = 'Sync token is no longer valid, a full sync is required.'
    return googleError(410, 'fullSyncRequired', 'FAILED_PRECONDITION', message, { domain: 'calendar' })
  }
  const paged = pageToken === null ? undefined : read(pageToken)
  const others = [...query].filter(([name]) => !FREE.has(name)).sort()
  // A sync token implies the time range of its listing.
  const isRange = (name: string) => TIMES.includes(name)
  const own = JSON.stringify(others.filter(([name]) => !isRange(name)))
  const first: Token = synced ?? { since: null, upTo: store.version, query: own }
  if (paged === null || (paged !== undefined && paged.query !== own)) return badRequest('Invalid page token value.')
  if (synced !== undefined && synced.query !== own)
    return badRequest('The parameters differ from those of the listing.')
  const round: Token = paged ?? { ...first, since: synced === undefined ? null : synced.upTo, upTo: store.version }

  const selected = round.since === null ? listed(store, query) : changed(store, round)
  const size = pageSize(query.get('maxResults'), 250, 2500)
  const start = paged?.after === undefined ? 0 : selected.findIndex(({ key }) => key > (paged.after ?? ''))
  const rest = start === -1 ? [] : selected.slice(start)
  const page = rest.slice(0, size)
  const isLast = rest.length <= size
  const hasToken = !NOT_WITH_TOKEN.some((name) => query.has(name)) && !query.has('updatedMin')
  const next = isLast
    ? hasToken && { nextSyncToken: write({ since: null, upTo: round.upTo, query: own }) }
    : { nextPageToken: write({ ...round, after: page.at(-1)?.key ?? '' }) }
  const { summary, timeZone, accessRole, defaultReminders } = store.entry
  return respond(
    {
      kind: 'calendar#events',
      etag: `"${store.version}"`,
      summary,
      timeZone,
      accessRole,
      defaultReminders,
      ...next,
      items: page.map(({ event }) => resource(store, event, query)),
    },
    url,
  )
}

interface Selected {
  /** Sorts as the page does. */
  key: string
  event: GoogleEvent
}

function listed(store: CalendarStore, query: URLSearchParams): Selected[] {
  const fromMs = Date.parse(query.get('timeMin') ?? '1900-01-01T00:00:00Z')
  const toMs = Date.parse(query.get('timeMax') ?? '2100-01-01T00:00:00Z')
  const isExpanded = query.get('singleEvents') === 'true'
  const isShown = ({ status, recurringEventId }: GoogleEvent) =>
    status !== 'cancelled' ||
    query.get('showDeleted') === 'true' ||
    (!isExpanded && recurringEventId !== undefined && store.get(recurringEventId)?.status !== 'cancelled')
  const stored = store.all().map(({ event }) => event)
  const events = stored.filter(isShown).flatMap((event) => {
    if (!isExpanded || event.recurrence === undefined) {
      const isReplaced = isExpanded && stored.some(({ id }) => id === event.recurringEventId)
      return !isReplaced && store.overlaps(event, fromMs, toMs) ? [event] : []
    }
    return store.instances(event, fromMs, toMs)
  })
  const byStart = query.get('orderBy') === 'startTime'
  return events
    .map((event) => ({ key: (byStart ? String(store.ms(event.start)).padStart(20, '0') : '') + event.id, event }))
    .sort(byKey)
}

/** A range of the listing does not matter here: the documentation does not promise that changes are limited to it. */
function changed(store: CalendarStore, { since, upTo }: Token): Selected[] {
  return store
    .all()
    .filter(({ version }) => version > (since ?? 0) && version <= upTo)
    .map(({ event, version }) => ({ key: String(version).padStart(12, '0'), event }))
    .sort(byKey)
}

const byKey = (left: Selected, right: Selected) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0)

function respond(body: object, url: URL): Response {
  const shown = partial(body, url.searchParams.get('fields'))
  return shown === undefined ? badRequest('Invalid field selection') : Response.json(shown)
}

function pageSize(value: string | null, fallback: number, max: number): number {
  return Math.min(max, Math.max(1, Number(value ?? fallback)))
}

const write = (token: Token): string => Buffer.from(JSON.stringify(token)).toString('base64url')

function read(token: string): Token | null {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString()) as Token
  } catch {
    return null
  }
}
