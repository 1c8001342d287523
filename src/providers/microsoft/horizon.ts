import { createHash } from 'node:crypto'
import type { Horizon } from './cursor.ts'
import { answeredPage, type Graph } from './graph.ts'
import { type Json, text } from './json.ts'
import { receivedAt } from './map.ts'

/** As many may have been received in the second of the newest one. */
const NEWEST = 20

/**
 * Where the newest `initialMessages` of the whole mailbox begin, and what is the newest: one request, whatever the size of the mailbox.
 * By the mailbox's own time: clocks differ. Of nothing the newest one is left, for what arrives in its second.
 */
export async function findHorizon(
  graph: Graph,
  initialMessages: number,
  nowMs: number,
  signal: AbortSignal,
): Promise<Horizon> {
  const doing = 'looking for the newest messages'
  const query = { $select: 'id,receivedDateTime', $orderby: 'receivedDateTime desc' }
  const newest = { path: '/me/messages', query: { ...query, $top: NEWEST } }
  const last = { path: '/me/messages', query: { ...query, $top: 1, $skip: Math.max(0, initialMessages - 1) } }
  const outcome = await graph.batch([newest, last], { doing, signal })
  const { items } = answeredPage(outcome.get(newest), doing)
  const [first, oldest] = [items, answeredPage(outcome.get(last), doing).items].map(
    ([item]) => item && receivedAt(item),
  )
  // Of an empty mailbox everything is new. Imported mails may claim to be of the future.
  const baselineMs = Math.min(first ?? 0, nowMs)
  const same = items.filter((item) => receivedAt(item) === baselineMs)
  return {
    sinceMs: oldest ?? null,
    baselineMs,
    there: same.length === NEWEST ? null : same.map(mark),
  }
}

/** Whether a message came after all that was there when its mailbox was first seen. */
export function isNewer({ baselineMs, there }: Horizon, item: Json): boolean {
  const receivedMs = receivedAt(item) ?? baselineMs
  return receivedMs > baselineMs || (receivedMs === baselineMs && there !== null && !there.includes(mark(item)))
}

/** An id, shortened: they stand in every cursor. */
function mark(item: Json): string {
  return createHash('sha256')
    .update(text(item.id) ?? '')
    .digest('base64url')
    .slice(0, 12)
}

/** What covers both. */
export function wider(one: Horizon, other: Horizon): Horizon {
  const since = [one.sinceMs, other.sinceMs].filter((ms) => ms !== null)
  return {
    sinceMs: since.length < 2 ? null : Math.min(...since),
    ...(one.baselineMs <= other.baselineMs ? baselineOf(one) : baselineOf(other)),
  }
}

function baselineOf({ baselineMs, there }: Horizon): Pick<Horizon, 'baselineMs' | 'there'> {
  return { baselineMs, there }
}
