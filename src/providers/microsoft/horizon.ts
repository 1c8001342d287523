import type { Horizon } from './cursor.ts'
import { answeredPage, type Graph } from './graph.ts'
import { receivedAt } from './map.ts'

/**
 * Where the newest `initialMessages` of the whole mailbox begin, and what is the newest: one request, whatever the size of the mailbox.
 * By the mailbox's own time: clocks differ.
 */
export async function findHorizon(
  graph: Graph,
  initialMessages: number,
  nowMs: number,
  signal: AbortSignal,
): Promise<Horizon> {
  const doing = 'looking for the newest messages'
  const query = { $select: 'receivedDateTime', $orderby: 'receivedDateTime desc', $top: 1 }
  const newest = { path: '/me/messages', query }
  const last = { path: '/me/messages', query: { ...query, $skip: Math.max(0, initialMessages - 1) } }
  const outcome = await graph.batch([newest, last], { doing, signal })
  const [newestMs, lastMs] = [newest, last].map((item) => {
    const first = answeredPage(outcome.get(item), doing).items[0]
    return first === undefined ? undefined : receivedAt(first)
  })
  return {
    sinceMs: initialMessages < 1 ? (newestMs ?? -1) + 1 : (lastMs ?? null),
    // Of an empty mailbox everything is new. Imported mails may claim to be of the future.
    baselineMs: Math.min(newestMs ?? 0, nowMs),
  }
}

/** What covers both. */
export function wider(one: Horizon, other: Horizon): Horizon {
  const since = [one.sinceMs, other.sinceMs].filter((ms) => ms !== null)
  return {
    sinceMs: since.length < 2 ? null : Math.min(...since),
    baselineMs: Math.min(one.baselineMs, other.baselineMs),
  }
}
