import { eachInTurns, TURN_MS, yieldIfHeld } from '../../lib/event-loop.ts'
import type { RemoteEvent } from '../contract/index.ts'
import { pathOf } from './hrefs.ts'
import { type CalendarObject, eventsOf } from './map.ts'
import { type DavDocument, parseDav } from './multistatus.ts'
import type { ObjectZones } from './zones.ts'

/** What a batch of objects contains. */
export interface ObjectBatch {
  events: RemoteEvent[]
  /** Objects with events: all of their exceptions are in `events`. */
  complete: string[]
  /** Objects that are gone, are not events, or cannot be read. */
  absent: string[]
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
  const batch: ObjectBatch = { events: [], complete: [], absent: [] }
  const context = { zones, addresses: new Set(addresses) }
  const wanted = new Set(paths)
  for (const object of await objectsIn(await parseDav(body, doing), new URL(base), paths)) {
    const events = await eventsOf(object, context)
    if (events.length === 0 || !wanted.delete(object.path)) continue
    batch.events.push(...events)
    batch.complete.push(object.path)
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
  await eachInTurns(resources, ({ href, status, properties }) => {
    const text = properties.get('C:calendar-data')?.text
    if (status !== 200 || text === undefined) return
    const path = pathOf(href, base)
    if (path === undefined || !requested.has(path)) return
    objects.push({ path, text, etag: properties.get('D:getetag')?.text.trim() || null })
  })
  return objects
}
