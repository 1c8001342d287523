import { TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import type { RemoteEvent, UnreadableEvent } from '../contract/index.ts'
import { type DavResource, davParts, isGone, isOwnPath, pathReader } from '../shared/dav/index.ts'
import { objectEvents } from './events/map.ts'
import type { CalendarObject, MapContext } from './events/object-mapper.ts'
import type { ObjectZones } from './events/zones.ts'

/** The contents of some objects of a calendar. */
export interface ObjectBatch {
  events: RemoteEvent[]
  /** Objects with events: all of their exceptions are in `events`. */
  complete: string[]
  /** Objects that are gone, or are not events. */
  absent: string[]
  /** Objects that could not be read, entirely or in part. */
  unreadable: UnreadableEvent[]
}

/** The part of a response that is parsed by now. */
export interface ResponsePart extends ObjectBatch {
  /** Objects that the server named without saying what they contain. */
  unanswered: string[]
  /** The server said that there are more objects (507 of the calendar itself: RFC 4791, 7.8), or ended the response early. */
  isIncomplete: boolean
}

/** A multistatus with objects of one calendar. */
export interface ObjectResponse {
  body: Uint8Array
  /** URL to which its paths are relative. */
  base: string
  /** URL of the calendar. */
  collection: string
  /** The objects that were requested by their paths. Undefined: those of a range. */
  paths: readonly string[] | undefined
  /** Addresses of the user, in lower case. */
  addresses: readonly string[]
  /** For errors: `reading events`. */
  doing: string
}

const DATA = 'C:calendar-data'
/** Objects of one part, or a few more: they are stored while the next are parsed. */
const OBJECTS_PER_PART = 250
const EVENTS_PER_PART = 500

/** Parses and maps the objects. Throws `ProviderError`, as `parseDav` does. */
export async function* parseParts(response: ObjectResponse, zones: ObjectZones): AsyncGenerator<ResponsePart, void> {
  const { body, paths, doing } = response
  const context = { zones, addresses: new Set(response.addresses) }
  const collection = new URL(response.collection)
  const readPath = pathReader(new URL(response.base))
  const requested = paths === undefined ? undefined : new Set(paths)
  const named = new Set<string>()
  let part = emptyPart()
  for await (const { resources, isCut } of davParts(body, doing)) {
    for (const resource of resources) {
      const path = readPath(resource.href)
      if (path === undefined || named.has(path)) continue
      if (resource.status === 507 && isCollection(path, collection)) part.isIncomplete = true
      if (!(requested?.has(path) ?? isOwnPath(path, collection))) continue
      named.add(path)
      // By its path, a server may still give what it left out of a list.
      if (requested === undefined && objectIn(resource, path) === undefined) part.unanswered.push(path)
      else await addObject(part, path, resource, context)
      await yieldIfHeld(TURN_MS)
      if (part.complete.length < OBJECTS_PER_PART && part.events.length < EVENTS_PER_PART) continue
      yield part
      part = emptyPart()
    }
    part.isIncomplete ||= isCut
  }
  part.unanswered.push(...(paths ?? []).filter((path) => !named.has(path)))
  yield part
}

/** The objects about which a batch says everything. */
export function pathsIn({ complete, absent, unreadable }: ObjectBatch): string[] {
  return [...complete, ...absent, ...unreadable.map(({ eventId }) => eventId)]
}

function emptyPart(): ResponsePart {
  return { events: [], complete: [], absent: [], unreadable: [], unanswered: [], isIncomplete: false }
}

async function addObject(part: ResponsePart, path: string, resource: DavResource, context: MapContext): Promise<void> {
  const object = objectIn(resource, path)
  const status = refusalStatus(resource)
  if (object !== undefined) {
    const { events, unreadable } = await objectEvents(object, context)
    part.events.push(...events)
    if (unreadable !== null) part.unreadable.push({ eventId: path, reason: unreadable })
    if (events.length > 0) part.complete.push(path)
    else if (unreadable === null) part.absent.push(path)
  } else if (status === undefined) part.unanswered.push(path)
  else if (isGone(status)) part.absent.push(path)
  else part.unreadable.push({ eventId: path, reason: `The CalDAV server answered ${status}.` })
}

/** Undefined when the resource came without the text of an object. */
export function objectIn({ status, properties }: DavResource, path: string): CalendarObject | undefined {
  const text = properties.get(DATA)?.text
  if (status !== 200 || text === undefined) return undefined
  return { path, text, etag: properties.get('D:getetag')?.text.trim() || null }
}

/** The status with which the server refuses the text of an object. Undefined when it gives none. */
export function refusalStatus({ status, refused }: DavResource): number | undefined {
  return status === 200 ? refused.get(DATA) : status
}

function isCollection(path: string, { pathname }: URL): boolean {
  return path === pathname || `${path}/` === pathname || path === `${pathname}/`
}
