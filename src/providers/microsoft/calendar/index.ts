/** Outlook calendars over Graph: lists, sync by one delta query per calendar, reads of a time range, changes of events, and busy times. */
import { DAY_MS } from '../../../platform/calendar/days.ts'
import { findZone } from '../../../platform/calendar/zone.ts'
import { ianaZone } from '../../../platform/calendar/zone-names.ts'
import { addToGroup } from '../../../platform/group-by.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type CalendarAccount,
  type CalendarProvider,
  type CalendarPush,
  type EventRangeRequest,
  type MailAccess,
  ProviderError,
  type PushProvider,
  type RemoteCalendar,
  type RemoteEvent,
  type TimeRange,
  type UnreadableEvent,
} from '../../contract/index.ts'
import { type Json, list, object, PageLinks, text } from '../../shared/rest/index.ts'
import type { Graph } from '../client.ts'
import { microsoftCalendarEdits } from './edits.ts'
import { microsoftFreeBusy } from './free-busy.ts'
import { CALENDAR_FIELDS, readOwner, readType, remoteCalendar, remoteEvent } from './map.ts'
import { type CalendarContext, readSeries, type Unit } from './series.ts'
import { syncEvents } from './sync.ts'
import { MAX_VIEW_MS, mastersInto, readBeginning, readView, withDays } from './view.ts'

const MAX_CALENDARS = 5000
const MAX_EVENTS = 10_000
const PAGE = 100
const MONTH_MS = 31 * DAY_MS

interface MicrosoftCalendarsDeps {
  openGraph(access: MailAccess, urgent: boolean): Graph
  clock: Clock
  /** Subscribes to the events of a mailbox. */
  push: PushProvider
  /** How many events a read of a time range may return. */
  maxEvents?: number | undefined
}

export function microsoftCalendars({
  openGraph,
  clock,
  push,
  maxEvents = MAX_EVENTS,
}: MicrosoftCalendarsDeps): Required<CalendarProvider> {
  return {
    open(access): CalendarAccount {
      const { email } = access
      return {
        listCalendars: (signal) => listCalendars(openGraph(access, false), { email, nowMs: clock.now(), signal }),
        syncEvents: (request) => syncEvents({ graph: openGraph(access, false), email }, request, clock),
        readRange: (request) => readRange({ graph: openGraph(access, true), email }, request, maxEvents),
      }
    },
    edits: (access) => microsoftCalendarEdits(openGraph(access, true), access.email, clock),
    freeBusy: (access) => microsoftFreeBusy(openGraph(access, true), access.email),
    push: calendarPush(push),
  }
}

/** One subscription for the events of all calendars. */
function calendarPush({ begin, renew, end }: PushProvider): CalendarPush {
  return {
    covers: 'account',
    begin: (access, _calendarId, target) => begin(access, target),
    renew: (access, _calendarId, id, target) => renew(access, id, target),
    end,
  }
}

async function listCalendars(graph: Graph, { email, nowMs, signal }: MailboxRequest): Promise<RemoteCalendar[]> {
  const doing = 'listing the calendars'
  const query = { $select: CALENDAR_FIELDS, $top: PAGE }
  let page = await graph.page('/me/calendars', { query, doing, signal })
  const items = [...page.items]
  const links = new PageLinks(doing)
  while (page.nextLink !== undefined && items.length < MAX_CALENDARS) {
    const path = graph.resolvePath(links.follow(page.nextLink, page.items.length), doing)
    page = await graph.page(path, { doing, signal })
    items.push(...page.items)
  }
  // A mailbox may have addresses other than the one that its user signed in with.
  const own = items.filter(({ isDefaultCalendar }) => isDefaultCalendar === true).map(readOwner)
  const addresses = new Set([email.toLowerCase(), ...own.filter((address) => address !== '')])
  const timeZone = await mailboxZone(graph, { email, nowMs, signal })
  return items.flatMap((item) => remoteCalendar(item, { ownAddresses: addresses, timeZone }) ?? [])
}

async function readRange(
  { graph, email }: Pick<CalendarContext, 'graph' | 'email'>,
  { calendarId, timeZone = null, range, expand, signal }: EventRangeRequest,
  maxEvents: number,
): Promise<RemoteEvent[]> {
  const context: CalendarContext = { graph, email, timeZone, calendarId, doing: 'reading events', signal }
  const items = await itemsIn(context, withDays(range), maxEvents)
  const events = items.filter(isNoMaster).flatMap((item) => remoteEvent(item, context) ?? [])
  if (expand) return events.filter(isShown)
  const masters = new Set(items.flatMap((item) => (isNoMaster(item) ? text(item.seriesMasterId) : text(item.id)) || []))
  const occurrences = new Map<string, Json[]>()
  for (const item of items) {
    if (readType(item) === 'occurrence') addToGroup(occurrences, text(item.seriesMasterId) ?? '', item)
  }
  const refused: UnreadableEvent[] = []
  const report = (event: UnreadableEvent) => event.isRefused && refused.push(event)
  const complete = await readSeries({ ...context, report }, [...masters], { occurrences })
  const series = [...complete, ...refused.flatMap((event) => buildRefusedUnit(event, items, context) ?? [])]
  const seriesIds = new Set(series.map(({ event }) => event.eventId))
  const isOfKnown = ({ recurringEventId }: RemoteEvent) => recurringEventId !== null && seriesIds.has(recurringEventId)
  return [
    ...events.filter((event) => !isOfKnown(event) && isShown(event)),
    ...series.flatMap(({ event, exceptions }) => [event, ...exceptions]),
  ]
}

/**
 * Shows a series that Graph does not return: its master, if Graph listed it, or else the times of its occurrences, and
 * the exceptions that Graph listed. Undefined when only exceptions are in the range. Throws `unavailable` when none of its times is known,
 * because they are not free.
 */
function buildRefusedUnit(
  { eventId, reason, placeholder }: UnreadableEvent,
  items: readonly Json[],
  context: CalendarContext,
): Unit | undefined {
  const master = items.find((item) => item.id === eventId)
  const event = (master && remoteEvent(master, context)) ?? placeholder
  const exceptions = items.filter((item) => readType(item) === 'exception' && item.seriesMasterId === eventId)
  if (event === undefined && exceptions.length === 0) throw new ProviderError('unavailable', reason)
  return event && { event, exceptions: exceptions.flatMap((item) => remoteEvent(item, context) ?? []) }
}

/** A view. Of a range that is too long for one: a view of its first month, what begins later, and series that began before. */
async function itemsIn(context: CalendarContext, { from, to }: TimeRange, maxEvents: number): Promise<Json[]> {
  if (!Number.isFinite(from)) return readBeginning(context, { from, to }, maxEvents)
  if (to - from <= MAX_VIEW_MS) return readView(context, { from, to }, maxEvents)
  const later = { from: from + MONTH_MS, to }
  const items = [
    ...(await mastersInto(context, { from, to }, maxEvents)),
    ...(await readView(context, { from, to: later.from }, maxEvents)),
    ...(await readBeginning(context, later, maxEvents)),
  ]
  return [...new Map(items.map((item) => [item.id, item])).values()]
}

function isNoMaster(item: Json): boolean {
  return readType(item) !== 'seriesMaster'
}

/** A meeting that its organizer cancelled remains in the calendar of the others. */
function isShown({ status }: RemoteEvent): boolean {
  return status !== 'cancelled'
}

interface MailboxRequest {
  email: string
  nowMs: number
  signal: AbortSignal
}

const READING_ZONE = 'reading the time zone of the mailbox'
const HOUR_MS = 3_600_000

/**
 * The zone of the mailbox's working hours, which `getSchedule` returns with the permission to read calendars; the settings of a mailbox need one
 * of their own. Null for personal accounts, which have no schedules, and for a zone that a user has defined.
 */
async function mailboxZone(graph: Graph, { email, nowMs, signal }: MailboxRequest): Promise<string | null> {
  const utc = (ms: number) => ({ dateTime: new Date(ms).toISOString().slice(0, 19), timeZone: 'UTC' })
  // Any time will do: only the working hours are read.
  const times = { startTime: utc(nowMs), endTime: utc(nowMs + HOUR_MS), availabilityViewInterval: 60 }
  const body = { schedules: [email], ...times }
  try {
    const change = { body, doing: READING_ZONE, signal, isRepeatable: true }
    const response = await graph.send('POST', '/me/calendar/getSchedule', change)
    const { workingHours } = object(list(response.value)[0])
    const name = text(object(object(workingHours).timeZone).name) ?? ''
    return findZone(ianaZone(name) ?? '')?.name ?? null
  } catch (error) {
    // The list of calendars, which needs the same scope, has been read before.
    if (error instanceof ProviderError && (error.kind === 'rejected' || error.kind === 'not_found')) return null
    throw error
  }
}
