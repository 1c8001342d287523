import { untilAborted } from '../../lib/abort.ts'
import { DAY_MS } from '../../lib/calendar/days.ts'
import { eachInTurns } from '../../lib/event-loop.ts'
import { ProviderError, type TimeRange, type UnreadableEvent } from '../contract/index.ts'
import { Batches } from './batches.ts'
import type { DavClient } from './client.ts'
import { pathReader, urlOf } from './hrefs.ts'
import type { CalendarObject, MapContext } from './map.ts'
import { type ObjectBatch, objectsIn } from './object-batch.ts'
import type { ObjectThread } from './object-thread.ts'
import { calendarQueryBody, multigetBody, propfindBody } from './requests.ts'

/** A calendar whose objects are read. */
export interface Collection {
  accountId: string
  client: DavClient
  thread: ObjectThread
  url: URL
  context: MapContext
  signal: AbortSignal
}

/** Of a time in one zone and in another. */
export const MARGIN_MS = DAY_MS
/** The server works while a batch is parsed. */
const BATCHES_AT_ONCE = 2
const MAX_BATCH_BYTES = 8 * 1024 * 1024
const MAX_OBJECTS = 50_000
/** About 250 bytes for each object. */
export const MAX_LISTING_BYTES = 16 * 1024 * 1024
const MAX_URL = 2000

export function collectionUrl(calendarId: string, base: URL): URL {
  const url = calendarId.length <= MAX_URL && calendarId.startsWith('/') ? urlOf(calendarId, base) : undefined
  if (url === undefined || url.origin !== base.origin) {
    throw new ProviderError('not_found', 'reading the calendar: this is not the path of a calendar')
  }
  return url
}

/** Paths of the objects with an event in the range, whose bounds may be infinite, that has the property, if one is given. */
export async function pathsInRange(
  collection: Collection,
  range: TimeRange,
  property?: 'RRULE' | 'RDATE',
): Promise<string[]> {
  const { client, url, signal } = collection
  const body = calendarQueryBody(range, property)
  const request = { method: 'REPORT', url, depth: '1', body, signal, maxBytes: MAX_LISTING_BYTES } as const
  const { resources, url: base } = await client.read({ ...request, doing: 'listing the events' })
  return ownPaths(
    resources.filter(({ status }) => status === 200).map(({ href }) => href),
    url,
    base,
  )
}

/** Paths and ETags of everything in the calendar. */
export async function listEtags({ client, url, signal }: Collection): Promise<Map<string, string>> {
  const body = propfindBody(['D:getetag'])
  const request = { method: 'PROPFIND', url, depth: '1', body, signal, maxBytes: MAX_LISTING_BYTES } as const
  const { resources, url: base } = await client.read({ ...request, doing: 'listing the events' })
  const etags = new Map<string, string>()
  const readPath = pathReader(base)
  await eachInTurns(resources, ({ href, properties }) => {
    const path = readPath(href)
    if (path === undefined || !isOwnPath(path, url)) return
    etags.set(path, properties.get('D:getetag')?.text.trim() ?? '')
  })
  return etags
}

/** The paths of what is directly in the collection, at most 50,000. */
export async function ownPaths(hrefs: readonly string[], collection: URL, base: URL): Promise<string[]> {
  const own = new Set<string>()
  const readPath = pathReader(base)
  await eachInTurns(hrefs, (href) => {
    const path = own.size < MAX_OBJECTS ? readPath(href) : undefined
    if (path !== undefined && isOwnPath(path, collection)) own.add(path)
  })
  return [...own]
}

/** Only what is directly in the collection: a server cannot make us ask for anything else. */
export function isOwnPath(path: string, { pathname }: URL): boolean {
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`
  return path.startsWith(folder) && path !== folder && !path.slice(folder.length).includes('/')
}

/**
 * Reads objects in batches, the next ones while the caller stores this one. A batch that is too large is halved; a single object that
 * is too large is unreadable.
 */
export async function* readObjects(
  collection: Collection,
  paths: readonly string[],
): AsyncGenerator<ObjectBatch, void> {
  const batches = new Batches(paths)
  const begun: { batch: readonly string[]; reading: Promise<ObjectBatch | undefined> }[] = []
  begin()
  for (let first = begun.shift(); first !== undefined; first = begun.shift()) {
    const { batch, reading } = first
    const result = await reading
    if (result === undefined && batch.length > 1) batches.halve(batch)
    begin()
    if (result !== undefined) yield result
    else if (batch.length === 1) yield { events: [], complete: [], absent: [], unreadable: batch.map(tooLarge) }
  }

  function begin(): void {
    while (begun.length < BATCHES_AT_ONCE) {
      const batch = batches.next()
      if (batch === undefined) return
      const reading = readBatch(collection, batch, batches).catch((error: unknown) => {
        if (!(error instanceof ProviderError) || error.kind !== 'limit_exceeded') throw error
        return undefined
      })
      // The caller may stop before it is awaited.
      reading.catch(() => {})
      begun.push({ batch, reading })
    }
  }
}

function tooLarge(path: string): UnreadableEvent {
  return { eventId: path, reason: `The object is larger than ${MAX_BATCH_BYTES / 1024 / 1024} MB.` }
}

async function readBatch(
  { accountId, client, thread, url, context, signal }: Collection,
  paths: readonly string[],
  batches: Batches,
): Promise<ObjectBatch> {
  const doing = 'reading events'
  const request = { method: 'REPORT', url, depth: '1', body: multigetBody(paths), signal } as const
  const startedMs = performance.now()
  const { body, url: base } = await client.fetch({ ...request, maxBytes: MAX_BATCH_BYTES, doing })
  batches.record(paths, body.length, performance.now() - startedMs)
  const response = { body, base: base.href, paths, addresses: [...context.addresses], doing }
  // The thread may have the objects of other accounts to parse first.
  return untilAborted(thread.batchOf({ ...response, calendar: `${accountId} ${url.href}` }, context.zones), signal)
}

/** The objects that exist, of a few. */
export async function readTexts(
  { client, url, signal }: Collection,
  paths: readonly string[],
  doing: string,
): Promise<CalendarObject[]> {
  const request = { method: 'REPORT', url, depth: '1', body: multigetBody(paths), signal } as const
  const found = await client.read({ ...request, maxBytes: MAX_BATCH_BYTES, doing })
  return objectsIn(found, found.url, paths)
}
