import type { Route, Routed } from '../fake/router.ts'
import {
  type CalendarEntry,
  type CalendarStore,
  type GoogleEvent,
  type GoogleTime,
  resource,
} from './calendar-store.ts'
import { badRequest, googleError, notFound } from './errors.ts'
import { partial } from './fields.ts'

const EVENTS = '/calendar/v3/calendars/{calendarId}/events'
const DAY_MS = 86_400_000

/** An email that Google would have sent to the attendees or the organizer. */
export interface SentUpdate {
  user: string
  eventId: string
  what: 'insert' | 'patch' | 'delete'
}

interface WriteDeps {
  findStore(user: string, id: string): CalendarStore | undefined
  /** Whether the user may not see the busy times of the calendar. */
  isRefused(user: string, id: string): boolean
  changed(user: string, calendarId: string): void
  sent: SentUpdate[]
}

/** Changes of events, and `freeBusy.query`. */
export function writeRoutes({ findStore, isRefused, changed, sent }: WriteDeps): Route[] {
  /** Passes the calendar to `act` if the user may write to it. */
  const writing = (act: (request: Routed, store: CalendarStore) => Response) => (request: Routed) => {
    const store = findStore(request.user ?? '', request.params.calendarId ?? '')
    if (store === undefined) return notFound()
    if (store.entry.accessRole !== 'owner' && store.entry.accessRole !== 'writer') {
      const message = 'You need to have writer access to this calendar.'
      return googleError(403, 'requiredAccessLevel', 'PERMISSION_DENIED', message, { domain: 'calendar' })
    }
    const response = act(request, store)
    if (response.ok) changed(request.user ?? '', store.entry.id)
    return response
  }

  function notify(request: Routed, eventId: string, what: SentUpdate['what']): void {
    if (request.url.searchParams.get('sendUpdates') === 'all') sent.push({ user: request.user ?? '', eventId, what })
  }

  const insert = writing((request, store) => {
    const { id, ...event } = parseBody(request)
    if (typeof id !== 'string' || !/^[0-9a-v]{5,1024}$/.test(id)) return badRequest('Invalid resource id value.')
    if (store.get(id) !== undefined) {
      const message = 'The requested identifier already exists.'
      return googleError(409, 'duplicate', 'ALREADY_EXISTS', message)
    }
    const problem = findProblem(event)
    if (problem !== undefined) return problem
    const organizer = { email: store.entry.id, self: true }
    const created: Body = {
      kind: 'calendar#event',
      status: 'confirmed',
      iCalUID: `${id}@google.com`,
      organizer,
      creator: organizer,
      reminders: { useDefault: true },
      ...withoutNulls({ ...event, attendees: mapAttendees(event, store.entry) }),
      ...buildConference(request, event),
    }
    store.put({ ...created, id } as GoogleEvent)
    notify(request, id, 'insert')
    return shown(request, store, id)
  })

  const patch = writing((request, store) => {
    const id = request.params.eventId ?? ''
    const current = store.get(id) ?? store.instance(id)
    if (current === undefined) return notFound()
    const match = request.headers.get('if-match')
    if (match !== null && match !== (current.etag ?? null)) return conditionNotMet()
    const { attendeesOmitted, attendees, ...changes } = parseBody(request)
    const merged = merge(current, changes)
    const problem = findProblem(merged)
    if (problem !== undefined) return problem
    const entered = attendees as Record<string, unknown>[] | undefined
    const own = (attendee: Record<string, unknown>) =>
      entered?.find(({ email }) => email === attendee.email) ?? attendee
    const after = attendeesOmitted === true ? (current.attendees ?? []).map(own) : entered
    store.put({
      ...withoutNulls(merged),
      ...(after !== undefined && { attendees: mapAttendees({ attendees: after }, store.entry) }),
      ...buildConference(request, changes),
      id,
    } as GoogleEvent)
    notify(request, id, 'patch')
    return shown(request, store, id)
  })

  const remove = writing((request, store) => {
    const id = request.params.eventId ?? ''
    if (store.get(id)?.status === 'cancelled') {
      return googleError(410, 'deleted', 'FAILED_PRECONDITION', 'Resource has been deleted')
    }
    if (!store.cancel(id)) return notFound()
    notify(request, id, 'delete')
    return new Response(null, { status: 204 })
  })

  function freeBusy(request: Routed): Response {
    const {
      timeMin,
      timeMax,
      items = [],
    } = parseBody(request) as {
      timeMin?: string
      timeMax?: string
      items?: { id: string }[]
    }
    const [fromMs, toMs] = [Date.parse(timeMin ?? ''), Date.parse(timeMax ?? '')]
    if (Number.isNaN(fromMs + toMs)) return badRequest('Bad Request')
    if (toMs - fromMs > 92 * DAY_MS) return googleError(400, 'timeRangeTooLong', 'INVALID_ARGUMENT', 'Too long.')
    if (items.length > 50) return googleError(400, 'tooManyCalendarsRequested', 'INVALID_ARGUMENT', 'Too many.')
    const calendars = items.map(({ id }) => {
      const store = isRefused(request.user ?? '', id) ? undefined : findStore(request.user ?? '', id)
      if (store === undefined) return [id, { errors: [{ domain: 'global', reason: 'notFound' }], busy: [] }]
      const events = store
        .all()
        .map(({ event }) => event)
        .filter(({ status, transparency }) => status !== 'cancelled' && transparency !== 'transparent')
        .filter(({ recurringEventId }) => recurringEventId === undefined)
        .flatMap((event) => (event.recurrence === undefined ? [event] : store.instances(event, fromMs, toMs)))
        .filter((event) => store.overlaps(event, fromMs, toMs))
      const iso = (time: GoogleTime) => new Date(store.ms(time)).toISOString().replace('.000Z', 'Z')
      return [id, { busy: events.map(({ start, end }) => ({ start: iso(start), end: iso(end) })) }]
    })
    return Response.json({ kind: 'calendar#freeBusy', timeMin, timeMax, calendars: Object.fromEntries(calendars) })
  }

  return [
    { method: 'POST', pattern: EVENTS, handle: insert },
    { method: 'PATCH', pattern: `${EVENTS}/{eventId}`, handle: patch },
    { method: 'DELETE', pattern: `${EVENTS}/{eventId}`, handle: remove },
    { method: 'POST', pattern: '/calendar/v3/freeBusy', handle: freeBusy },
  ]
}

function shown({ url }: Routed, store: CalendarStore, id: string): Response {
  const event = store.get(id)
  const body = event && partial(resource(store, event, url.searchParams), url.searchParams.get('fields'))
  return body === undefined ? badRequest('Invalid field selection') : Response.json(body)
}

type Body = Record<string, unknown>

const parseBody = (request: Routed): Body => JSON.parse(request.body.toString() || '{}') as Body

const conditionNotMet = () =>
  googleError(412, 'conditionNotMet', 'FAILED_PRECONDITION', 'Precondition Failed', { domain: 'global' })

/** A time needs an offset or a zone; that of a series needs a zone. */
function findProblem({ start, end, recurrence }: Body): Response | undefined {
  for (const time of [start, end] as (GoogleTime | undefined)[]) {
    if (time?.date && time.dateTime) return badRequest('Invalid start time.')
    if (time?.date) continue
    const hasOffset = /(Z|[+-]\d\d:\d\d)$/.test(time?.dateTime ?? '')
    if (!time?.dateTime || (!hasOffset && !time.timeZone)) return badRequest('Missing time zone definition.')
    if (Array.isArray(recurrence) && recurrence.length > 0 && !time.timeZone) {
      return badRequest('Missing time zone definition.')
    }
  }
  const isAllDay = (time: unknown) => Boolean((time as GoogleTime | undefined)?.date)
  return isAllDay(start) === isAllDay(end)
    ? undefined
    : badRequest('Start and end times must either both be date or dateTime.')
}

function mapAttendees({ attendees }: Body, { id, primary }: CalendarEntry): Body[] | undefined {
  const entries = attendees as Body[] | undefined
  return entries?.map((attendee) => ({
    responseStatus: 'needsAction',
    ...attendee,
    ...(primary && attendee.email === id && { self: true }),
  }))
}

/** Only with `conferenceDataVersion=1`, otherwise Google ignores it. */
function buildConference({ url }: Routed, { conferenceData }: Body): Body {
  const { createRequest } = (conferenceData ?? {}) as { createRequest?: { requestId: string } }
  if (createRequest === undefined || url.searchParams.get('conferenceDataVersion') !== '1') return {}
  const uri = `https://meet.google.com/${createRequest.requestId.slice(0, 10)}`
  return {
    hangoutLink: uri,
    conferenceData: {
      createRequest: { ...createRequest, status: { statusCode: 'success' } },
      entryPoints: [{ entryPointType: 'video', uri }],
      conferenceSolution: { key: { type: 'hangoutsMeet' }, name: 'Google Meet' },
    },
  }
}

/** RFC 7396, as in a patch of Google: null removes a member, a list is replaced. */
function merge(current: Body, changes: Body): Body {
  const merged: Body = { ...current }
  for (const [name, value] of Object.entries(changes)) {
    const before = current[name]
    const isNested = isObject(value) && isObject(before)
    merged[name] = isNested ? merge(before, value) : value
  }
  return withoutNulls(merged)
}

function withoutNulls(value: Body): Body {
  const members = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined)
  return Object.fromEntries(members.map(([name, inner]) => [name, isObject(inner) ? withoutNulls(inner) : inner]))
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
