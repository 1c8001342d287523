import type { ImapFlow } from 'imapflow'
import type { FolderSyncRequest } from '../../contract/index.ts'
import { flagState } from '../messages/map.ts'

export interface Changes {
  changed: { uid: number; unread: boolean; starred: boolean }[]
  removed: number[]
}

const FIRST_WINDOW = 2000
const FEW_MESSAGES = 500
/** A server may claim UIDs up to four billion, and then report one message for each UID of a window. */
const MAX_WINDOW = 128_000

/**
 * For servers that cannot say what changed: reads the flags of all messages from `highUid` down to `lowUid` and compares them with the
 * stored messages, in windows of UIDs. Holds one window in memory.
 */
export async function* compareWindows(
  use: <T>(work: (imap: ImapFlow) => Promise<T>) => Promise<T>,
  request: Pick<FolderSyncRequest, 'listStored' | 'signal'>,
  lowUid: number,
  highUid: number,
): AsyncGenerator<Changes> {
  let width = FIRST_WINDOW
  for (let high = highUid; high >= lowUid; ) {
    request.signal.throwIfAborted()
    const low = Math.max(lowUid, high - width + 1)
    // Read before the server's flags, so that a message stored meanwhile does not look deleted.
    const stored = await request.listStored(low, high)
    const present = await use((imap) => readFlags(imap, low, high))
    const changes = difference(stored, present)
    if (changes.changed.length > 0 || changes.removed.length > 0) yield changes
    // UIDs may be sparse: crosses gaps in ever larger windows.
    width = Math.max(present.size, stored.length) < FEW_MESSAGES ? Math.min(width * 4, MAX_WINDOW) : FIRST_WINDOW
    high = low - 1
  }
}

type Flags = { unread: boolean; starred: boolean }

async function readFlags(imap: ImapFlow, low: number, high: number): Promise<Map<number, Flags>> {
  const flags = new Map<number, Flags>()
  for await (const row of imap.fetch(`${low}:${high}`, { uid: true, flags: true }, { uid: true })) {
    if (row.uid && row.uid >= low && row.uid <= high) flags.set(row.uid, flagState(row.flags))
  }
  return flags
}

function difference(stored: readonly ({ uid: number } & Flags)[], present: ReadonlyMap<number, Flags>): Changes {
  const changes: Changes = { changed: [], removed: [] }
  for (const { uid, unread, starred } of stored) {
    const now = present.get(uid)
    if (now === undefined) changes.removed.push(uid)
    else if (now.unread !== unread || now.starred !== starred) changes.changed.push({ uid, ...now })
  }
  return changes
}
