import type { ImapFlow } from 'imapflow'
import type { FolderSyncRequest } from '../contract/index.ts'
import { flagState } from './map.ts'

export interface Changes {
  changed: { uid: number; unread: boolean; starred: boolean }[]
  removed: number[]
}

const FIRST_WINDOW = 2000
const FEW_ROWS = 500

/**
 * For servers that cannot say what changed: reads the flags of all messages from `highUid` down to `lowUid`, in windows of
 * uids, and compares each with what is stored. Memory holds one window at a time.
 */
export async function* compareWindows(
  hold: <T>(work: (imap: ImapFlow) => Promise<T>) => Promise<T>,
  request: Pick<FolderSyncRequest, 'known' | 'signal'>,
  lowUid: number,
  highUid: number,
): AsyncGenerator<Changes> {
  let width = FIRST_WINDOW
  for (let high = highUid; high >= lowUid; ) {
    request.signal.throwIfAborted()
    const low = Math.max(lowUid, high - width + 1)
    // Read before the server is asked: a message stored meanwhile must not look as if it were gone.
    const known = await request.known(low, high)
    const standing = await hold((imap) => readFlags(imap, low, high))
    const changes = difference(known, standing)
    if (changes.changed.length > 0 || changes.removed.length > 0) yield changes
    // Uids may be sparse: empty stretches are crossed in ever larger steps.
    width = Math.max(standing.size, known.length) < FEW_ROWS ? width * 4 : FIRST_WINDOW
    high = low - 1
  }
}

type Flags = { unread: boolean; starred: boolean }

async function readFlags(imap: ImapFlow, low: number, high: number): Promise<Map<number, Flags>> {
  const standing = new Map<number, Flags>()
  for await (const row of imap.fetch(`${low}:${high}`, { uid: true, flags: true }, { uid: true })) {
    if (row.uid) standing.set(row.uid, flagState(row.flags))
  }
  return standing
}

function difference(known: readonly ({ uid: number } & Flags)[], standing: ReadonlyMap<number, Flags>): Changes {
  const changes: Changes = { changed: [], removed: [] }
  for (const { uid, unread, starred } of known) {
    const now = standing.get(uid)
    if (now === undefined) changes.removed.push(uid)
    else if (now.unread !== unread || now.starred !== starred) changes.changed.push({ uid, ...now })
  }
  return changes
}
