import type { ImapFlow, MailboxObject } from 'imapflow'
import { FIRST_STEP, ProviderError, type RemoteMessage } from '../../contract/index.ts'
import { fetchMessages } from '../messages/fetch.ts'
import { countBelow, countBelowMessage, listUids, SEARCH_WINDOW, uidsAt } from '../messages/uids.ts'
import type { Cursor } from './cursor.ts'
import { ensureSameFolder, type Pass, type PassContext } from './pass.ts'

export async function* newMessages(pass: Pass, context: PassContext): AsyncGenerator<RemoteMessage[]> {
  const { use, guard } = context
  for (;;) {
    const limit = guard.limit(context.step)
    const added = await use(async (client, box) => {
      ensureSameFolder(box, pass)
      pass.total = box.exists
      const from = pass.cursor.uidNext
      const expected = Math.max(box.exists - pass.cursor.exists, (box.uidNext || 0) - from)
      // A few messages, the usual case, are fetched without listing their UIDs first.
      const isListed = expected > limit || guard.needsList(pass.cursor)
      const range = isListed ? await firstUids(client.imap, box, { from, limit, expected }) : `${from}:*`
      return fetchMessages(client, range, { ...fetchPlan(pass, context), lowUid: from, limit })
    })
    pass.hasNewMessages = false
    let { uidNext, exists, unseen } = pass.cursor
    for (const { location, unread, starred, unreadable } of added) {
      if (location === undefined) continue
      const knowsFlags = unreadable === undefined || unreadable.knowsFlags
      pass.added.set(location.uid, knowsFlags ? { unread, starred } : undefined)
      uidNext = Math.max(uidNext, location.uid + 1)
      exists += 1
      if (unread) unseen += 1
    }
    pass.cursor = { ...pass.cursor, uidNext, exists, unseen }
    if (added.length > 0) yield added
    if (added.length < limit) return
  }
}

/** The first `limit` UIDs from `from` on. */
async function firstUids(
  imap: ImapFlow,
  box: MailboxObject,
  { from, limit, expected }: { from: number; limit: number; expected: number },
): Promise<number[]> {
  if (expected > SEARCH_WINDOW) {
    const before = await countBelow(imap, box.exists, from)
    return uidsAt(imap, before + 1, Math.min(box.exists, before + limit))
  }
  const uids = await listUids(imap, { uid: `${from}:*` })
  return uids.filter((uid) => uid >= from).slice(0, limit)
}

/** The next messages of a first sync, and what the pass knows once they are taken. */
export interface OlderMessages {
  /** Newest first. */
  messages: RemoteMessage[]
  known: Pick<Pass, 'cursor' | 'below' | 'total' | 'hasNewMessages'>
  /** The UIDs that were listed, and how many of their last ones `messages` are. */
  listed: number[]
  taken: number
  /** Others are still to be listed. */
  isListedInPart: boolean
  /** Bytes received for them, with the lists of UIDs. */
  bytes: number
}

/** Moves the pass on behind the messages, which are returned. */
export function takeOlder(
  pass: Pass,
  { messages, known, listed, taken, isListedInPart }: OlderMessages,
): RemoteMessage[] {
  Object.assign(pass, known)
  // In place: a folder may have a million.
  listed.length -= taken
  pass.older = isListedInPart ? undefined : listed
  return messages
}

/** Changes nothing of the pass, so that it may run while the step before is stored. */
export async function readOlderMessages(pass: Pass, context: PassContext): Promise<OlderMessages> {
  const { cursor } = pass
  const pending = cursor.pending ?? { left: 0, refetched: false }
  return context.use(async (client, box) => {
    ensureSameFolder(box, pass)
    const bytesBefore = client.traffic().bytes
    const isFirst = cursor.low > cursor.baseline
    const limit = context.guard.limit(isFirst ? Math.min(FIRST_STEP, context.step) : context.step)
    let { older: listed, below } = pass
    let unlisted = 0
    if (listed === undefined) {
      // The first step lists only its own messages: a list of all would delay them.
      const count = isFirst ? Math.min(pending.left, limit) : pending.left
      const found = await olderUids(client.imap, box, cursor, count)
      listed = found.uids
      below = found.below
      unlisted = Math.min(pending.left - listed.length, below)
    }
    const chunk = listed.slice(-limit)
    // Another attempt would end the same way, without a pause.
    if (chunk.length === 0 && unlisted > 0) throw listsNone(box)
    const messages = await fetchMessages(client, chunk, { ...fetchPlan(pass, context), lowUid: 1, limit })
    const left = listed.length - chunk.length + unlisted
    return {
      messages: messages.sort((one, other) => (other.location?.uid ?? 0) - (one.location?.uid ?? 0)),
      known: {
        cursor: { ...cursor, low: chunk[0] ?? cursor.low, pending: left === 0 ? null : { ...pending, left } },
        below,
        total: box.exists,
        hasNewMessages: box.exists > cursor.exists,
      },
      listed,
      taken: chunk.length,
      isListedInPart: unlisted > 0,
      bytes: client.traffic().bytes - bytesBefore,
    }
  })
}

function listsNone({ path, exists }: MailboxObject): ProviderError {
  const doing = `reading the folder ${path}`
  return new ProviderError(
    'unavailable',
    `${doing}: the server counts ${exists} messages, and lists none of the older ones`,
  )
}

/**
 * The newest `count` UIDs below the synced ones, ascending, and how many messages are below these. Searches by position, so that a large
 * folder is not listed entirely.
 */
async function olderUids(imap: ImapFlow, box: MailboxObject, cursor: Cursor, count: number) {
  if (count <= 0) return { uids: [], below: box.exists }
  const top = box.exists === 0 ? 0 : await countOlder(imap, box, cursor)
  if (top <= 0) return { uids: [], below: 0 }
  const uids = await uidsAt(imap, Math.max(1, top - count + 1), top)
  return { uids: uids.filter((uid) => uid < cursor.low), below: Math.max(0, top - count) }
}

/**
 * How many messages are below the synced ones. New messages do not change this position, as they would a count from the end: they may be
 * in the results of a SEARCH and not yet in the count of the folder, or the other way round.
 */
async function countOlder(imap: ImapFlow, box: MailboxObject, { low, baseline, exists }: Cursor): Promise<number> {
  if (low > baseline) return Math.min(exists, box.exists)
  return countBelowMessage(imap, box.exists, low)
}

function fetchPlan({ cursor }: Pass, { now, guard }: PassContext) {
  return {
    uidValidity: cursor.uidValidity,
    isNew: (uid: number) => uid > cursor.baseline,
    nowMs: now(),
    guard,
  }
}
