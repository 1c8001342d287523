import { untilAborted } from '../../lib/abort.ts'
import { ProviderError, type TimeRange, type UnreadableEvent } from '../contract/index.ts'
import { Batches } from './batches.ts'
import type { DavClient } from './client.ts'
import type { Collection } from './collection.ts'
import { pathOf } from './hrefs.ts'
import { pathsInRange } from './listing.ts'
import type { CalendarObject } from './map.ts'
import { addPart, emptyPart, type ObjectBatch, objectIn, pathsIn, type ResponsePart } from './object-batch.ts'
import { multigetBody, objectsQueryBody } from './requests.ts'

/** The server works while a batch is parsed. */
const BATCHES_AT_ONCE = 2
const MAX_BATCH_BYTES = 8 * 1024 * 1024
/** A response that takes the thread two seconds. */
const MAX_QUERY_BYTES = 16 * 1024 * 1024
const READING = 'reading events'

/**
 * Reads the objects with an event in the range, which the server sends along with their list. What it leaves out is read by path, and so
 * is everything where the server cannot do that.
 */
export async function* objectsInRange(collection: Collection, range: TimeRange): AsyncGenerator<ObjectBatch, void> {
  const response = await queryObjects(collection, range)
  if (response === undefined) return yield* readObjects(collection, await pathsInRange(collection, range))
  const read = new Set<string>()
  const left: string[] = []
  let isComplete = true
  for await (const part of partsIn(collection, response)) {
    for (const path of pathsIn(part)) read.add(path)
    left.push(...part.unanswered)
    isComplete &&= !part.isIncomplete
    yield part
  }
  const paths = isComplete ? left : await pathsInRange(collection, range)
  yield* readObjects(
    collection,
    paths.filter((path) => !read.has(path)),
  )
}

/** Undefined where the server cannot send the objects together. */
async function queryObjects(collection: Collection, range: TimeRange): Promise<ReadResponse | undefined> {
  const { client, url, server, signal } = collection
  if (server.onlyLists) return undefined
  const body = objectsQueryBody(range)
  const request = { method: 'REPORT', url, depth: '1', body, signal, maxBytes: MAX_QUERY_BYTES } as const
  try {
    return await client.fetch({ ...request, doing: READING })
  } catch (error) {
    // Not when the caller ended a slow request either: the next reader asks in smaller portions.
    server.onlyLists = signal.aborted || isOfServer(error)
    if (signal.aborted || !isOfServer(error)) throw error
    return undefined
  }
}

function isOfServer(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false
  return error.kind === 'limit_exceeded' || error.kind === 'unavailable' || error.kind === 'rejected'
}

/**
 * Reads objects in batches, the next ones while the caller stores this one. A batch that is too large is halved; a single object that
 * is too large is unreadable. What a response leaves out is asked for again as long as that brings anything.
 */
export async function* readObjects(
  collection: Collection,
  paths: readonly string[],
): AsyncGenerator<ObjectBatch, void> {
  const batches = new Batches(paths)
  const begun: { batch: readonly string[]; reading: Promise<ResponsePart | undefined> }[] = []
  begin()
  for (let first = begun.shift(); first !== undefined; first = begun.shift()) {
    const { batch, reading } = first
    const part = await reading
    if (part === undefined && batch.length > 1) batches.halve(batch)
    if (part !== undefined && part.unanswered.length < batch.length) batches.repeat(part.unanswered)
    begin()
    if (part !== undefined) yield withAbsent(part, batch)
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

/** Objects of which a server says nothing at all are gone. */
function withAbsent({ unanswered, ...part }: ResponsePart, batch: readonly string[]): ObjectBatch {
  return unanswered.length < batch.length ? part : { ...part, absent: [...part.absent, ...unanswered] }
}

function tooLarge(path: string): UnreadableEvent {
  return { eventId: path, reason: `The object is larger than ${MAX_BATCH_BYTES / 1024 / 1024} MB.` }
}

async function readBatch(collection: Collection, paths: readonly string[], batches: Batches): Promise<ResponsePart> {
  const { client, url, signal } = collection
  const request = { method: 'REPORT', url, depth: '1', body: multigetBody(paths), signal } as const
  const startedMs = performance.now()
  const response = await client.fetch({ ...request, maxBytes: MAX_BATCH_BYTES, doing: READING })
  batches.record(paths, response.body.length, performance.now() - startedMs)
  const whole = emptyPart()
  for await (const part of partsIn(collection, response, paths)) addPart(whole, part)
  return whole
}

type ReadResponse = Awaited<ReturnType<DavClient['fetch']>>

/** Parses a response. */
async function* partsIn(
  { accountId, thread, url, context, signal }: Collection,
  { body, url: base }: ReadResponse,
  paths?: readonly string[],
): AsyncGenerator<ResponsePart, void> {
  const response = { body, base: base.href, collection: url.href, paths, addresses: [...context.addresses] }
  const calendar = `${accountId} ${url.href}`
  const parts = thread.partsOf({ ...response, doing: READING, calendar }, context.zones)[Symbol.asyncIterator]()
  // The thread may have the objects of other accounts to parse first.
  for (
    let next = await untilAborted(parts.next(), signal);
    !next.done;
    next = await untilAborted(parts.next(), signal)
  ) {
    yield next.value
  }
}

/** The object at a path, if it exists. */
export async function readObjectText(
  { client, url, signal }: Collection,
  path: string,
  doing: string,
): Promise<CalendarObject | undefined> {
  const request = { method: 'REPORT', url, depth: '1', body: multigetBody([path]), signal } as const
  const { resources, url: base } = await client.read({ ...request, maxBytes: MAX_BATCH_BYTES, doing })
  const resource = resources.find(({ href }) => pathOf(href, base) === path)
  return resource === undefined ? undefined : objectIn(resource, path)
}
