import { untilAborted } from '../../platform/concurrency/abort.ts'
import { ProviderError, type TimeRange } from '../contract/index.ts'
import { Batches, type DavClient, isGone, resolvePath } from '../shared/dav/index.ts'
import type { Collection } from './collection.ts'
import type { CalendarObject } from './events/object-mapper.ts'
import { pathsInRange } from './listing.ts'
import { type ObjectBatch, objectIn, pathsIn, type ResponsePart, refusalStatus } from './object-batch.ts'
import { objectsBody, objectsQueryBody } from './requests.ts'

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
  const read = new Set<string>()
  const left = new Set<string>()
  let isComplete = false
  const response = await queryObjects(collection, range)
  if (response !== undefined) {
    try {
      isComplete = true
      for await (const part of partsIn(collection, response)) {
        for (const path of pathsIn(part)) read.add(path)
        for (const path of part.unanswered) left.add(path)
        isComplete &&= !part.isIncomplete
        yield part
      }
    } catch (error) {
      isComplete = false
      rememberOnlyLists(collection, error)
    }
  }
  if (!isComplete) for (const path of await pathsInRange(collection, range)) left.add(path)
  yield* readObjects(
    collection,
    [...left].filter((path) => !read.has(path)),
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
    rememberOnlyLists(collection, error)
    return undefined
  }
}

/** Throws the error unless smaller requests may help now. They may also when the caller ended a slow one, but only the next caller. */
function rememberOnlyLists({ server, signal }: Collection, error: unknown): void {
  if (signal.aborted || mayBeTooMuch(error)) server.onlyLists = true
  if (signal.aborted || !mayBeTooMuch(error)) throw error
}

/** Not where the server did not respond at all, refused the password, or says when to come back. */
function mayBeTooMuch(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.passwordRefused || error.retryAfterMs !== undefined) return false
  const isUnreachable = error.host !== undefined && !error.timedOut
  return ['limit_exceeded', 'unavailable', 'rejected'].includes(error.kind) && !isUnreachable
}

/**
 * Reads objects in batches, the next ones while the caller stores this one. A batch that is too large is halved; a single object that
 * is too large is unreadable. What a response leaves out is asked for again as long as that brings anything, and is unreadable then.
 */
export async function* readObjects(
  collection: Collection,
  paths: readonly string[],
): AsyncGenerator<ObjectBatch, void> {
  const batches = new Batches(paths)
  const begun: { batch: readonly string[]; reading: Promise<ResponsePart[] | undefined> }[] = []
  begin()
  for (let first = begun.shift(); first !== undefined; first = begun.shift()) {
    const { batch, reading } = first
    const parts = await reading
    const unanswered = parts?.flatMap((part) => part.unanswered) ?? []
    const isRepeated = unanswered.length < batch.length
    if (parts === undefined && batch.length > 1) batches.halve(batch)
    if (parts !== undefined && isRepeated) batches.repeat(unanswered, batch)
    begin()
    yield* parts ?? []
    if (parts === undefined && batch.length === 1) yield unreadableBatch(batch, TOO_LARGE)
    if (parts !== undefined && !isRepeated) yield unreadableBatch(unanswered, NOT_SENT)
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

const TOO_LARGE = `The object is larger than ${MAX_BATCH_BYTES / 1024 / 1024} MB.`
const NOT_SENT = 'The CalDAV server lists the object, and does not send it.'

function unreadableBatch(paths: readonly string[], reason: string): ObjectBatch {
  return { events: [], complete: [], absent: [], unreadable: paths.map((eventId) => ({ eventId, reason })) }
}

async function readBatch(collection: Collection, paths: readonly string[], batches: Batches): Promise<ResponsePart[]> {
  const { client, url, signal } = collection
  const request = { method: 'REPORT', url, depth: '1', body: objectsBody(paths), signal } as const
  const startedMs = performance.now()
  const response = await client.fetch({ ...request, maxBytes: MAX_BATCH_BYTES, doing: READING })
  batches.record(paths, response.body.length, performance.now() - startedMs)
  const parts: ResponsePart[] = []
  for await (const part of partsIn(collection, response, paths)) parts.push(part)
  return parts
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
  const parts = thread.parseParts({ ...response, doing: READING, calendar }, context.zones)[Symbol.asyncIterator]()
  // The thread may have the objects of other accounts to parse first.
  for (
    let next = await untilAborted(parts.next(), signal);
    !next.done;
    next = await untilAborted(parts.next(), signal)
  ) {
    yield next.value
  }
}

/** The object at a path, if it exists. Throws `unavailable` when the server does not say that it is gone, and does not send it. */
export async function readObjectText(
  { client, url, signal }: Collection,
  path: string,
  doing: string,
): Promise<CalendarObject | undefined> {
  const request = { method: 'REPORT', url, depth: '1', body: objectsBody([path]), signal } as const
  const { resources, url: base } = await client.read({ ...request, maxBytes: MAX_BATCH_BYTES, doing })
  const resource = resources.find(({ href }) => resolvePath(href, base) === path)
  const object = resource && objectIn(resource, path)
  const status = resource && refusalStatus(resource)
  if (object !== undefined || (status !== undefined && isGone(status))) return object
  const reason = status === undefined ? '' : ` (${status})`
  throw new ProviderError('unavailable', `${doing}: the CalDAV server does not send the object${reason}`)
}
