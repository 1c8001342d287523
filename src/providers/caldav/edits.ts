import { type Component, property, readText } from '../../platform/calendar/components.ts'
import { formatObject, textLine } from '../../platform/calendar/formatting.ts'
import {
  type CalendarEdits,
  type EventInput,
  type EventTarget,
  ProviderError,
  type RemoteEvent,
} from '../contract/index.ts'
import { isOwnPath, resolvePath, statusError } from '../shared/dav/index.ts'
import type { Collection } from './collection.ts'
import {
  type Editing,
  eventIn,
  exclude,
  missing,
  openEditing,
  removeExceptions,
  setResponse,
} from './events/editing.ts'
import { omitEmptyEnds } from './events/empty-ends.ts'
import { applyInput, describeOwnZones, describeZones, replace, touch } from './events/input.ts'
import { mapEvents, objectPath } from './events/map.ts'
import type { CalendarObject } from './events/object-mapper.ts'
import { readObjectText } from './objects.ts'

interface EditsDeps {
  /** The calendar, ready for requests. */
  getCollection(calendarId: string, signal: AbortSignal): Promise<Collection>
  email: string
  now(): number
}

const CREATING = 'creating an event'
const UPDATING = 'changing an event'
const DELETING = 'deleting an event'
const RESPONDING = 'answering an invitation'
const READING = 'reading an event'

/** How often a change is made again because another program changed the object between reading and writing it. */
const MAX_TRIES = 3
const NO_RESPONSE_BYTES = 64 * 1024
const PRODUCT = 'PRODID:-//Posthorn//Posthorn//EN'

/** Objects are changed in place: whatever this code does not know stays in them. The server notifies attendees, if it can. */
export function caldavCalendarEdits({ getCollection, email, now }: EditsDeps): CalendarEdits {
  /** Reads, changes and writes one object. `change` returns false when nothing is left of it. */
  async function edit(
    target: EventTarget,
    { doing, etag, signal }: { doing: string; etag: string | null; signal: AbortSignal },
    change: (editing: Editing) => boolean,
  ): Promise<CalendarObject | undefined> {
    const collection = await getCollection(target.calendarId, signal)
    const path = pathOfEvent(target, collection, doing)
    for (let tries = 1; ; tries += 1) {
      const object = await readObject(collection, path, doing)
      if (etag !== null && object.etag !== etag) throw conflict(doing)
      const editing = await openEditing(object, collection.context, { email, nowMs: now() }, doing)
      const isKept = change(editing)
      try {
        if (!isKept) {
          await remove(collection, path, object.etag, doing)
          return undefined
        }
        await put(collection, path, written(editing.calendar, now()), matching(object.etag), doing)
        return await readObject(collection, path, doing)
      } catch (error) {
        const isOutdated = error instanceof ProviderError && error.kind === 'conflict'
        if (!isOutdated || etag !== null || tries >= MAX_TRIES) throw error
      }
    }
  }

  async function result(object: CalendarObject | undefined, target: EventTarget, signal: AbortSignal, doing: string) {
    const { context } = await getCollection(target.calendarId, signal)
    const found = object === undefined ? undefined : eventIn(await mapEvents(object, context), target)
    if (found === undefined) throw missing(doing)
    return found
  }

  return {
    async getEvent(target, signal) {
      const collection = await getCollection(target.calendarId, signal)
      const object = await readObject(collection, pathOfEvent(target, collection, READING), READING)
      return result(object, target, signal, READING)
    },

    async createEvent({ calendarId, key, event, signal }) {
      if (event.conference) {
        throw noMeetings(CREATING)
      }
      const collection = await getCollection(calendarId, signal)
      const folder = collection.url.pathname.replace(/\/?$/, '/')
      const path = `${folder}${encodeURIComponent(key)}.ics`
      const { component, calendar } = emptyObject(key, now())
      applyInput(component, event, { email, nowMs: now() })
      describeOwnZones(calendar, [event.start, event.end])
      const target = { calendarId, eventId: path, instance: null }
      try {
        await put(collection, path, written(calendar, now()), { 'if-none-match': '*' }, CREATING)
      } catch (error) {
        // An earlier call with this key created it.
        if (!(error instanceof ProviderError) || error.kind !== 'conflict') throw error
      }
      return result(await readObject(collection, path, CREATING), target, signal, CREATING)
    },

    async updateEvent({ changes, etag, signal, calendarId, eventId, instance }) {
      const target = { calendarId, eventId, instance }
      if (changes.conference === true) {
        throw noMeetings(UPDATING)
      }
      const object = await edit(target, { doing: UPDATING, etag, signal }, (editing) => {
        const { component, mapped, context } = editing
        const changed = component(target)
        const before = mapped.find((each) => each.component === changed)?.event
        const { recurrence: _recurrence, ...ofInstance } = changes
        const isSeries = before !== undefined && before.originalStart === null
        applyInput(changed, isSeries ? changes : ofInstance, context)
        if (isSeries && isMoved(before, changes)) {
          const { start = before.start, end = before.end, recurrence = before.recurrence } = changes
          const after = { ...before, start, end, recurrence }
          removeExceptions(editing, after)
        }
        return true
      })
      return result(object, target, signal, UPDATING)
    },

    async deleteEvent({ signal, calendarId, eventId, instance }) {
      const target = { calendarId, eventId, instance }
      try {
        await edit(target, { doing: DELETING, etag: null, signal }, ({ calendar, mapped, context }) =>
          exclude(calendar, mapped, target, { ...context, doing: DELETING }),
        )
      } catch (error) {
        if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
      }
    },

    async respond({ response, comment, signal, calendarId, eventId, instance }) {
      const target = { calendarId, eventId, instance }
      const { addresses } = (await getCollection(calendarId, signal)).context
      const object = await edit(target, { doing: RESPONDING, etag: null, signal }, (editing) => {
        const chosen = editing.component(target)
        const isSeries = property(chosen, 'RECURRENCE-ID') === undefined
        const uid = readText(chosen, 'UID')
        const isOwn = (each: Component) => each.name === 'VEVENT' && readText(each, 'UID') === uid
        const components = isSeries ? editing.calendar.components.filter(isOwn) : [chosen]
        const answered = components.filter((event) => setResponse(event, response, addresses))
        if (answered.length === 0) {
          throw new ProviderError('rejected', `${RESPONDING}: the account is not invited to this event`, {
            unsupported: true,
          })
        }
        for (const event of answered) {
          if (comment !== '') replace(event, ['COMMENT'], [textLine('COMMENT', comment)])
          touch(event, editing.context, false)
        }
        return true
      })
      return result(object, target, signal, RESPONDING)
    },
  }
}

function isMoved({ start, recurrence }: RemoteEvent, changes: Partial<EventInput>): boolean {
  const after = [changes.start ?? start, changes.recurrence ?? recurrence]
  return JSON.stringify(after) !== JSON.stringify([start, recurrence])
}

function emptyObject(uid: string, nowMs: number): { calendar: Component; component: Component } {
  const created = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  const lines = [textLine('UID', uid), `CREATED:${created}Z`, 'SEQUENCE:-1']
  const component: Component = { name: 'VEVENT', lines, components: [] }
  return { calendar: { name: 'VCALENDAR', lines: ['VERSION:2.0', PRODUCT], components: [component] }, component }
}

/** The object of an event: its path is the id of the master, and begins those of exceptions. */
function pathOfEvent({ eventId }: EventTarget, { url }: Collection, doing: string): string {
  const path = objectPath(eventId)
  // In its one spelling, without `..` and a query.
  if (resolvePath(path, url) !== path || !isOwnPath(path, url)) throw missing(doing)
  return path
}

async function readObject(collection: Collection, path: string, doing: string): Promise<CalendarObject> {
  const object = await readObjectText(collection, path, doing)
  if (object === undefined) throw missing(doing)
  return object
}

function written(calendar: Component, nowMs: number): string {
  omitEmptyEnds(calendar)
  describeZones(calendar, nowMs)
  return formatObject(calendar)
}

async function put(
  { client, url, signal }: Collection,
  path: string,
  body: string,
  condition: Record<string, string>,
  doing: string,
): Promise<void> {
  const headers = { 'content-type': 'text/calendar; charset=utf-8', ...condition }
  const request = {
    method: 'PUT',
    url: new URL(path, url),
    body,
    headers,
    signal,
    maxBytes: NO_RESPONSE_BYTES,
  } as const
  const response = await client.send({ ...request, doing })
  if (response.status === 412) throw conflict(doing)
  if (response.status >= 300) throw statusError(response, doing, client.errors())
}

async function remove({ client, url, signal }: Collection, path: string, etag: string | null, doing: string) {
  const request = { method: 'DELETE', url: new URL(path, url), headers: matching(etag), signal } as const
  const response = await client.send({ ...request, doing, maxBytes: NO_RESPONSE_BYTES })
  if (response.status === 412) throw conflict(doing)
  if (response.status >= 300) throw statusError(response, doing, client.errors())
}

function matching(etag: string | null): Record<string, string> {
  return etag === null ? {} : { 'if-match': etag }
}

function noMeetings(doing: string): ProviderError {
  const why = 'calendars over CalDAV cannot create online meetings'
  return new ProviderError('rejected', `${doing}: ${why}`, { unsupported: true })
}

function conflict(doing: string): ProviderError {
  return new ProviderError('conflict', `${doing}: the event was changed by another program`)
}
