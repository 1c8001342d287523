import { eachInTurns, TURN_MS, yieldIfHeld } from '../../lib/event-loop.ts'
import type { RemoteEvent, UnreadableEvent } from '../contract/index.ts'
import { pathReader } from './hrefs.ts'
import { type CalendarObject, objectEvents } from './map.ts'
import { type DavDocument, parseDav } from './multistatus.ts'
import type { ObjectZones } from './zones.ts'

/** What a batch of objects contains. */
export interface ObjectBatch {
  events: RemoteEvent[]
  /** Objects with events: all of their exceptions are in `events`. */
  complete: string[]
  /** Objects that are gone, or are not events. */
  absent: string[]
  /** Objects that could not be read, entirely or in part. */
  unreadable: UnreadableEvent[]
}

/** A multistatus with objects of one calendar. */
export interface BatchResponse {
  body: Uint8Array
  /** URL to which its paths are relative. */
  base: string
  /** The objects that were requested. */
  paths: readonly string[]
  /** Addresses of the user, in lower case. */
  addresses: readonly string[]
  /** For errors: `reading events`. */
  doing: string
}

/** Parses and maps the objects. Throws `ProviderError`, as `parseDav` does. */
export async function batchOf(
  { body, base, paths, addresses, doing }: BatchResponse,
  zones: ObjectZones,
): Promise<ObjectBatch> {
  const batch: ObjectBatch = { events: [], complete: [], absent: [], unreadable: [] }
  const context = { zones, addresses: new Set(addresses) }
  const wanted = new Set(paths)
  for (const object of await objectsIn(await parseDav(body, doing), new URL(base), paths)) {
    if (!wanted.has(object.path)) continue
    const { events, unreadable } = await objectEvents(object, context)
    batch.events.push(...events)
    if (unreadable !== null) batch.unreadable.push({ eventId: object.path, reason: unreadable })
    if (events.length > 0) batch.complete.push(object.path)
    if (events.length > 0 || unreadable !== null) wanted.delete(object.path)
    await yieldIfHeld(TURN_MS)
  }
  batch.absent.push(...wanted)
  return batch
}

/** Those of the requested objects that exist. */
export async function objectsIn(
  { resources }: DavDocument,
  base: URL,
  paths: readonly string[],
): Promise<CalendarObject[]> {
  const requested = new Set(paths)
  const objects: CalendarObject[] = []
  const readPath = pathReader(base)
  await eachInTurns(resources, ({ href, status, properties }) => {
    const text = properties.get('C:calendar-data')?.text
    if (status !== 200 || text === undefined) return
    const path = readPath(href)
    if (path === undefined || !requested.has(path)) return
    objects.push({ path, text, etag: properties.get('D:getetag')?.text.trim() || null })
  })
  return objects
}
