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

export async function olderMessages(pass: Pass, context: PassContext): Promise<RemoteMessage[]> {
  const pending = pass.cursor.pending ?? { left: 0, refetched: false }
  return context.use(async (client, box) => {
    ensureSameFolder(box, pass)
    pass.total = box.exists
    const isFirst = pass.cursor.low > pass.cursor.baseline
    const limit = context.guard.limit(isFirst ? Math.min(FIRST_STEP, context.step) : context.step)
    let unlisted = 0
    if (pass.older === undefined) {
      // The first step lists only its own messages: a list of all would delay them.
      const count = isFirst ? Math.min(pending.left, limit) : pending.left
      const { uids, below } = await olderUids(client.imap, box, pass.cursor, count)
      pass.older = uids
      pass.below = below
      unlisted = Math.min(pending.left - uids.length, below)
    }
    const chunk = pass.older.splice(-limit)
    // Another attempt would end the same way, without a pause.
    if (chunk.length === 0 && unlisted > 0) throw listsNone(box)
    const messages = await fetchMessages(client, chunk, { ...fetchPlan(pass, context), lowUid: 1, limit })
    const left = pass.older.length + unlisted
    if (unlisted > 0) pass.older = undefined
    pass.hasNewMessages = box.exists > pass.cursor.exists
    pass.cursor = {
      ...pass.cursor,
      low: chunk[0] ?? pass.cursor.low,
      pending: left === 0 ? null : { ...pending, left },
    }
    return messages.sort((left, right) => (right.location?.uid ?? 0) - (left.location?.uid ?? 0))
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
