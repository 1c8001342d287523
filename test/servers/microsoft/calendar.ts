import { randomBytes } from 'node:crypto'
import { DateTime } from 'luxon'
import { Refusals, type Refused } from '../fake/refusals.ts'
import type { Route, Routed } from '../fake/router.ts'
import {
  CalendarStore,
  type EventChange,
  expandEvent,
  type GraphCalendar,
  type GraphEvent,
  type GraphTime,
  graphTimeMs,
} from './calendar-store.ts'
import { find, type SentMeetingMessage, writeRoutes } from './calendar-writes.ts'
import { badRequest, graphError, itemNotFound, refusedCalendar, syncStateNotFound } from './errors.ts'
import { preferredPage, type Resource, skippedPage } from './resources.ts'

const ME = '/v1.0/me'

/** Changes by a test to the calendars of a user, effective at once. The default calendar exists, with the id `calendar`. */
export interface MicrosoftCalendars {
  add(user: string, calendar: Partial<GraphCalendar> & { id: string }): void
  /** Creates or replaces an event or a series, and returns its id. */
  put(user: string, calendarId: string, event: Partial<GraphEvent> & Pick<GraphEvent, 'start' | 'end'>): string
  /** Changes one instance of a series, given by its date, and returns its id. */
  putException(user: string, masterId: string, date: string, changes: Partial<GraphEvent>): string
  /** Makes a changed instance like the others again. */
  resetException(user: string, masterId: string, date: string): void
  cancelOccurrence(user: string, masterId: string, date: string): void
  delete(user: string, id: string): void
  /** To another calendar. The immutable id stays. */
  move(user: string, id: string, calendarId: string): void
  expireDelta(user: string): void
  /** From now on the calendar is listed, but refused; null ends that. */
  refuse(user: string, calendarId: string, refused: Refused | null): void
  /** Messages about changes that the API made. */
  readonly sent: readonly SentMeetingMessage[]
  /** Personal accounts have no schedules, and no online meetings: Graph ignores a request for one. */
  personal: boolean
  /** The error that `getSchedule` has for an address, such as `MailboxNotEnabledForRESTAPI`. */
  readonly scheduleErrors: Map<string, string>
}

interface Round {
  user: string
  calendarId: string
  fromMs: number
  toMs: number
  /** Left of this round. */
  items: Resource[]
  /** The next round starts after this change. */
  seq: number
}

/**
 * Calendars of Graph v1.0: lists, events, the calendar view and its delta query, changes of events. `changed` is called for every
 * change.
 */
export function microsoftCalendar(changed: (user: string, id: string, type: EventChange) => void): {
  routes: Route[]
  calendars: MicrosoftCalendars
} {
  const stores = new Map<string, CalendarStore>()
  const rounds = new Map<string, Round>()
  const sent: SentMeetingMessage[] = []
  const refusals = new Refusals()
  let created = 0

  function getStore(user: string): CalendarStore {
    const cached = stores.get(user)
    if (cached !== undefined) return cached
    const store = new CalendarStore((id, change) => changed(user, id, change))
    stores.set(user, store)
    store.calendars.set('calendar', buildCalendar(user, { id: 'calendar', name: 'Calendar', isDefaultCalendar: true }))
    return store
  }

  function list(request: Routed): Response {
    const calendars = [...getStore(request.user ?? '').calendars.values()]
    return skippedPage(
      request,
      calendars.map((calendar) => selected({ ...calendar }, request)),
      10,
    )
  }

  const withCalendar = (act: (request: Routed, store: CalendarStore, id: string) => Response) => (request: Routed) => {
    const store = getStore(request.user ?? '')
    const id = request.params.calendar ?? ''
    return store.calendars.has(id) ? act(request, store, id) : itemNotFound()
  }

  const view = withCalendar((request, store, calendarId) => {
    const range = parseRange(request)
    if (range === undefined) return badRequest('startDateTime and endDateTime are required.')
    if (range.toMs - range.fromMs > MAX_VIEW_MS) {
      return graphError(400, 'ErrorCalendarViewRangeTooBig', 'The range is greater than the allowed 1825 days.')
    }
    const shown = store.in(calendarId).flatMap((stored) => expandEvent(stored, range.fromMs, range.toMs))
    return skippedPage(
      request,
      shown.map((event) => selected(resource(event, request), request)),
      10,
    )
  })

  const delta = withCalendar((request, store, calendarId) => {
    const query = request.url.searchParams
    const user = request.user ?? ''
    if (['$select', '$expand', '$filter', '$orderby', '$search'].some((name) => query.has(name))) {
      return badRequest('The query parameter is not supported with delta.')
    }
    const token = query.get('$skiptoken') ?? query.get('$deltatoken')
    const range = parseRange(request)
    if (token === null && range === undefined) return badRequest('startDateTime and endDateTime are required.')
    const round =
      token === null ? range && begin(store, user, calendarId, range) : resume(store, token, user, calendarId)
    if (round === undefined) return syncStateNotFound()
    const size = preferredPage(request)
    const rest = round.items.slice(size)
    const next = randomBytes(18).toString('base64url')
    rounds.set(next, { ...round, items: rest })
    const link = new URL(request.url)
    link.search = ''
    link.searchParams.set(rest.length > 0 ? '$skiptoken' : '$deltatoken', next)
    return Response.json({
      value: round.items.slice(0, size).map((item) => ('@removed' in item ? item : inDelta(resource(item, request)))),
      [rest.length > 0 ? '@odata.nextLink' : '@odata.deltaLink']: link.toString(),
    })
  })

  function begin(store: CalendarStore, user: string, calendarId: string, { fromMs, toMs }: ReturnRange): Round {
    const items = store.in(calendarId).flatMap((stored) => {
      const instances = expandEvent(stored, fromMs, toMs)
      const isMasterShown = stored.event.recurrence !== undefined && graphTimeMs(stored.event.start) >= fromMs
      return [...(isMasterShown && instances.length > 0 ? [master(stored.event)] : []), ...instances]
    })
    return { user, calendarId, fromMs, toMs, items, seq: store.seq }
  }

  /** A changed series comes with all of its instances in the range; a cancelled one leaves no trace. */
  function resume(store: CalendarStore, token: string, user: string, calendarId: string): Round | undefined {
    const round = rounds.get(token)
    if (round === undefined || round.user !== user || round.calendarId !== calendarId) return undefined
    if (round.items.length > 0) return round
    const items = store.changedSince(calendarId, round.seq).flatMap((id) => {
      const stored = store.find(id)
      const instances = stored?.calendarId === calendarId ? expandEvent(stored, round.fromMs, round.toMs) : []
      if (stored === undefined || instances.length === 0) return [{ id, '@removed': { reason: 'deleted' } }]
      return stored.event.recurrence === undefined ? instances : [master(stored.event), ...instances]
    })
    return { ...round, items, seq: store.seq }
  }

  /** Finds an event in any calendar, whatever calendar is in the path. */
  function get(request: Routed): Response {
    const found = find(getStore(request.user ?? ''), request.params.event ?? '')
    return found === undefined ? itemNotFound() : shownEvent(found, request)
  }

  function shownEvent(event: Resource, request: Routed): Response {
    const stored = getStore(request.user ?? '').find(String(event.id))
    if (stored?.event.recurrence === undefined) {
      return Response.json(selected(resource({ type: 'singleInstance', ...event }, request), request))
    }
    const { exceptions, cancelled } = stored
    const expand = request.url.searchParams.get('$expand')
    const shown = {
      ...resource(master(stored.event), request),
      cancelledOccurrences: [...cancelled].map((date) => `OID.${event.id}.${date}`),
      ...(expand === 'exceptionOccurrences' && {
        exceptionOccurrences: [...exceptions.values()].map((exception) => resource(exception, request)),
      }),
    }
    return Response.json(selected(shown, request))
  }

  function calendarOfEvent(request: Routed): Response {
    const store = getStore(request.user ?? '')
    const calendar = store.calendars.get(store.find(request.params.event ?? '')?.calendarId ?? '')
    return calendar === undefined ? itemNotFound() : Response.json(selected({ ...calendar }, request))
  }

  const calendars: MicrosoftCalendars = controls()
  return {
    routes: refusals.routes(
      [
        { method: 'GET', pattern: `${ME}/calendars`, handle: list },
        { method: 'GET', pattern: `${ME}/calendars/{calendar}/calendarView`, handle: view },
        { method: 'GET', pattern: `${ME}/calendars/{calendar}/calendarView/delta`, handle: delta },
        { method: 'GET', pattern: `${ME}/calendars/{calendar}/events/{event}`, handle: get },
        { method: 'GET', pattern: `${ME}/events/{event}/calendar`, handle: calendarOfEvent },
        ...writeRoutes({
          getStore,
          sent,
          shown: shownEvent,
          isPersonal: () => calendars.personal,
          scheduleError: (address) => calendars.scheduleErrors.get(address),
        }),
      ],
      'calendar',
      { isLaterPage, toResponse: refusedCalendar },
    ),
    calendars,
  }

  function controls(): MicrosoftCalendars {
    return {
      sent,
      personal: false,
      scheduleErrors: new Map(),
      add: (user, calendar) => void getStore(user).calendars.set(calendar.id, buildCalendar(user, calendar)),
      put(user, calendarId, { id = `AAMk${created++}=`, ...event }) {
        const now = new Date().toISOString()
        const created = { createdDateTime: now, lastModifiedDateTime: now, iCalUId: `uid-${id}` }
        getStore(user).put(calendarId, { ...created, ...event, id })
        return id
      },
      putException(user, masterId, date, changes) {
        const store = getStore(user)
        const id = `${masterId}.x${date}`
        store.change(masterId, (stored) => {
          const before = instanceAt(stored, date)
          if (before === undefined) throw new Error(`no instance ${date}`)
          stored.exceptions.set(date, { ...(before as GraphEvent), ...changes, id, type: 'exception' })
        })
        return id
      },
      resetException: (user, masterId, date) =>
        getStore(user).change(masterId, ({ exceptions }) => void exceptions.delete(date)),
      cancelOccurrence: (user, masterId, date) =>
        getStore(user).change(masterId, ({ exceptions, cancelled }) => {
          exceptions.delete(date)
          cancelled.add(date)
        }),
      delete: (user, id) => getStore(user).delete(id),
      move: (user, id, calendarId) => getStore(user).move(id, calendarId),
      refuse: (user, calendarId, refused) => refusals.set(user, calendarId, refused),
      expireDelta(user) {
        for (const [token, round] of rounds) if (round.user === user) rounds.delete(token)
      },
    }
  }
}

/** The longest range of a calendar view. */
const MAX_VIEW_MS = 1825 * 86_400_000

function isLaterPage({ searchParams }: URL): boolean {
  return ['$skiptoken', '$skip'].some((name) => searchParams.has(name))
}

type ReturnRange = { fromMs: number; toMs: number }

function buildCalendar(user: string, calendar: Partial<GraphCalendar> & { id: string }): GraphCalendar {
  const owner = { name: user.split('@')[0] ?? user, address: user }
  return {
    name: calendar.id,
    color: 'auto',
    hexColor: '',
    canEdit: true,
    owner,
    isDefaultCalendar: false,
    allowedOnlineMeetingProviders: ['teamsForBusiness'],
    defaultOnlineMeetingProvider: 'teamsForBusiness',
    ...calendar,
  }
}

const master = (event: GraphEvent): Resource => ({ ...event, type: 'seriesMaster' })

/** Reduces an occurrence to the few members that the delta query returns. */
function inDelta(instance: Resource): Resource {
  if (instance.type !== 'occurrence') return instance
  const { id, type, seriesMasterId, start, end } = instance
  const annotations = { '@odata.type': '#microsoft.graph.event', '@odata.etag': instance['@odata.etag'] }
  return { ...annotations, id, type, seriesMasterId, start, end }
}

function instanceAt(stored: Parameters<typeof expandEvent>[0], date: string): Resource | undefined {
  const plain = { ...stored, exceptions: new Map(), cancelled: new Set<string>() }
  const day = DateTime.fromISO(date, { zone: 'utc' })
  const around = expandEvent(plain, day.minus({ days: 2 }).toMillis(), day.plus({ days: 3 }).toMillis())
  return around.find(({ id }) => id === `${stored.event.id}.${date}`)
}

function parseRange({ url }: Routed): ReturnRange | undefined {
  const [fromMs, toMs] = ['startDateTime', 'endDateTime'].map((name) => Date.parse(url.searchParams.get(name) ?? ''))
  return fromMs === undefined || toMs === undefined || Number.isNaN(fromMs + toMs) ? undefined : { fromMs, toMs }
}

/** As Graph writes it: times in UTC, other ids without the preference for immutable ones, the body as text on request. */
function resource(event: Resource, request: Routed): Resource {
  const prefer = request.headers.get('prefer') ?? ''
  const isImmutable = /IdType\s*=\s*"ImmutableId"/i.test(prefer)
  const toId = (id: unknown) => (isImmutable || typeof id !== 'string' ? id : `moving.${id}`)
  const body = event.body as { content: string } | undefined
  const asText = /outlook\.body-content-type\s*=\s*"?text"?/i.test(prefer)
  return {
    '@odata.etag': `W/"${String(event.id)}"`,
    recurrence: null,
    isAllDay: false,
    isCancelled: false,
    showAs: 'busy',
    sensitivity: 'normal',
    attendees: [],
    ...event,
    id: toId(event.id),
    ...(event.seriesMasterId !== undefined && { seriesMasterId: toId(event.seriesMasterId) }),
    ...(body && {
      body: { contentType: asText ? 'text' : 'html', content: asText ? body.content : `<p>${body.content}</p>` },
    }),
    start: inUtc(event.start as GraphTime, event),
    end: inUtc(event.end as GraphTime, event),
  }
}

/** All-day events are at midnight of any zone. */
function inUtc(time: GraphTime, { isAllDay }: Resource): GraphTime {
  const zone = isAllDay === true ? 'utc' : time.timeZone
  const at = DateTime.fromMillis(graphTimeMs({ ...time, timeZone: zone }), { zone: 'utc' })
  const dateTime = at.toFormat("yyyy-MM-dd'T'HH:mm:ss'.0000000'")
  return { dateTime, timeZone: 'UTC' }
}

function selected(shown: Resource, { url }: Routed): Resource {
  const select = url.searchParams.get('$select')
  if (select === null) return shown
  const wanted = new Set(['@odata.etag', 'id', ...select.split(',')])
  return Object.fromEntries(Object.entries(shown).filter(([name]) => wanted.has(name)))
}
