import { parseLocal } from '../../../platform/calendar/days.ts'
import { findZone, UTC } from '../../../platform/calendar/zone.ts'
import { sha256 } from '../../../platform/crypto/sha256.ts'
import {
  type CalendarEdits,
  type EventInput,
  type EventTarget,
  type EventTime,
  ProviderError,
  type RemoteEvent,
  type ZonedTime,
} from '../../contract/index.ts'
import { type Json, list, object, type RestMailbox, type RestRequest, text } from '../../shared/rest/index.ts'
import { eventsPath, readContext } from './client.ts'
import { CHANGED_FIELDS, EVENT_FIELDS, mappedItem } from './map.ts'

const READING = 'reading an event'
const CREATING = 'creating an event'
const UPDATING = 'updating an event'
const DELETING = 'deleting an event'
const RESPONDING = 'answering an invitation'

/** How often a change is made again because the event changed between reading and writing it. */
const MAX_TRIES = 3

/** `createRequest` of a conference needs version 1. */
const WRITE_QUERY = { conferenceDataVersion: 1, fields: EVENT_FIELDS }

export function googleCalendarEdits(mailbox: RestMailbox): CalendarEdits {
  async function read(
    target: EventTarget,
    doing: string,
    signal: AbortSignal,
    fields: string = EVENT_FIELDS,
  ): Promise<Json> {
    const request = { method: 'GET', path: eventPath(target), query: { fields }, doing, signal } as const
    return existing(await mailbox.json(request, object), doing)
  }

  /** Events refer to the default reminders of the calendar, and may lack a zone. */
  async function mapped(item: Json, calendarId: string, doing: string, signal: AbortSignal): Promise<RemoteEvent> {
    const needsContext = object(item.reminders).useDefault === true || object(item.start).timeZone === undefined
    const context = needsContext ? await readContext(mailbox, calendarId, doing, signal) : { defaultReminders: [] }
    const event = mappedItem(item, context)?.event
    if (event === undefined) throw new ProviderError('unavailable', `${doing}: the response could not be read`)
    return event
  }

  function patch(target: EventTarget, body: Json, options: PatchOptions): Promise<Json> {
    const { etag, notify, doing, signal } = options
    return mailbox
      .json(
        {
          method: 'PATCH',
          path: eventPath(target),
          doing,
          signal,
          body,
          ...(etag !== null && { headers: { 'if-match': etag } }),
          query: { ...WRITE_QUERY, sendUpdates: sendUpdates(notify) },
        },
        object,
      )
      .then((item) => existing(item, doing))
      .catch((error: unknown) => {
        throw isGone(error) ? new ProviderError('not_found', `${doing}: the event was deleted`) : error
      })
  }

  /** Google replaces the attendees as a whole. The ones that stay keep what they answered, and all that others stored about them. */
  function buildAttendees(attendees: EventInput['attendees'], current: Json): Json[] {
    if (current.attendeesOmitted === true) {
      const why = 'Google does not return every attendee of this event, so they cannot be replaced'
      throw new ProviderError('rejected', `${UPDATING}: ${why}`, { unsupported: true })
    }
    const byEmail = new Map(
      list(current.attendees).map((attendee) => [text(object(attendee).email)?.toLowerCase(), object(attendee)]),
    )
    return attendees.map(({ email, displayName, optional }) => ({
      ...byEmail.get(email.toLowerCase()),
      email,
      optional,
      ...(displayName !== '' && { displayName }),
    }))
  }

  /** Repeats a change of the current version until no other change comes between. */
  async function onCurrent<T>(
    target: EventTarget,
    options: { doing: string; etag: string | null; signal: AbortSignal },
    change: (current: Json, etag: string | null) => Promise<T>,
  ): Promise<T> {
    const { doing, etag, signal } = options
    for (let tries = 1; ; tries += 1) {
      const current = await read(target, doing, signal, CHANGED_FIELDS)
      try {
        return await change(current, etag ?? text(current.etag) ?? null)
      } catch (error) {
        const isOutdated = error instanceof ProviderError && error.kind === 'conflict'
        if (!isOutdated || etag !== null || tries >= MAX_TRIES) throw error
      }
    }
  }

  return {
    async getEvent(target, signal) {
      return mapped(await read(target, READING, signal), target.calendarId, READING, signal)
    },

    async createEvent({ calendarId, key, event, notify, signal }) {
      // Google allows ids of the digits 0 to 9 and the letters a to v.
      const id = sha256(`${calendarId}\n${key}`, 'hex')
      const request: RestRequest = {
        method: 'POST',
        path: eventsPath(calendarId),
        doing: CREATING,
        signal,
        isRepeatable: true,
        query: { ...WRITE_QUERY, sendUpdates: sendUpdates(notify) },
        body: { id, ...buildResource(event), ...(event.conference && conferenceRequest(key)) },
      }
      const target = { calendarId, eventId: id, instance: null }
      const item = await mailbox.json(request, object).catch((error: unknown) => {
        if (error instanceof ProviderError && error.kind === 'exists') return read(target, CREATING, signal)
        throw error
      })
      return mapped(item, calendarId, CREATING, signal)
    },

    async updateEvent({ changes, etag, notify, signal, ...target }) {
      const { attendees, conference, ...others } = changes
      const options = { doing: UPDATING, notify, signal }
      const send = async (current: Json | undefined, version: string | null) => {
        const isMissing = current !== undefined && conference === true && !hasConference(current)
        const body = {
          ...buildResource(others),
          ...(current && attendees && { attendees: buildAttendees(attendees, current) }),
          ...(isMissing && conferenceRequest(`${text(current.id)}${text(current.etag)}`)),
        }
        return patch(target, body, { ...options, etag: version })
      }
      const needsCurrent = attendees !== undefined || conference === true
      const item = needsCurrent
        ? await onCurrent(target, { doing: UPDATING, etag, signal }, send)
        : await send(undefined, etag)
      return mapped(item, target.calendarId, UPDATING, signal)
    },

    async deleteEvent({ notify, signal, ...target }) {
      const query = { sendUpdates: sendUpdates(notify) }
      const request: RestRequest = { method: 'DELETE', path: eventPath(target), query, doing: DELETING, signal }
      await mailbox
        .json({ ...request, isRepeatable: true }, () => undefined)
        .catch((error: unknown) => {
          const isMissing = error instanceof ProviderError && error.kind === 'not_found'
          if (!isMissing && !isGone(error)) throw error
        })
    },

    async respond({ response, comment, notify, signal, ...target }) {
      const item = await onCurrent(target, { doing: RESPONDING, etag: null, signal }, (current, etag) => {
        const self = list(current.attendees)
          .map(object)
          .find((attendee) => attendee.self === true)
        if (self === undefined || self.organizer === true) {
          throw new ProviderError('rejected', `${RESPONDING}: the account is not invited to this event`, {
            unsupported: true,
          })
        }
        const answered = { ...self, responseStatus: response, ...(comment !== '' && { comment }) }
        // With `attendeesOmitted` Google changes this attendee only.
        const body = { attendeesOmitted: true, attendees: [answered] }
        return patch(target, body, { doing: RESPONDING, etag, notify, signal })
      })
      return mapped(item, target.calendarId, RESPONDING, signal)
    },
  }
}

interface PatchOptions {
  doing: string
  etag: string | null
  notify: boolean
  signal: AbortSignal
}

function eventPath({ calendarId, eventId, instance }: EventTarget): string {
  return `${eventsPath(calendarId)}/${encodeURIComponent(instance === null ? eventId : instanceId(eventId, instance))}`
}

/** Instances have the id of their master and their original start: `…_20261120T080000Z`, all-day `…_20261120`. */
function instanceId(masterId: string, start: EventTime): string {
  if ('date' in start) return `${masterId}_${start.date.replaceAll('-', '')}`
  const zone = findZone(start.timeZone ?? 'UTC') ?? UTC
  const ms = zone.toUtc(parseLocal(start.dateTime) ?? 0)
  return `${masterId}_${new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '')}`
}

/** Null removes the members of the other form, because a patch keeps what it does not name. */
function buildTime(time: ZonedTime): Json {
  if ('date' in time) return { date: time.date, dateTime: null, timeZone: null }
  return { date: null, dateTime: time.dateTime, timeZone: time.timeZone }
}

function buildResource(event: Partial<EventInput>): Json {
  const { summary, description, location, start, end, recurrence, busy, visibility, attendees, reminders } = event
  return {
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(location !== undefined && { location }),
    ...(start !== undefined && { start: buildTime(start) }),
    ...(end !== undefined && { end: buildTime(end) }),
    ...(recurrence !== undefined && { recurrence }),
    ...(busy !== undefined && { transparency: busy ? 'opaque' : 'transparent' }),
    ...(visibility !== undefined && { visibility }),
    ...(attendees !== undefined && {
      attendees: attendees.map(({ displayName, ...attendee }) => ({
        ...attendee,
        ...(displayName !== '' && { displayName }),
      })),
    }),
    ...(reminders !== undefined && {
      reminders: reminders === null ? { useDefault: true } : { useDefault: false, overrides: reminders },
    }),
  }
}

function conferenceRequest(key: string): Json {
  const requestId = sha256(key, 'hex').slice(0, 32)
  return { conferenceData: { createRequest: { requestId, conferenceSolutionKey: { type: 'hangoutsMeet' } } } }
}

function hasConference({ hangoutLink, conferenceData }: Json): boolean {
  return text(hangoutLink) !== undefined || list(object(conferenceData).entryPoints).length > 0
}

/** Google also returns, and even changes, events that were deleted. */
function existing(item: Json, doing: string): Json {
  if (item.status === 'cancelled') throw new ProviderError('not_found', `${doing}: the event was deleted`)
  return item
}

function sendUpdates(notify: boolean): string {
  return notify ? 'all' : 'none'
}

/** A 410, which for a list of events means an expired token. */
function isGone(error: unknown): boolean {
  return error instanceof ProviderError && error.kind === 'cursor_expired'
}
