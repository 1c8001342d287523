import * as Type from 'typebox'
import { ProviderError } from '../../contract/index.ts'
import {
  type FailedRequest,
  type Json,
  list,
  object,
  parser,
  type RateLimit,
  type RestMailbox,
  type RestResponse,
  text,
} from '../../shared/rest/index.ts'
import { googleError, readReasons } from '../errors.ts'
import { CALENDAR_FIELDS, EVENT_FIELDS, type PageContext } from './map.ts'

export const ROOT = '/calendar/v3'
/** Google's default quota is 600 requests a minute for a user. */
export const RATE_LIMIT: RateLimit = { concurrency: 4, quota: { unitsPerMinute: 600, unlimited: 'urgent' } }
/** Of all users of a Google project together. */
export const PROJECT_REQUESTS = 10_000

/** Google allows 2,500. An event may have hundreds of attendees, and a page has at most 300,000 values. */
const PAGE_EVENTS = 100
const PAGE_CALENDARS = 250
/** Descriptions are cut at `MAX_STRING`, so a page is long only on the way. */
const MAX_BYTES = 64 * 1024 * 1024
const MAX_STRING = 64 * 1024
/** The attendees of an event with more are left out by Google. */
const MAX_ATTENDEES = 1000

const API = {
  name: 'the Google Calendar API (calendar-json.googleapis.com)',
  scope: 'calendar.readonly (for changes calendar.events)',
}

/** The user may not do this with one calendar, whatever scopes there are. */
const NO_ACCESS: ReadonlySet<string> = new Set(['requiredAccessLevel', 'forbidden', 'forbiddenForNonOrganizer'])

export function calendarError(
  response: RestResponse,
  doing: string,
  nowMs: number,
  request?: Pick<FailedRequest, 'isApplication'>,
): ProviderError {
  const error = googleError(response, doing, nowMs, { ...API, ...request })
  if (error.kind === 'rate_limited' && readReasons(response.body).includes('quotaExceeded')) {
    const why = 'the user reached a usage limit of Google Calendar, such as that of invitations'
    return new ProviderError('rate_limited', `${doing}: ${why}`, { retryAfterMs: error.retryAfterMs ?? 0 })
  }
  const hasNoCalendar = error.kind === 'rejected' && readReasons(response.body).includes('notACalendarUser')
  // Not the token is refused, but our address, such as one of a domain that is not verified.
  if (readReasons(response.body).some((reason) => reason.startsWith('push.') || reason.startsWith('webhookUrl'))) {
    return new ProviderError('rejected', `${doing}: Google does not send notifications to this address`)
  }
  if (error.kind === 'rejected' && response.status === 409) {
    return readReasons(response.body).includes('duplicate')
      ? new ProviderError('exists', `${doing}: an event with this id exists`)
      : new ProviderError('conflict', `${doing}: Google made another change at the same time. Try again.`)
  }
  if (readReasons(response.body).some((reason) => NO_ACCESS.has(reason))) {
    return new ProviderError('rejected', `${doing}: Google gives the user no access to this calendar`, { denied: true })
  }
  return hasNoCalendar ? new ProviderError('not_found', `${doing}: the user has no Google Calendar`) : error
}

const parseEvents = parser(
  Type.Object({
    items: Type.Optional(Type.Array(Type.Unknown())),
    nextPageToken: Type.Optional(Type.String()),
    nextSyncToken: Type.Optional(Type.String()),
    timeZone: Type.Optional(Type.String()),
    defaultReminders: Type.Optional(Type.Array(Type.Unknown())),
  }),
)
const parseCalendars = parser(
  Type.Object({ items: Type.Optional(Type.Array(Type.Unknown())), nextPageToken: Type.Optional(Type.String()) }),
)

export function eventsPath(calendarId: string): string {
  return `${ROOT}/calendars/${encodeURIComponent(calendarId)}/events`
}

export interface EventQuery {
  timeMin?: string | undefined
  timeMax?: string | undefined
  singleEvents: boolean
  syncToken?: string | undefined
  pageToken?: string | undefined
}

export interface EventPage {
  items: Json[]
  /** The next page; undefined on the last one. */
  next: string | undefined
  /** On the last page only. */
  syncToken: string | undefined
  context: PageContext
}

/**
 * One page of events. `showDeleted` is never sent: without a sync token Google then leaves out deleted events but not cancelled
 * instances, with one it returns both.
 */
export async function eventPage(
  mailbox: RestMailbox,
  calendarId: string,
  query: EventQuery,
  { doing, signal }: { doing: string; signal: AbortSignal },
): Promise<EventPage> {
  const page = await mailbox.json(
    {
      method: 'GET',
      path: eventsPath(calendarId),
      doing,
      signal,
      query: {
        ...query,
        singleEvents: String(query.singleEvents),
        maxResults: PAGE_EVENTS,
        maxAttendees: MAX_ATTENDEES,
        fields: `nextPageToken,nextSyncToken,timeZone,defaultReminders,items(${EVENT_FIELDS})`,
      },
      maxBytes: MAX_BYTES,
      maxString: MAX_STRING,
    },
    parseEvents,
  )
  const { items = [], nextPageToken, nextSyncToken, timeZone, defaultReminders = [] } = page
  return {
    items: items.map(object),
    next: nextPageToken || undefined,
    syncToken: nextSyncToken,
    context: { timeZone, defaultReminders },
  }
}

/** One page of the user's list of calendars, without those that the user has hidden. */
export async function calendarPage(mailbox: RestMailbox, pageToken: string | undefined, signal: AbortSignal) {
  const { items = [], nextPageToken } = await mailbox.json(
    {
      method: 'GET',
      path: `${ROOT}/users/me/calendarList`,
      doing: 'listing the calendars',
      signal,
      query: { maxResults: PAGE_CALENDARS, pageToken, fields: `nextPageToken,items(${CALENDAR_FIELDS})` },
    },
    parseCalendars,
  )
  return { items: items.map(object), next: nextPageToken || undefined }
}

/** Reads the context of a single event; a page of events contains it already. */
export async function readContext(
  mailbox: RestMailbox,
  calendarId: string,
  doing: string,
  signal: AbortSignal,
): Promise<PageContext> {
  const path = `${ROOT}/users/me/calendarList/${encodeURIComponent(calendarId)}`
  const query = { fields: 'timeZone,defaultReminders' }
  const { timeZone, defaultReminders } = await mailbox.json({ method: 'GET', path, query, doing, signal }, object)
  return { timeZone: text(timeZone), defaultReminders: list(defaultReminders) }
}
