import { sha256 } from '../../platform/crypto/sha256.ts'
import { type EventStep, ProviderError, type RemoteEvent } from '../contract/index.ts'
import type { Collection } from './collection.ts'
import { objectPath } from './events/map.ts'
import { child, isGone } from './http/multistatus.ts'
import { propfindBody, syncCollectionBody } from './http/requests.ts'
import { listEtags, MAX_LISTING_BYTES, ownPaths } from './listing.ts'
import type { ObjectBatch } from './object-batch.ts'
import { readObjects } from './objects.ts'
import { MARGIN_MS, readInRange } from './range.ts'

/**
 * The meaning of a cursor. `sync`: a sync token (RFC 6578). `state`: a value that changes with any change, of servers without
 * tokens. `begun`: the first listing was not read to its end.
 */
type State = { kind: 'sync' | 'state'; value: string }
/** `from`: events that ended before are not listed. */
type Cursor = (State & { from: number }) | { kind: 'begun' }

const MAX_CURSOR = 3500
/** Pages of one sync token. A server that says each time that there is another would never end. */
const MAX_PAGES = 100
const EVENTS_PER_STEP = 500
/** Clocks differ: an event that was created later than this before a listing is new. */
const CLOCK_MS = 120_000
const DOING = 'reading changes of a calendar'

export async function* syncEvents(
  collection: Collection,
  { cursor, from, nowMs }: { cursor: string | null; from: number; nowMs: number },
): AsyncGenerator<EventStep, void> {
  if (cursor === null) return yield* readAll(collection, from)
  let position = parsed(cursor)
  if (position.kind === 'begun') throw expired()
  if (position.kind === 'sync') position = { ...position, value: yield* readChanges(collection, position) }
  else {
    const state = await readState(collection)
    // Without tokens, a server cannot say what was deleted.
    if (state.kind !== 'state' || state.value !== position.value) throw expired()
  }
  // The window now begins earlier, because a setting changed.
  if (position.from > from) yield* readEarlier(collection, position, { from, nowMs })
}

/** From the window on: what ended before it never enters it, and later events are wanted when it reaches them. */
async function* readAll(collection: Collection, from: number): AsyncGenerator<EventStep, void> {
  // Read first: what changes while the objects are read is reported again after it.
  const state = await readState(collection)
  const range = { from: from - MARGIN_MS, to: Number.POSITIVE_INFINITY }
  for await (const batch of readInRange(collection, range)) yield* buildSteps(batch, { kind: 'begun' })
  yield { found: [], entered: [], complete: [], removed: [], cursor: JSON.stringify({ ...state, from }) }
}

/** Events that ended before the earlier window began. Events that are new otherwise are reported as new. */
async function* readEarlier(
  collection: Collection,
  position: State & { from: number },
  { from, nowMs }: { from: number; nowMs: number },
): AsyncGenerator<EventStep, void> {
  const range = { from: from - MARGIN_MS, to: position.from + MARGIN_MS }
  for await (const batch of readInRange(collection, range)) yield* buildSteps(batch, position, nowMs - CLOCK_MS)
  yield { found: [], entered: [], complete: [], removed: [], cursor: JSON.stringify({ ...position, from }) }
}

/** Returns the next sync token. */
async function* readChanges(
  collection: Collection,
  { value, from }: { value: string; from: number },
): AsyncGenerator<EventStep, string> {
  const { client, url, signal } = collection
  let token = value
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const request = {
      method: 'REPORT',
      url,
      depth: '0',
      body: syncCollectionBody(token),
      doing: DOING,
      signal,
    } as const
    const listing = await client
      .read({ ...request, maxBytes: MAX_LISTING_BYTES }, ({ status }, { errors }) =>
        errors.includes('D:valid-sync-token') || status === 410 || status === 412 ? expired() : undefined,
      )
      .catch(async (error: unknown) => {
        throw (await isTokenRefused(collection, token, error)) ? expired() : error
      })
    const { resources, syncToken, url: base } = listing
    const changed = resources.filter(({ status }) => !isGone(status)).map(({ href }) => href)
    const deleted = resources.filter(({ status }) => isGone(status)).map(({ href }) => href)
    // The status 507 of the collection itself says that there are more changes.
    const hasMore = resources.some(({ status }) => status === 507)
    const next = syncToken ?? token
    const removed = await ownPaths(deleted, url, base)
    for await (const batch of readObjects(collection, await ownPaths(changed, url, base))) {
      yield* buildSteps(batch, { kind: 'sync', value: token, from })
    }
    yield { found: [], entered: [], complete: [], removed, cursor: JSON.stringify({ ...stateWith(next), from }) }
    if (!hasMore || next === token) return next
    token = next
  }
  return token
}

/**
 * Whether a server that fails without saying why does not know the sync token: it lists the changes since the token that it has now.
 * Xandikos answers 500 to a token that its repository no longer has.
 */
async function isTokenRefused(collection: Collection, token: string, error: unknown): Promise<boolean> {
  if (!(error instanceof ProviderError) || (error.kind !== 'unavailable' && error.kind !== 'rejected')) return false
  if (error.timedOut || error.passwordRefused) return false
  const { client, url, signal } = collection
  try {
    const state = await readState(collection)
    if (state.kind !== 'sync' || state.value === token) return false
    const body = syncCollectionBody(state.value)
    await client.read({ method: 'REPORT', url, depth: '0', body, doing: DOING, signal })
    return true
  } catch (again) {
    if (!(again instanceof ProviderError)) throw again
    return false
  }
}

/** A series stays with its exceptions in one step. Events that were created before `since` entered the window. */
function* buildSteps(
  { events, complete, absent, unreadable }: ObjectBatch,
  cursor: Cursor,
  since = Number.NEGATIVE_INFINITY,
): Generator<EventStep, void> {
  const text = JSON.stringify(cursor)
  let step: EventStep = { found: [], entered: [], complete: [], removed: absent, cursor: text }
  const byPath = new Map<string, RemoteEvent[]>(complete.map((path) => [path, []]))
  for (const event of events) byPath.get(objectPath(event.eventId))?.push(event)
  for (const [path, own] of byPath) {
    const size = step.found.length + step.entered.length
    if (size > 0 && size + own.length > EVENTS_PER_STEP) {
      yield step
      step = { found: [], entered: [], complete: [], removed: [], cursor: text }
    }
    step[(own[0]?.createdAt ?? 0) < since ? 'entered' : 'found'].push(...own)
    step.complete.push(...new Set([path, ...own.map(({ recurringEventId, eventId }) => recurringEventId ?? eventId)]))
  }
  // Last, because what a step finds counts as read.
  yield { ...step, unreadable }
}

/** The sync token of a calendar; without one, its ctag; without that, a hash of all ETags. */
async function readState(collection: Collection): Promise<State> {
  const properties = await readProperties(collection, ['D:sync-token', 'D:supported-report-set'])
  const token = properties?.get('D:sync-token')?.text.trim() ?? ''
  const reports = properties?.get('D:supported-report-set')?.children ?? []
  const canSync =
    // Xandikos leaves out the element `report` in between.
    reports.length === 0 ||
    reports.some((each) => child(each, 'D:report', 'D:sync-collection') ?? child(each, 'D:sync-collection'))
  if (token !== '' && canSync) return stateWith(token)
  // Not with the token: servers without a database read all objects for each of the two.
  const ctag = (await readProperties(collection, ['CS:getctag']))?.get('CS:getctag')?.text.trim() ?? ''
  if (ctag !== '') return { kind: 'state', value: hashText(ctag) }
  const etags = [...(await listEtags(collection))].sort(([left], [right]) => (left < right ? -1 : 1))
  return { kind: 'state', value: hashText(JSON.stringify(etags)) }
}

async function readProperties({ client, url, signal }: Collection, names: readonly string[]) {
  const body = propfindBody(names)
  const found = await client.read({ method: 'PROPFIND', url, depth: '0', body, doing: DOING, signal })
  return found.resources[0]?.properties
}

function stateWith(token: string): State {
  if (token.length > MAX_CURSOR) throw new ProviderError('limit_exceeded', `${DOING}: the sync token is too long`)
  return { kind: 'sync', value: token }
}

function parsed(cursor: string): Cursor {
  const { kind, value, from } = JSON.parse(cursor)
  const isState = (kind === 'sync' || kind === 'state') && typeof value === 'string'
  if (isState && typeof from === 'number') return { kind, value, from }
  return { kind: 'begun' }
}

function expired(): ProviderError {
  return new ProviderError('cursor_expired', `${DOING}: all events must be read again`)
}

function hashText(text: string): string {
  return sha256(text, 'hex')
}
