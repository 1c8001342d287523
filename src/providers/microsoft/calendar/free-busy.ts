import { DAY_MS, parseDay, parseLocal } from '../../../platform/calendar/days.ts'
import { findZone, UTC } from '../../../platform/calendar/zone.ts'
import {
  type CalendarFreeBusy,
  type EventTime,
  type FreeBusy,
  type FreeBusyRequest,
  mergeRanges,
  ProviderError,
  type TimeRange,
} from '../../contract/index.ts'
import { type Json, list, object, text } from '../../shared/rest/index.ts'
import type { Graph } from '../client.ts'
import { isNoMailbox } from '../errors.ts'
import { isBusy, remoteEvent } from './map.ts'
import { readView, withDays } from './view.ts'

const DOING = 'reading busy times'
/** Exchange allows 62 days. */
const MAX_RANGE_MS = 60 * DAY_MS
const MAX_EVENTS = 10_000
/** Addresses in one request. */
const MAX_PEOPLE = 20
const FIELDS = 'id,type,start,end,isAllDay,isCancelled,showAs,originalStartTimeZone,originalEndTimeZone'

/** Calendars are read from their view; people by `getSchedule`, which personal accounts do not have. */
export function microsoftFreeBusy(graph: Graph, email: string): CalendarFreeBusy {
  async function ofCalendar(calendarId: string, { range, timeZone, signal }: FreeBusyRequest): Promise<FreeBusy> {
    const context = { graph, email, timeZone, calendarId, doing: DOING, signal }
    try {
      const items = await readView(context, withDays(range), MAX_EVENTS, FIELDS)
      const busy = items.flatMap((item) => busyRange(item, range, timeZone) ?? [])
      return { id: calendarId, busy: mergeRanges(busy), error: null }
    } catch (error) {
      const isRefused = error instanceof ProviderError && error.missingScope && (await mayListCalendars(graph, signal))
      return { id: calendarId, busy: [], error: isRefused ? 'unavailable' : classifyFailure(error) }
    }
  }

  async function ofPeople(ids: readonly string[], { range, signal }: FreeBusyRequest): Promise<FreeBusy[]> {
    const all = new Map<string, FreeBusy>(ids.map((id) => [id, { id, busy: [], error: null }]))
    for (let from = range.from; from < range.to; from += MAX_RANGE_MS) {
      const to = Math.min(range.to, from + MAX_RANGE_MS)
      const utc = (ms: number) => ({ dateTime: new Date(ms).toISOString().slice(0, 19), timeZone: 'UTC' })
      const body = { schedules: ids, startTime: utc(from), endTime: utc(to), availabilityViewInterval: 60 }
      const change = { body, doing: DOING, signal, isRepeatable: true }
      const response = await graph.send('POST', '/me/calendar/getSchedule', change).catch((error: unknown) => {
        // Personal accounts have no schedules.
        if (classifyFailure(error) === 'unavailable') return undefined
        throw error
      })
      const found = new Map(
        list(response?.value).map((schedule) => [text(object(schedule).scheduleId)?.toLowerCase(), object(schedule)]),
      )
      for (const [id, result] of all) {
        const { ranges, error } = mapSchedule(found.get(id.toLowerCase()))
        all.set(id, { id, busy: [...result.busy, ...ranges], error: result.error ?? error })
      }
    }
    return [...all.values()].map(({ id, busy, error }) => ({
      id,
      busy: error === null ? mergeRanges(clipped(busy, range)) : [],
      error,
    }))
  }

  return {
    async freeBusy(request) {
      const people = request.ids.filter(isAddress)
      const results = new Map<string, FreeBusy>()
      for (let start = 0; start < people.length; start += MAX_PEOPLE) {
        for (const result of await ofPeople(people.slice(start, start + MAX_PEOPLE), request))
          results.set(result.id, result)
      }
      for (const id of request.ids) {
        if (!results.has(id)) results.set(id, await ofCalendar(id, request))
      }
      return request.ids.map((id) => results.get(id) ?? { id, busy: [], error: 'unavailable' })
    },
  }
}

function isAddress(id: string): boolean {
  return id.includes('@')
}

/** Throws errors that say nothing about the calendar or the person. */
function classifyFailure(error: unknown): 'not_found' | 'unavailable' {
  // Without a cursor, 410 says that the calendar is gone.
  const isGone = error instanceof ProviderError && (error.kind === 'not_found' || error.kind === 'cursor_expired')
  if (isGone) return 'not_found'
  if (error instanceof ProviderError && error.kind === 'rejected' && !error.missingScope) return 'unavailable'
  throw error
}

/** Graph refuses a calendar as it refuses a missing scope. With the scope, the list of calendars can be read. */
async function mayListCalendars(graph: Graph, signal: AbortSignal): Promise<boolean> {
  try {
    await graph.page('/me/calendars', { query: { $select: 'id', $top: 1 }, doing: DOING, signal })
    return true
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return false
  }
}

function busyRange(item: Json, range: TimeRange, timeZone: string): TimeRange | undefined {
  const event = remoteEvent(item, { email: '' })
  if (event === undefined || !event.busy || event.status === 'cancelled') return undefined
  const ms = (time: EventTime) => {
    if ('date' in time) return (findZone(time.timeZone ?? timeZone) ?? UTC).toUtc((parseDay(time.date) ?? 0) * DAY_MS)
    return (findZone(time.timeZone ?? 'UTC') ?? UTC).toUtc(parseLocal(time.dateTime) ?? 0)
  }
  return clipped([{ from: ms(event.start), to: ms(event.end) }], range)[0]
}

function clipped(ranges: readonly TimeRange[], { from, to }: TimeRange): TimeRange[] {
  return ranges
    .map((range) => ({ from: Math.max(range.from, from), to: Math.min(range.to, to) }))
    .filter((range) => range.from < range.to)
}

function mapSchedule(schedule: Json | undefined): { ranges: TimeRange[]; error: FreeBusy['error'] } {
  if (schedule === undefined) return { ranges: [], error: 'unavailable' }
  const { responseCode } = object(schedule.error)
  if (responseCode !== undefined) {
    return { ranges: [], error: isNoMailbox(text(responseCode) ?? '') ? 'not_found' : 'unavailable' }
  }
  const ranges = list(schedule.scheduleItems).flatMap((item) => {
    const { status, start, end } = object(item)
    const [from, to] = [start, end].map((time) => parseLocal(text(object(time).dateTime) ?? ''))
    const isTaken = status !== 'unknown' && isBusy(status)
    return isTaken && from !== undefined && to !== undefined ? [{ from, to }] : []
  })
  return { ranges, error: null }
}
