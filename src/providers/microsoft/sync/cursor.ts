import { sha256 } from '../../../platform/crypto/sha256.ts'
import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import { ProviderError } from '../../contract/index.ts'
import { type Json, list, object, text, wholeNumber } from '../../shared/rest/index.ts'
import { type Graph, requirePage } from '../client.ts'
import { receivedAt } from '../map.ts'
import { PageSize } from '../page-size.ts'

/** The position of a folder. */
export interface Cursor {
  /** The next delta request: a query (`?$deltatoken=…`), or a path where Graph returned another form. */
  next: string
  /** When Graph returned `next`. An old one is renewed before Graph forgets it. */
  atMs: number
  /** `next` continues an unfinished round. */
  isOpen: boolean
  /** How many messages the folder's first listing has returned so far; null once it is complete. */
  listed: number | null
  /** The listing is filtered to messages since the horizon. */
  filtered: boolean
  /** A comparison is in progress: first the listing, then the search for deleted messages. */
  comparing: boolean
  horizon: Horizon
}

/** Which messages of a mailbox are synced. The same for all folders, so that a message is found in the folder it moved to. */
export interface Horizon {
  /** Messages received before are not stored; null: all are. */
  sinceMs: number | null
  /** Messages received later are new. */
  baselineMs: number
  /**
   * Graph's times are whole seconds. These are the marks of the messages received in the second of the baseline that existed when the
   * horizon was set; null: any message of that second may have existed.
   */
  there: string[] | null
}

export function writeCursor({ horizon, ...rest }: Cursor): string {
  return JSON.stringify({ v: 1, ...rest, ...horizon })
}

/** Throws `cursor_expired` for anything that this version did not write. */
export function readCursor(written: string): Cursor {
  try {
    const { v, next, atMs, isOpen, listed, filtered, comparing, sinceMs, baselineMs, there } = object(
      JSON.parse(written),
    )
    if (v !== 1 || typeof comparing !== 'boolean') throw new Error('unknown version')
    return {
      next: required(text(next)),
      atMs: required(wholeNumber(atMs)),
      isOpen: isOpen === true,
      listed: listed === null ? null : required(wholeNumber(listed)),
      filtered: filtered === true,
      comparing,
      horizon: {
        sinceMs: sinceMs === null ? null : required(wholeNumber(sinceMs)),
        baselineMs: required(wholeNumber(baselineMs)),
        there: there === null ? null : list(there).flatMap((mark) => text(mark) ?? []),
      },
    }
  } catch (cause) {
    rethrowProgrammingError(cause)
    throw new ProviderError('cursor_expired', 'the stored cursor of the folder is not readable', { cause })
  }
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a field is missing')
  return value
}

/** The most messages that are expected in the second of the newest one. */
const NEWEST_MESSAGES = 20

/**
 * Finds the newest message and the oldest of the newest `initialMessages`, in one request whatever the size of the mailbox. Uses the
 * mailbox's own times, because clocks differ.
 */
export async function findHorizon(
  graph: Graph,
  initialMessages: number,
  { nowMs, signal }: { nowMs: number; signal: AbortSignal },
): Promise<Horizon> {
  const doing = 'finding the newest messages'
  const query = { $select: 'id,receivedDateTime', $orderby: 'receivedDateTime desc' }
  const last = { path: '/me/messages', query: { ...query, $top: 1, $skip: Math.max(0, initialMessages - 1) } }
  const { items, oldest, wanted } = await new PageSize().read(NEWEST_MESSAGES, async ($top) => {
    const newest = { path: '/me/messages', query: { ...query, $top } }
    const results = await graph.batch([newest, last], { doing, signal })
    const oldest = requirePage(results.get(last), doing).items
    return { items: requirePage(results.get(newest), doing).items, oldest, wanted: $top }
  })
  const [newestMs, oldestMs] = [items, oldest].map(([item]) => item && receivedAt(item))
  // In an empty mailbox every later message is new. Imported messages may carry a time in the future.
  const baselineMs = Math.min(newestMs ?? 0, nowMs)
  const sameSecond = items.filter((item) => receivedAt(item) === baselineMs)
  return {
    sinceMs: oldestMs ?? null,
    baselineMs,
    there: sameSecond.length === wanted ? null : sameSecond.map(hashId),
  }
}

/** Whether a message arrived after the horizon was set. */
export function isNewer({ baselineMs, there }: Horizon, item: Json): boolean {
  const receivedMs = receivedAt(item) ?? baselineMs
  return receivedMs > baselineMs || (receivedMs === baselineMs && there !== null && !there.includes(hashId(item)))
}

/** A shortened id, because every cursor contains them. */
function hashId(item: Json): string {
  return sha256(text(item.id) ?? '', 'base64url').slice(0, 12)
}

/** The horizon that covers both. */
export function wider(one: Horizon, other: Horizon): Horizon {
  const since = [one.sinceMs, other.sinceMs].filter((ms) => ms !== null)
  const { baselineMs, there } = one.baselineMs <= other.baselineMs ? one : other
  return { sinceMs: since.length < 2 ? null : Math.min(...since), baselineMs, there }
}
