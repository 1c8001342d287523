import { type EventStep, ProviderError, type RemoteEvent } from '../contract/index.ts'
import { changePages, type DavState, readState } from '../shared/dav/index.ts'
import type { Collection } from './collection.ts'
import { objectPath } from './events/map.ts'
import type { ObjectBatch } from './object-batch.ts'
import { readObjects } from './objects.ts'
import { MARGIN_MS, readInRange } from './range.ts'

/** `from`: events that ended before are not listed. `begun`: the first listing was not read to its end. */
type Cursor = (DavState & { from: number }) | { kind: 'begun' }

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
    const state = await readState(collection, DOING)
    // Without tokens, a server cannot say what was deleted.
    if (state.kind !== 'state' || state.value !== position.value) throw expired()
  }
  // The window now begins earlier, because a setting changed.
  if (position.from > from) yield* readEarlier(collection, position, { from, nowMs })
}

/** From the window on: what ended before it never enters it, and later events are wanted when it reaches them. */
async function* readAll(collection: Collection, from: number): AsyncGenerator<EventStep, void> {
  // Read first: what changes while the objects are read is reported again after it.
  const state = await readState(collection, DOING)
  const range = { from: from - MARGIN_MS, to: Number.POSITIVE_INFINITY }
  for await (const batch of readInRange(collection, range)) yield* buildSteps(batch, { kind: 'begun' })
  yield { found: [], entered: [], complete: [], removed: [], cursor: JSON.stringify({ ...state, from }) }
}

/** Events that ended before the earlier window began. Events that are new otherwise are reported as new. */
async function* readEarlier(
  collection: Collection,
  position: DavState & { from: number },
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
  let token = value
  for await (const { changed, removed, next } of changePages(collection, value, DOING)) {
    for await (const batch of readObjects(collection, changed)) {
      yield* buildSteps(batch, { kind: 'sync', value: token, from })
    }
    token = next
    yield { found: [], entered: [], complete: [], removed, cursor: JSON.stringify({ kind: 'sync', value: next, from }) }
  }
  return token
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

function parsed(cursor: string): Cursor {
  const { kind, value, from } = JSON.parse(cursor)
  const isState = (kind === 'sync' || kind === 'state') && typeof value === 'string'
  if (isState && typeof from === 'number') return { kind, value, from }
  return { kind: 'begun' }
}

function expired(): ProviderError {
  return new ProviderError('cursor_expired', `${DOING}: all events must be read again`)
}
