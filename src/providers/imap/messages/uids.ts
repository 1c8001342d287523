import type { ImapFlow } from 'imapflow'
import { connectionLost } from '../errors.ts'

/** How many numbers one SEARCH may return. The response gate allows 640 kB, which is 58,000 numbers of ten digits. */
export const SEARCH_WINDOW = 50_000

/**
 * UIDs of the selected folder, by position or by UID, ascending. Request at most `SEARCH_WINDOW`: SEARCH responds with one line, FETCH
 * with one per message.
 */
export async function listUids(imap: ImapFlow, range: { seq: string } | { uid: string }): Promise<number[]> {
  const uids = await imap.search(range, { uid: true })
  if (!uids) throw connectionLost('the messages of the folder cannot be listed')
  return uids
}

/** A compact sequence set like `3,5:9`. The UIDs must ascend. */
export function uidSet(uids: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const uid of uids) {
    const last = ranges.at(-1)
    if (last !== undefined && uid === last[1] + 1) last[1] = uid
    else ranges.push([uid, uid])
  }
  return ranges.map(([low, high]) => (low === high ? `${low}` : `${low}:${high}`)).join(',')
}

/** UIDs by position, ascending. */
export async function uidsAt(imap: ImapFlow, low: number, high: number): Promise<number[]> {
  const uids: number[] = []
  for (let from = low; from <= high; from += SEARCH_WINDOW) {
    const range = { seq: `${from}:${Math.min(high, from + SEARCH_WINDOW - 1)}` }
    for (const uid of await listUids(imap, range)) uids.push(uid)
  }
  return uids
}

/** How many messages have a lower UID than a message that probably exists: one search, unless it was deleted. */
export async function countBelowMessage(imap: ImapFlow, exists: number, uid: number): Promise<number> {
  const positions = await imap.search({ uid: String(uid) })
  const [position = 0] = positions || []
  return positions && positions.length === 1 ? position - 1 : countBelow(imap, exists, uid)
}

/** How many messages have a lower UID. A binary search by position, so that the folder is not listed entirely. */
export async function countBelow(imap: ImapFlow, exists: number, beforeUid: number): Promise<number> {
  let [low, high] = [0, exists]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const uid = (await listUids(imap, { seq: String(middle) }))[0]
    if (uid !== undefined && uid < beforeUid) low = middle
    else high = middle - 1
  }
  return low
}
