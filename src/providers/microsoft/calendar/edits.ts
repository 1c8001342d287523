import { DAY_MS, parseDay, parseLocal } from '../../../platform/calendar/days.ts'
import { findZone, UTC } from '../../../platform/calendar/zone.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type CalendarEdits,
  type EventInput,
  type EventTarget,
  type EventTime,
  ProviderError,
  type RemoteEvent,
} from '../../contract/index.ts'
import { type Json, list, object, text, time } from '../../shared/rest/index.ts'
import { type Graph, requireBody, requirePage, SYNC_LIMITS } from '../client.ts'
import { AS_TEXT } from '../map.ts'
import { bodyOfEvent, toSeriesStart, withMeetingText } from './body.ts'
import { EVENT_FIELDS, remoteEvent, seriesStart } from './map.ts'
import { type CalendarContext, calendarPath, eventPath, failingIfRefused, readSeries } from './series.ts'
import { findTransaction } from './view.ts'

const READING = 'reading an event'
const CREATING = 'creating an event'
const UPDATING = 'updating an event'
const DELETING = 'deleting an event'
const RESPONDING = 'answering an invitation'

const ACTIONS = { accepted: 'accept', declined: 'decline', tentative: 'tentativelyAccept' } as const
const WITH_TEXT = { prefer: [AS_TEXT], maxString: SYNC_LIMITS.maxString }
const MINUTE_MS = 60_000
/** Requests with one key are repeated for a day. */
const REPEATED_MS = 2 * DAY_MS

/** Graph notifies the attendees of a meeting always; `notify` decides only whether a response is sent. */
export function microsoftCalendarEdits(graph: Graph, email: string, clock: Clock): CalendarEdits {
  function buildContext(calendarId: string, doing: string, signal: AbortSignal): CalendarContext {
    return { graph, email, timeZone: null, calendarId, doing, signal }
  }

  function mapped(item: Json, context: CalendarContext, master?: Json): RemoteEvent {
    const { doing } = context
    if (item.isCancelled === true) throw new ProviderError('not_found', `${doing}: the event was cancelled`)
    const event = remoteEvent(item, master === undefined ? { email } : { email, master })
    if (event === undefined) throw new ProviderError('unavailable', `${doing}: the response could not be read`)
    return event
  }

  /** The item that the target means, and its master where the target is an instance. */
  async function find(
    { eventId, instance }: EventTarget,
    context: CalendarContext,
    prefer: string[] = [AS_TEXT],
  ): Promise<{ item: Json; master?: Json }> {
    const { calendarId, doing, signal } = context
    const path = eventPath(calendarId, eventId)
    const query = { $select: EVENT_FIELDS }
    if (instance === null) {
      return { item: await graph.get(path, { query, prefer, doing, signal, ...SYNC_LIMITS }, object) }
    }
    const startMs = toInstant(instance)
    const endMs = startMs + ('date' in instance ? DAY_MS : MINUTE_MS)
    const range = { startDateTime: new Date(startMs).toISOString(), endDateTime: new Date(endMs).toISOString() }
    const event = { path, query, prefer }
    const around = { path: `${path}/instances`, query: { ...query, ...range }, prefer }
    const results = await graph.batch([event, around], { doing, signal, ...SYNC_LIMITS })
    const master = requireBody(results.get(event))
    const item = requirePage(results.get(around), doing).items.find((found) => isInstance(found, startMs, master))
    return { item: item ?? (await findMoved(startMs, master, context)), master }
  }

  /** An instance that was moved away from its original start. */
  async function findMoved(startMs: number, master: Json, context: CalendarContext): Promise<Json> {
    const [series] = await readSeries(failingIfRefused(context), [text(master.id) ?? ''])
    const moved = series?.exceptions.find(({ originalStart }) => originalStart && toInstant(originalStart) === startMs)
    if (moved === undefined || moved.status === 'cancelled')
      throw new ProviderError('not_found', `${context.doing}: the series has no such instance`)
    const { calendarId, doing, signal } = context
    const request = { query: { $select: EVENT_FIELDS }, prefer: [AS_TEXT], doing, signal, ...SYNC_LIMITS }
    return graph.get(eventPath(calendarId, moved.eventId), request, object)
  }

  /** The members that ask for an online meeting of the kind that the calendar has. */
  async function onlineMeeting({ calendarId, doing, signal }: CalendarContext): Promise<Json> {
    const query = { $select: 'allowedOnlineMeetingProviders,defaultOnlineMeetingProvider' }
    const calendar = await graph.get(calendarPath(calendarId), { query, doing, signal }, object)
    const allowed = list(calendar.allowedOnlineMeetingProviders).flatMap((name) => text(name) ?? [])
    const providers = ['teamsForBusiness', text(calendar.defaultOnlineMeetingProvider), ...allowed]
    const provider = providers.find((name) => name !== undefined && name !== 'unknown' && allowed.includes(name))
    if (provider === undefined) {
      throw new ProviderError('rejected', `${doing}: this calendar has no online meetings`, { unsupported: true })
    }
    return { isOnlineMeeting: true, onlineMeetingProvider: provider }
  }

  /** Finds the event that an earlier request with this key created, perhaps with other contents. */
  async function findCreated(key: string, start: EventTime, context: CalendarContext): Promise<Json> {
    const { calendarId, doing, signal } = context
    const times = { startMs: toInstant(start), sinceMs: clock.now() - REPEATED_MS }
    const id = await findTransaction(context, key, times)
    if (id === undefined) throw new ProviderError('exists', `${doing}: the event exists`)
    return graph.get(
      eventPath(calendarId, id),
      { query: { $select: EVENT_FIELDS }, doing, signal, ...WITH_TEXT },
      object,
    )
  }

  /** Exchange may say of an event that was deleted before that it cannot be deleted. */
  async function isGone(target: EventTarget, error: ProviderError, context: CalendarContext): Promise<boolean> {
    if (error.kind !== 'rejected' || error.missingScope) return error.kind === 'not_found'
    try {
      await find(target, context)
      return false
    } catch (failure) {
      return failure instanceof ProviderError && failure.kind === 'not_found'
    }
  }

  async function changesBody(changes: Partial<EventInput>, current: Json, context: CalendarContext): Promise<Json> {
    const start = changes.start === undefined ? seriesStart(current) : toSeriesStart(changes.start)
    const { description, conference, ...others } = changes
    return {
      ...bodyOfEvent(others, start, context.doing),
      ...(description !== undefined && { body: withMeetingText(description, current) }),
      ...(conference === true && current.isOnlineMeeting !== true && (await onlineMeeting(context))),
    }
  }

  return {
    async getEvent(target, signal) {
      const context = buildContext(target.calendarId, READING, signal)
      const { item, master } = await find(target, context)
      return mapped(item, context, master)
    },

    async createEvent({ calendarId, key, event, signal }) {
      const context = buildContext(calendarId, CREATING, signal)
      const { conference, ...others } = event
      const body = {
        ...bodyOfEvent(others, toSeriesStart(event.start), CREATING),
        ...(conference && (await onlineMeeting(context))),
        transactionId: key,
      }
      const change = { body, doing: CREATING, signal, isRepeatable: true, ...WITH_TEXT }
      const item = await graph.send('POST', `${calendarPath(calendarId)}/events`, change).catch((error: unknown) => {
        if (error instanceof ProviderError && error.kind === 'exists') return findCreated(key, event.start, context)
        throw error
      })
      return mapped(item, context)
    },

    async updateEvent({ changes, etag, signal, ...target }) {
      const context = buildContext(target.calendarId, UPDATING, signal)
      // The current body in HTML, in which the text of an online meeting must stay.
      const { item, master } = await find(target, context, [])
      const body = await changesBody(changes, item, context)
      const path = eventPath(target.calendarId, text(item.id) ?? '')
      const change = { body, doing: UPDATING, signal, ifMatch: etag ?? undefined, ...WITH_TEXT }
      return mapped(await graph.send('PATCH', path, change), context, master)
    },

    async deleteEvent({ signal, ...target }) {
      const context = buildContext(target.calendarId, DELETING, signal)
      try {
        const id = target.instance === null ? target.eventId : text((await find(target, context)).item.id)
        const path = eventPath(target.calendarId, id ?? '')
        await graph.send('DELETE', path, { doing: DELETING, signal, isRepeatable: true })
      } catch (error) {
        if (!(error instanceof ProviderError) || !(await isGone(target, error, context))) throw error
      }
    },

    async respond({ response, comment, notify, signal, ...target }) {
      const context = buildContext(target.calendarId, RESPONDING, signal)
      const { item, master } = await find(target, context)
      if (item.isOrganizer === true || list(item.attendees).length === 0) {
        throw new ProviderError('rejected', `${RESPONDING}: the account is not invited to this event`, {
          unsupported: true,
        })
      }
      const path = eventPath(target.calendarId, text(item.id) ?? '')
      const body = { sendResponse: notify, ...(comment !== '' && { comment }) }
      await graph.send('POST', `${path}/${ACTIONS[response]}`, { body, doing: RESPONDING, signal, isRepeatable: true })
      try {
        return mapped((await find(target, context)).item, context, master)
      } catch (error) {
        // Outlook moves a meeting that was declined to the deleted items.
        if (error instanceof ProviderError && error.kind === 'not_found') return null
        throw error
      }
    },
  }
}

function isInstance(item: Json, startMs: number, master: Json): boolean {
  const ms = time(item.originalStart) ?? time(`${text(object(item.start).dateTime)?.slice(0, 19)}Z`)
  // Originals of all-day events are at midnight of any zone.
  const isSameDay = master.isAllDay === true && ms !== undefined && Math.abs(ms - startMs) < DAY_MS
  return ms === startMs || (isSameDay && remoteDate(item, master) === startMs / DAY_MS)
}

function remoteDate(item: Json, master: Json): number | undefined {
  const original = remoteEvent(item, { email: '', master })?.originalStart
  return original && 'date' in original ? parseDay(original.date) : undefined
}

function toInstant(start: EventTime): number {
  if ('date' in start) return (parseDay(start.date) ?? 0) * DAY_MS
  return (findZone(start.timeZone ?? 'UTC') ?? UTC).toUtc(parseLocal(start.dateTime) ?? 0)
}
