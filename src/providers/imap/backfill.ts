import type { ImapFlow, MailboxObject } from 'imapflow'
import { LRUCache } from 'lru-cache'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { BACKFILL_READ, type FolderBackfill, ProviderError } from '../contract/index.ts'
import type { ImapClient } from './connection/client.ts'
import type { RequestConnection } from './connection/request-connection.ts'
import type { WorkLimits } from './connection/work-limits.ts'
import { requireUidValidity } from './folders/folders.ts'
import { fetchMessages } from './messages/fetch.ts'
import { SEARCH_WINDOW } from './messages/uids.ts'
import { DAY_MS, search, startOfDay } from './search.ts'
import { readCursor } from './sync/cursor.ts'
import { FetchGuard } from './sync/fetch-guard.ts'

/** UIDs of a window from the last read on, ascending, by account, folder and window. */
type BackfillWindows = LRUCache<string, number[]>

const MAX_CACHED_UIDS = 2_000_000

export function backfillWindows(): BackfillWindows {
  return new LRUCache({ maxSize: MAX_CACHED_UIDS, sizeCalculation: (uids) => uids.length + 1 })
}

interface BackfillOptions {
  accountId: string
  clock: Clock
  windows: BackfillWindows
  deadlineMs: number
  limits: WorkLimits
}

const FIRST_DAYS = 7
const MAX_DAYS = 365
/** Empty windows that one read crosses. */
const MAX_EMPTY = 8

/**
 * Reads a folder in windows of days, the newest first, and within a window by UID. SEARCH compares the server's own dates, so every
 * message is in exactly one window, whatever the zone. Reads only UIDs that the folder had at its first sync: later ones are new mail.
 */
export function imapBackfill(connection: () => RequestConnection, options: BackfillOptions): FolderBackfill {
  const { accountId, clock, windows, deadlineMs, limits } = options

  function inFolder<T>(
    { path, cursor, signal }: { path: string; cursor: string; signal: AbortSignal },
    doing: string,
    work: (client: ImapClient, box: MailboxObject, highest: number) => Promise<T>,
  ): Promise<T> {
    const { uidValidity, baseline } = readCursor(cursor)
    return connection().useFolder(path, {
      doing,
      deadlineMs,
      limits,
      signal,
      uidValidity,
      work: async (client, box) => {
        if (requireUidValidity(box) !== uidValidity) {
          throw new ProviderError('cursor_expired', `${doing}: the UIDVALIDITY of the folder changed`)
        }
        return work(client, box, baseline)
      },
    })
  }

  return {
    count: ({ sinceMs, ...request }) =>
      inFolder(request, 'counting messages', async ({ imap }, box, highest) => {
        // The search by day returns messages of the day before, too; only some of them are in the range.
        const uids = await findUids(imap, box, highest, { sinceDay: firstDay(sinceMs), beforeDay: null })
        return uids.length
      }),

    read: ({ sinceMs, position: written, limit, findStored, ...request }) =>
      inFolder(request, 'reading older messages', async (client, box, highest) => {
        const uidValidity = requireUidValidity(box)
        const guard = new FetchGuard(request, BACKFILL_READ)
        let position = written === null ? firstPosition(sinceMs, clock.now()) : readPosition(written)
        for (let empty = 0; ; empty += 1) {
          const key = JSON.stringify([
            accountId,
            request.path,
            uidValidity,
            highest,
            position.sinceDay,
            position.beforeDay,
          ])
          const { belowUid } = position
          // A read that begins the window again needs all of it.
          const cached = belowUid === null ? undefined : windows.get(key)
          const listed = cached ?? (await findUids(client.imap, box, highest, position))
          const left = belowUid === null ? listed : listed.filter((uid) => uid < belowUid)
          const count = guard.limit(Math.min(limit, BACKFILL_READ))
          const uids = left.slice(-count)
          const rest = left.slice(0, left.length - uids.length)
          // With the UIDs of this read, because a failed one is repeated from the same position.
          if (rest.length > 0) windows.set(key, left)
          else windows.delete(key)
          const next =
            rest.length > 0 ? { ...position, belowUid: uids[0] ?? null } : nextWindow(position, sinceMs, listed.length)
          const isEnough = uids.length > 0 || next === null || empty === MAX_EMPTY
          if (!isEnough) {
            position = next
            continue
          }
          const plan = { uidValidity, isNew: () => false, nowMs: clock.now(), lowUid: 1, limit: count, guard }
          const stored = await findStored(uids)
          const unknown = uids.filter((uid) => !stored.has(uid))
          const messages = await fetchMessages(client, unknown, plan)
          return {
            messages: messages.filter(
              ({ receivedAt, unreadable }) => unreadable !== undefined || receivedAt >= sinceMs,
            ),
            passed: stored.size,
            uidValidity,
            position: next === null ? null : JSON.stringify({ v: 1, ...next }),
            reachedMs: next === null ? sinceMs : reachedBefore(next.beforeDay),
          }
        }
      }),
  }
}

/** Days since 1970. `beforeDay` is the first one after the window; null: without end. */
interface Position {
  sinceDay: number
  beforeDay: number | null
  /** UIDs from here on were read. Null: none of the window. */
  belowUid: number | null
}

/** The server's dates may be a day off. */
function firstDay(sinceMs: number): number {
  return Math.floor(sinceMs / DAY_MS) - 1
}

function firstPosition(sinceMs: number, nowMs: number): Position {
  const sinceDay = Math.max(firstDay(sinceMs), Math.floor(nowMs / DAY_MS) - FIRST_DAYS)
  return { sinceDay, beforeDay: null, belowUid: null }
}

/** Wider after a window with few messages, because each costs a SEARCH. Null at the end of the range. */
function nextWindow({ sinceDay, beforeDay }: Position, sinceMs: number, found: number): Position | null {
  const first = firstDay(sinceMs)
  if (sinceDay <= first) return null
  const days = beforeDay === null ? FIRST_DAYS : beforeDay - sinceDay
  const width = found > 10 * BACKFILL_READ ? Math.ceil(days / 2) : Math.min(MAX_DAYS, days * 2)
  return { sinceDay: Math.max(first, sinceDay - width), beforeDay: sinceDay, belowUid: null }
}

/** Every zone's day has begun a day later. */
function reachedBefore(beforeDay: number | null): number {
  return beforeDay === null ? Number.MAX_SAFE_INTEGER : (beforeDay + 1) * DAY_MS
}

/** The UIDs of a window, ascending. */
async function findUids(
  imap: ImapFlow,
  { exists }: MailboxObject,
  highest: number,
  { sinceDay, beforeDay }: Pick<Position, 'sinceDay' | 'beforeDay'>,
): Promise<number[]> {
  const days = {
    since: startOfDay(sinceDay * DAY_MS),
    ...(beforeDay !== null && { before: startOfDay(beforeDay * DAY_MS) }),
  }
  const found: number[] = []
  for (let from = 1; from <= exists; from += SEARCH_WINDOW) {
    const seq = `${from}:${Math.min(exists, from + SEARCH_WINDOW - 1)}`
    const uids = await search(imap, { seq, ...days })
    for (const uid of uids) if (uid <= highest) found.push(uid)
    // UIDs ascend with the position.
    if (uids.some((uid) => uid > highest)) break
  }
  return found.sort((a, b) => a - b)
}

/** Throws `cursor_expired` for anything that this version did not write. */
function readPosition(text: string): Position {
  try {
    const value: unknown = JSON.parse(text)
    if (isPosition(value)) return { sinceDay: value.sinceDay, beforeDay: value.beforeDay, belowUid: value.belowUid }
  } catch (error) {
    rethrowProgrammingError(error)
    // Not JSON: as unusable as any other text.
  }
  throw new ProviderError('cursor_expired', 'the stored checkpoint of the folder is not readable')
}

function isPosition(value: unknown): value is Position {
  if (typeof value !== 'object' || value === null) return false
  const { v, sinceDay, beforeDay, belowUid }: Record<string, unknown> = { ...value }
  const isCount = (number: unknown) => Number.isSafeInteger(number)
  return (
    v === 1 &&
    isCount(sinceDay) &&
    (beforeDay === null || isCount(beforeDay)) &&
    (belowUid === null || isCount(belowUid))
  )
}
