import type { Static } from 'typebox'
import * as Type from 'typebox'
import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type EventStep,
  type EventSyncRequest,
  ProviderError,
  type RemoteEvent,
  type UnreadableEvent,
} from '../../contract/index.ts'
import { PageLinks, parser, type RestMailbox } from '../../shared/rest/index.ts'
import { type EventPage, eventPage } from './client.ts'
import { mappedItem } from './map.ts'

const DAY_MS = 86_400_000
/** An instance that was moved out of the window is listed if it is not further away than this. */
const MARGIN_MS = 31 * DAY_MS
/** Clocks differ: an event that was created later than this before a listing is new. */
const CLOCK_MS = 120_000

const LISTING = 'listing events'
const READING = 'reading the changes of a calendar'

const cursorSchema = Type.Object({
  /** Events that ended before are not listed. */
  from: Type.Number(),
  /** Where changes begin; absent until the first listing is complete. */
  token: Type.Optional(Type.String({ minLength: 1, maxLength: 1500 })),
  /** The next page of the changes since `token`. */
  changes: Type.Optional(Type.String({ minLength: 1, maxLength: 1500 })),
  /** A listing in progress. `since`: it follows an earlier one, and only later events are new. */
  listing: Type.Optional(
    Type.Object({ page: Type.String({ maxLength: 1500 }), since: Type.Union([Type.Number(), Type.Null()]) }),
  ),
})
type Cursor = Static<typeof cursorSchema>
const parseCursor = parser(cursorSchema)

/**
 * Lists all events from the beginning of the window on, then reads changes by sync token. There is no upper bound, so that a later
 * window needs no other listing; few events are years ahead, and a series counts as one. Google's sync tokens do not work together
 * with a time range, but may follow a listing with one.
 */
export async function* syncEvents(
  mailbox: RestMailbox,
  { calendarId, cursor: written, window, signal }: EventSyncRequest,
  clock: Clock,
): AsyncGenerator<EventStep> {
  const from = window.from - MARGIN_MS
  let cursor: Cursor = written === null ? { from, listing: { page: '', since: null } } : readCursor(written)
  if (cursor.listing === undefined) cursor = yield* readChanges(cursor)
  // The window now begins earlier, because a setting changed.
  if (cursor.from > window.from) cursor = { from, listing: { page: '', since: clock.now() } }
  if (cursor.listing !== undefined) yield* list(cursor, cursor.listing)

  async function* list({ from }: Cursor, { page, since }: NonNullable<Cursor['listing']>): AsyncGenerator<EventStep> {
    const links = new PageLinks(LISTING)
    for (let pageToken = page; ; ) {
      const query = { timeMin: new Date(from).toISOString(), singleEvents: false, pageToken: pageToken || undefined }
      const result = await eventPage(mailbox, calendarId, query, { doing: LISTING, signal }).catch((error: unknown) => {
        if (pageToken === '' || pageToken !== page || !isRefused(error)) throw error
      })
      if (result === undefined) {
        // Google no longer accepts the page token of an earlier run.
        pageToken = ''
        continue
      }
      const { next } = result
      if (next === undefined && result.syncToken === undefined) throw incomplete(LISTING)
      const cursor = next === undefined ? { from, token: result.syncToken } : { from, listing: { page: next, since } }
      const { found, removed, unreadable } = mapItems(result)
      const isNew = ({ createdAt }: RemoteEvent) => since === null || (createdAt ?? 0) > since - CLOCK_MS
      const entered = found.filter((event) => !isNew(event))
      yield { found: found.filter(isNew), entered, complete: [], removed, unreadable, cursor: JSON.stringify(cursor) }
      if (next === undefined) return
      pageToken = links.follow(next, result.items.length)
    }
  }

  async function* readChanges({ from, token = '', changes }: Cursor): AsyncGenerator<EventStep, Cursor> {
    const links = new PageLinks(READING)
    for (let pageToken = changes; ; ) {
      const query = { singleEvents: false, syncToken: token, pageToken }
      const result = await eventPage(mailbox, calendarId, query, { doing: READING, signal }).catch((error: unknown) => {
        throw isRefused(error)
          ? new ProviderError('cursor_expired', `${READING}: the sync token has expired`, { cause: error })
          : error
      })
      const { next, syncToken } = result
      if (next === undefined && syncToken === undefined) throw incomplete(READING)
      const cursor: Cursor = next === undefined ? { from, token: syncToken ?? token } : { from, token, changes: next }
      const { found, removed, unreadable } = mapItems(result)
      const isEmpty =
        found.length + removed.length + unreadable.length === 0 && cursor.token === token && pageToken === next
      if (!isEmpty) yield { found, entered: [], complete: [], removed, unreadable, cursor: JSON.stringify(cursor) }
      if (next === undefined) return cursor
      pageToken = links.follow(next, result.items.length)
    }
  }
}

export function mapItems({ items, context }: EventPage): {
  found: RemoteEvent[]
  removed: string[]
  unreadable: UnreadableEvent[]
} {
  const mapped = items.map((item) => mappedItem(item, context))
  return {
    found: mapped.flatMap((entry) => entry?.event ?? []),
    removed: mapped.flatMap((entry) => entry?.removed ?? []),
    unreadable: mapped.flatMap((entry) => entry?.unreadable ?? []),
  }
}

function readCursor(written: string): Cursor {
  try {
    const cursor = parseCursor(JSON.parse(written))
    if (cursor.token !== undefined || cursor.listing !== undefined) return cursor
  } catch (error) {
    rethrowProgrammingError(error)
    // Reported below.
  }
  throw new ProviderError('cursor_expired', 'the stored cursor of the calendar is not readable')
}

/** Google refuses a token with 410, or 400 when it cannot read it. A 403 refuses the calendar: its token may work again later. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.missingScope || error.denied) return false
  return error.kind === 'cursor_expired' || error.kind === 'rejected'
}

function incomplete(doing: string): ProviderError {
  return new ProviderError('unavailable', `${doing}: the last page has no sync token`)
}
