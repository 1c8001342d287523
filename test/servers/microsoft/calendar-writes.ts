import { decodeHTML } from 'entities/decode'
import { WINDOWS_ZONES } from '../../../src/platform/calendar/generated/windows-zones.ts'
import type { Route, Routed } from '../fake/router.ts'
import { type CalendarStore, expandEvent, type GraphEvent, type GraphTime, graphTimeMs } from './calendar-store.ts'
import { accessDenied, badRequest, graphError, itemNotFound } from './errors.ts'
import type { PatternedRecurrence } from './pattern.ts'
import { boundedInteger, type Resource, skippedPage } from './resources.ts'

/** Every mailbox has these working hours. */
const WORKING_HOURS = {
  daysOfWeek: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'],
  startTime: '08:00:00.0000000',
  endTime: '17:00:00.0000000',
  timeZone: { name: 'W. Europe Standard Time' },
}

const ME = '/v1.0/me'
const CALENDAR = `${ME}/calendars/{calendar}`
const EVENT = `${CALENDAR}/events/{event}`
const DAY_MS = 86_400_000

/** An email that Exchange would have sent. */
export interface SentMeetingMessage {
  user: string
  eventId: string
  what: 'request' | 'cancel' | 'accept' | 'decline' | 'tentativelyAccept'
  comment?: string
}

interface WriteDeps {
  getStore(user: string): CalendarStore
  sent: SentMeetingMessage[]
  /** The event as a request sees it. */
  shown(event: Resource, request: Routed): Response
  /** Personal accounts have no schedules, and no online meetings. */
  isPersonal(user: string): boolean
  /** Why the schedule of an address cannot be read. */
  scheduleError(address: string): string | undefined
}

/** Changes of events, their instances, and schedules. */
export function writeRoutes({ getStore, sent, shown, isPersonal, scheduleError }: WriteDeps): Route[] {
  /** An online meeting that a personal account asks for is not refused, but ignored. */
  const parseBody = (request: Routed): Resource => {
    const body = JSON.parse(request.body.toString() || '{}') as Resource
    return isPersonal(request.user ?? '') && body.isOnlineMeeting === true ? { ...body, isOnlineMeeting: false } : body
  }

  function create(request: Routed): Response {
    const [user, calendarId] = [request.user ?? '', request.params.calendar ?? '']
    const store = getStore(user)
    const calendar = store.calendars.get(calendarId)
    if (calendar === undefined) return itemNotFound()
    if (!calendar.canEdit) return accessDenied()
    const { transactionId, ...fields } = parseBody(request)
    const earlier = store.in(calendarId).find(({ event }) => event.transactionId === transactionId)
    if (transactionId !== undefined && earlier !== undefined) {
      const message = 'The TransactionId specified in the request has already been used to create a different event.'
      return earlier.event.subject === fields.subject
        ? withStatus(shown(earlier.event, request), 201)
        : graphError(409, 'ErrorDuplicateTransactionId', message)
    }
    const written = fromBody(fields)
    if (written instanceof Response) return written
    const id = `AAMkNew${store.seq}=`
    const now = new Date().toISOString()
    const created = { createdDateTime: now, lastModifiedDateTime: now, iCalUId: `uid-${id}`, transactionId }
    const organizer = { emailAddress: { name: calendar.owner.name, address: calendar.owner.address } }
    store.put(calendarId, {
      ...created,
      organizer,
      isOrganizer: true,
      isReminderOn: true,
      reminderMinutesBeforeStart: 15,
      ...(withoutNulls(written) as unknown as GraphEvent),
      ...buildMeeting(written, id),
      id,
    })
    if (Array.isArray(written.attendees) && written.attendees.length > 0)
      sent.push({ user, eventId: id, what: 'request' })
    return withStatus(shown(store.find(id)?.event ?? {}, request), 201)
  }

  function patch(request: Routed): Response {
    const [user, id] = [request.user ?? '', request.params.event ?? '']
    const store = getStore(user)
    const current = find(store, id)
    if (current === undefined) return itemNotFound()
    if (!mayEdit(store, request)) return accessDenied()
    const match = request.headers.get('if-match')
    if (match !== null && match !== current['@odata.etag']) {
      return graphError(412, 'ErrorIrresolvableConflict', 'The change key does not match the current change key.')
    }
    const written = fromBody(parseBody(request))
    if (written instanceof Response) return written
    const meeting = current.isOnlineMeeting === true ? keptMeeting(current, written) : buildMeeting(written, id)
    const after: Resource = { ...current, ...written, ...meeting, lastModifiedDateTime: new Date().toISOString() }
    const { masterId, date } = parseInstanceId(store, id)
    if (masterId === undefined) {
      const calendarId = store.find(id)?.calendarId ?? ''
      store.put(calendarId, (written.recurrence === null ? { ...after, recurrence: undefined } : after) as GraphEvent)
    } else {
      store.change(masterId, ({ exceptions }) => {
        exceptions.set(date, { ...(after as GraphEvent), id: `${masterId}.x${date}`, type: 'exception' })
      })
    }
    return shown(find(store, id) ?? find(store, `${masterId}.x${date}`) ?? {}, request)
  }

  function remove(request: Routed): Response {
    const [user, id] = [request.user ?? '', request.params.event ?? '']
    const store = getStore(user)
    const current = find(store, id)
    if (current === undefined) return itemNotFound()
    if (!mayEdit(store, request)) return accessDenied()
    drop(store, id)
    if (current.isOrganizer === true && Array.isArray(current.attendees) && current.attendees.length > 0) {
      sent.push({ user, eventId: id, what: 'cancel' })
    }
    return new Response(null, { status: 204 })
  }

  const respond = (what: 'accept' | 'decline' | 'tentativelyAccept') => (request: Routed) => {
    const [user, id] = [request.user ?? '', request.params.event ?? '']
    const store = getStore(user)
    const current = find(store, id)
    if (current === undefined) return itemNotFound()
    if (current.isOrganizer === true) {
      return graphError(400, 'ErrorInvalidRequest', "Your request can't be completed. You're the organizer.")
    }
    const { sendResponse = true, comment } = parseBody(request) as { sendResponse?: boolean; comment?: string }
    if (sendResponse) sent.push({ user, eventId: id, what, ...(comment !== undefined && { comment }) })
    const response = { accept: 'accepted', decline: 'declined', tentativelyAccept: 'tentativelyAccepted' }[what]
    if (what === 'decline') drop(store, id)
    else {
      store.change(id, (stored) => {
        const attendees = (stored.event.attendees ?? []) as { emailAddress: { address: string } }[]
        stored.event = {
          ...stored.event,
          responseStatus: { response },
          showAs: what === 'accept' ? 'busy' : 'tentative',
          attendees: attendees.map((attendee) =>
            attendee.emailAddress.address === user ? { ...attendee, status: { response } } : attendee,
          ),
        }
      })
    }
    return new Response(null, { status: 202 })
  }

  function instances(request: Routed): Response | Promise<Response> {
    const stored = getStore(request.user ?? '').find(request.params.event ?? '')
    const query = request.url.searchParams
    const [fromMs = 0, toMs = 0] = ['startDateTime', 'endDateTime'].map((name) => Date.parse(query.get(name) ?? ''))
    if (stored?.event.recurrence === undefined) return itemNotFound()
    if (Number.isNaN(fromMs + toMs)) return badRequest('startDateTime and endDateTime are required.')
    return collection(expandEvent(stored, fromMs, toMs), request)
  }

  /** Masters and single events. Filters by start and by the time of the last change; none by `transactionId`. */
  async function list(request: Routed): Promise<Response> {
    const store = getStore(request.user ?? '')
    const isWanted = parseFilter(request.url.searchParams.get('$filter') ?? '')
    if (isWanted === undefined) return badRequest('Invalid filter clause.')
    const events = store.in(request.params.calendar ?? '').flatMap(({ event }) => (isWanted(event) ? [event] : []))
    return skippedPage(request, await allShown(events, request), 10)
  }

  async function collection(events: Resource[], request: Routed): Promise<Response> {
    const top = boundedInteger(request.url.searchParams.get('$top'), 10, 1000)
    return Response.json({ value: await allShown(events.slice(0, top), request) })
  }

  function allShown(events: readonly Resource[], request: Routed): Promise<Resource[]> {
    return Promise.all(events.map((event) => shown(event, request).json() as Promise<Resource>))
  }

  function getCalendar(request: Routed): Response {
    const calendar = getStore(request.user ?? '').calendars.get(request.params.calendar ?? '')
    return calendar === undefined ? itemNotFound() : Response.json(calendar)
  }

  function getSchedule(request: Routed): Response {
    const {
      schedules = [],
      startTime,
      endTime,
    } = parseBody(request) as {
      schedules?: string[]
      startTime?: GraphTime
      endTime?: GraphTime
    }
    if (isPersonal(request.user ?? '')) return graphError(400, 'ErrorInvalidRequest', 'Not supported for this account.')
    if (startTime === undefined || endTime === undefined) return badRequest('startTime and endTime are required.')
    const [fromMs, toMs] = [graphTimeMs(startTime), graphTimeMs(endTime)]
    if (toMs - fromMs > 62 * DAY_MS) return badRequest('The requested time duration is not within the allowed limits.')
    const value = schedules.map((scheduleId) => {
      const store = getStore(scheduleId)
      const unknown = scheduleId.endsWith('@example.test') ? undefined : 'ErrorMailRecipientNotFound'
      const responseCode = scheduleError(scheduleId) ?? unknown
      if (responseCode !== undefined) {
        const error = { message: 'Unable to resolve e-mail address.', responseCode }
        return { scheduleId, scheduleItems: [], error }
      }
      const items = store.in('calendar').flatMap((stored) => expandEvent(stored, fromMs, toMs)) as GraphEvent[]
      const utc = (time: GraphTime) => ({
        dateTime: `${new Date(graphTimeMs(time)).toISOString().slice(0, 19)}.0000000`,
        timeZone: 'UTC',
      })
      return {
        scheduleId,
        workingHours: WORKING_HOURS,
        scheduleItems: items.map(({ start, end, showAs = 'busy' }) => ({
          status: showAs,
          start: utc(start),
          end: utc(end),
        })),
      }
    })
    return Response.json({ value })
  }

  return [
    { method: 'GET', pattern: CALENDAR, handle: getCalendar },
    { method: 'GET', pattern: `${CALENDAR}/events`, handle: list },
    { method: 'POST', pattern: `${CALENDAR}/events`, handle: create },
    { method: 'PATCH', pattern: EVENT, handle: patch },
    { method: 'DELETE', pattern: EVENT, handle: remove },
    { method: 'GET', pattern: `${EVENT}/instances`, handle: instances },
    ...(['accept', 'decline', 'tentativelyAccept'] as const).map((what) => ({
      method: 'POST',
      pattern: `${EVENT}/${what}`,
      handle: respond(what),
    })),
    { method: 'POST', pattern: `${ME}/calendar/getSchedule`, handle: getSchedule },
  ]
}

/** The user may not change events in some calendars that others share. */
function mayEdit(store: CalendarStore, { params }: Routed): boolean {
  return store.calendars.get(params.calendar ?? '')?.canEdit !== false
}

/** A stored event, an exception, or an occurrence by its id. */
export function find(store: CalendarStore, id: string): Resource | undefined {
  const stored = store.find(id)
  if (stored !== undefined)
    return { type: stored.event.recurrence ? 'seriesMaster' : 'singleInstance', ...stored.event }
  const { masterId, date } = parseInstanceId(store, id)
  const master = masterId === undefined ? undefined : store.find(masterId)
  if (master === undefined) return undefined
  if (id.includes('.x')) return master.exceptions.get(date)
  const dayMs = Date.parse(`${date}T00:00:00Z`)
  return expandEvent(master, dayMs - 2 * DAY_MS, dayMs + 3 * DAY_MS).find((instance) => instance.id === id)
}

function parseInstanceId(store: CalendarStore, id: string): { masterId: string | undefined; date: string } {
  const [, masterId, date = ''] = /^(.+)\.x?(\d{4}-\d{2}-\d{2})$/.exec(id) ?? []
  return { masterId: masterId !== undefined && store.find(masterId) !== undefined ? masterId : undefined, date }
}

function drop(store: CalendarStore, id: string): void {
  const { masterId, date } = parseInstanceId(store, id)
  if (masterId === undefined) {
    store.delete(id)
    return
  }
  store.change(masterId, ({ exceptions, cancelled }) => {
    exceptions.delete(date)
    cancelled.add(date)
  })
}

/** The members of a request, with times in IANA zones. */
function fromBody(body: Resource): Resource | Response {
  const written: Resource = { ...body }
  for (const name of ['start', 'end'] as const) {
    const time = body[name] as GraphTime | undefined
    if (time === undefined) continue
    const zone = time.timeZone === 'UTC' ? 'UTC' : WINDOWS_ZONES.get(time.timeZone.toLowerCase())
    if (zone === undefined) return badRequest(`A valid TimeZone value must be specified: '${time.timeZone}'.`)
    if (body.isAllDay === true && !time.dateTime.endsWith('T00:00:00')) return badRequest('Must be midnight.')
    written[name] = { dateTime: time.dateTime, timeZone: zone }
    written[name === 'start' ? 'originalStartTimeZone' : 'originalEndTimeZone'] = time.timeZone
  }
  const { pattern, range } = (body.recurrence ?? {}) as Partial<PatternedRecurrence>
  const needed = pattern && REQUIRED[pattern.type]
  if (pattern && (needed === undefined || needed.some((name) => pattern[name as keyof typeof pattern] === undefined))) {
    return badRequest('The recurrence pattern is not valid.')
  }
  if (range && !/^\d{4}-\d{2}-\d{2}$/.test(range.startDate)) return badRequest('The recurrence range is not valid.')
  return written
}

const REQUIRED: Record<string, string[]> = {
  daily: ['interval'],
  weekly: ['interval', 'daysOfWeek', 'firstDayOfWeek'],
  absoluteMonthly: ['interval', 'dayOfMonth'],
  relativeMonthly: ['interval', 'daysOfWeek'],
  absoluteYearly: ['interval', 'dayOfMonth', 'month'],
  relativeYearly: ['interval', 'daysOfWeek', 'month'],
}

function withoutNulls(body: Resource): Resource {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}

const LINE = '_'.repeat(80)

/** Adds the parts of an online meeting, as Exchange does: the link, also in the body. */
function buildMeeting({ isOnlineMeeting, body }: Resource, id: string): Resource {
  if (isOnlineMeeting !== true) return {}
  const joinUrl = `https://teams.microsoft.com/l/meetup-join/${encodeURIComponent(id)}?context=%7b%7d&x=1`
  const { content = '' } = (body ?? {}) as { content?: string }
  return {
    isOnlineMeeting: true,
    onlineMeeting: { joinUrl },
    body: { content: `${content}\r\n${LINE}\r\nMicrosoft Teams meeting\r\nJoin<${joinUrl}>\r\n${LINE}\r\n` },
  }
}

/** A body without the link ends the online meeting. */
function keptMeeting({ onlineMeeting }: Resource, { body }: Resource): Resource {
  const { joinUrl = '' } = (onlineMeeting ?? {}) as { joinUrl?: string }
  const { content } = (body ?? {}) as { content?: string }
  if (content === undefined || content.includes(joinUrl.split('?')[0] ?? '')) {
    const plain = content?.replace(/<br>/g, '\n').replace(/<(?!http)[^>]*>/g, '')
    return plain === undefined ? {} : { body: { content: decodeHTML(plain) } }
  }
  return { isOnlineMeeting: false, onlineMeeting: null }
}

function withStatus(response: Response, status: number): Response {
  return new Response(response.body, { status, headers: response.headers })
}

/** Undefined for what Graph would not understand, as far as it is known here. */
function parseFilter(filter: string): ((event: GraphEvent) => boolean) | undefined {
  const tests = filter.split(' and ').map((clause) => {
    const since = /^lastModifiedDateTime ge (\S+)$/.exec(clause)?.[1]
    if (since !== undefined) return (event: GraphEvent) => String(event.lastModifiedDateTime) >= since
    const [, operator, time = ''] =
      /^start\/dateTime (ge|lt) '(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)'$/.exec(clause) ?? []
    const ms = Date.parse(`${time}Z`)
    if (operator === undefined) return undefined
    return ({ start }: GraphEvent) => (operator === 'ge' ? graphTimeMs(start) >= ms : graphTimeMs(start) < ms)
  })
  if (filter === '') return () => true
  return tests.includes(undefined) ? undefined : (event) => tests.every((test) => test?.(event))
}
