import type { ImapFlow, MailboxObject, StatusObject } from 'imapflow'
import {
  FIRST_STEP,
  type FolderStep,
  type FolderSyncRequest,
  ProviderError,
  type RemoteMessage,
} from '../../contract/index.ts'
import { requireUidValidity } from '../folders/folders.ts'
import { fetchMessages } from '../messages/fetch.ts'
import { hasSameMessages } from '../messages/identity.ts'
import { countBelow, countBelowMessage, listUids, SEARCH_WINDOW, uidsAt } from '../messages/uids.ts'
import { searchUids } from '../search.ts'
import { changesSince, hasModseq, isRestored, isStoredCount } from './changes.ts'
import { type Changes, compareWindows } from './compare-windows.ts'
import { type Cursor, readCursor, writeCursor } from './cursor.ts'
import { ensureSameFolder, type Pass, type PassContext } from './pass.ts'

const MAX_UID = 0xffff_ffff

/**
 * One pass over one folder:
 *
 *   new messages ─→ flags and removals ─→ the rest of a first sync, a step at a time, newest first
 *      ↑_________________________________________│ whenever new messages arrived meanwhile
 *
 * Every step carries a cursor that is valid once that step is stored. While the server reports only new messages, a pass is one
 * FETCH: the mod-sequence of the cursor then stays behind, and the next complete pass continues from it.
 */
export async function* syncSteps(request: FolderSyncRequest, context: PassContext): AsyncGenerator<FolderStep> {
  const pass = await begin(request, context)
  let lastCursor = request.cursor ?? ''
  function* emit(part: Partial<FolderStep>): Generator<FolderStep> {
    const cursor = writeCursor(pass.cursor)
    const isEmpty = !part.added?.length && !part.changed?.length && !part.removed?.length
    if (cursor === lastCursor && isEmpty) return
    lastCursor = cursor
    const { reset, total } = pass
    pass.reset = false
    yield { reset, refetched: false, added: [], changed: [], removed: [], ...part, cursor, total }
  }
  const onlyArrivals = context.onlyArrivals && request.compareFrom === undefined
  const needsComparison = !onlyArrivals && context.needsComparison()
  const isContinued = request.cursor !== null && !pass.reset
  // The previous pass may have fetched what was reported.
  const hasFetchedAll = onlyArrivals && pass.total <= pass.cursor.exists

  if (isContinued && !hasFetchedAll) {
    // Saved or moved here through the API since the last pass. What is deleted before this one appears in no response of the server.
    const stored = await request.listStored(pass.cursor.uidNext, MAX_UID)
    for await (const added of newMessages(pass, context)) yield* emit({ added })
    const removed = stored.flatMap(({ uid }) => (pass.added.has(uid) ? [] : uid))
    if (removed.length > 0) yield* emit({ removed })
  }
  if (isContinued && !onlyArrivals) {
    // Emits each step once the next one is known: only the last may carry the advanced cursor.
    let last: Partial<FolderStep> = {}
    for await (const changes of flagsAndRemovals(pass, request, context, needsComparison)) {
      yield* emit(last)
      last = changes
    }
    yield* emit(last)
  }
  while (pass.cursor.pending !== null) {
    request.signal.throwIfAborted()
    const refetched = pass.cursor.pending.refetched
    const added = await olderMessages(pass, context)
    const hasOlder = pass.below > 0
    yield* emit({ refetched, added, ...(pass.cursor.pending === null && { hasOlder }) })
    if (pass.hasNewMessages) {
      for await (const added of newMessages(pass, context)) yield* emit({ added })
    }
  }
}

/**
 * The only step of the first sync of an empty folder. Its state is enough: selecting the folder would need a second connection. Undefined
 * when the folder has messages, or the state does not say.
 */
export function emptyFolderStep(
  state: StatusObject,
  { hasCondstore, nowMs }: { hasCondstore: boolean; nowMs: number },
): FolderStep | undefined {
  const { messages, uidValidity, uidNext, highestModseq } = state
  if (messages !== 0 || !uidValidity || !uidNext) return undefined
  const cursor = writeCursor({
    uidValidity: String(uidValidity),
    uidNext,
    baseline: uidNext - 1,
    low: uidNext,
    modseq: hasCondstore && highestModseq ? String(highestModseq) : null,
    pending: null,
    exists: 0,
    unseen: 0,
    comparedAt: nowMs,
  })
  return { reset: false, refetched: false, added: [], changed: [], removed: [], cursor, total: 0, hasOlder: false }
}

async function begin(request: FolderSyncRequest, context: PassContext): Promise<Pass> {
  const stored = request.cursor === null ? null : readCursor(request.cursor)
  const total = stored === null ? undefined : await countIfSame(stored, request, context)
  const isSame = stored !== null && total !== undefined
  const cursor = isSame ? stored : await firstCursor(request, context)
  return {
    cursor,
    reset: stored !== null && !isSame,
    total: total ?? cursor.exists,
    older: undefined,
    below: 0,
    hasNewMessages: false,
    added: new Map(),
  }
}

/** How many messages the folder has. Undefined when the UIDs of the cursor do not name the same ones any more. */
async function countIfSame(
  stored: Cursor,
  request: FolderSyncRequest,
  context: PassContext,
): Promise<number | undefined> {
  const needsVerification = !context.onlyArrivals && context.needsVerification()
  const newest = needsVerification ? await request.newest() : []
  return context.use(async ({ imap }, box) => {
    if (requireUidValidity(box) !== stored.uidValidity) return undefined
    // Asks for pending updates, unless the server has already announced new messages.
    if (!context.onlyArrivals && box.exists <= stored.exists) await imap.noop()
    if (await hasSameMessages(imap, newest)) return box.exists
    context.onRestored()
    return undefined
  })
}

/** The position of a folder that is read from its beginning. */
async function firstCursor(request: FolderSyncRequest, context: PassContext): Promise<Cursor> {
  const isReread = request.cursor !== null
  const box = await context.use(async ({ imap }, selected) => {
    // Later passes compare their counts with those of the first sync.
    const status = (await imap.status(selected.path, { unseen: true, uidNext: true })) || undefined
    // Messages that arrive while the folder is selected do not change its UIDNEXT.
    const uidNext = Math.max(selected.uidNext || 0, status?.uidNext ?? 0)
    return {
      ...readState(imap, selected),
      unseen: status?.unseen ?? 0,
      // Some servers do not send UIDNEXT.
      uidNext: uidNext || ((await listUids(imap, { uid: '*' })).at(-1) ?? 0) + 1,
    }
  })
  const seen = isReread ? undefined : firstPosition(context.firstState, box)
  const { initialMessages } = request
  const count = isReread ? Math.max(initialMessages, await request.knownCount()) : initialMessages
  const left = count + (await countMissed(request, context))
  const { uidNext } = seen ?? box
  return {
    ...box,
    ...seen,
    baseline: uidNext - 1,
    low: uidNext,
    comparedAt: context.now(),
    pending: { left, refetched: isReread },
  }
}

/** Where the folder was at an earlier moment, if it still has the same UIDs. */
function firstPosition(state: StatusObject | undefined, box: { uidValidity: string; uidNext: number }) {
  const { uidNext, messages, unseen, uidValidity } = state ?? {}
  if (!uidNext || messages === undefined || unseen === undefined || uidNext > box.uidNext) return undefined
  return String(uidValidity) === box.uidValidity ? { uidNext, exists: messages, unseen } : undefined
}

/** How many messages arrived since the folder was last in sync, and are announced once they are read. */
function countMissed({ missedSinceMs }: FolderSyncRequest, { use }: PassContext): Promise<number> {
  if (missedSinceMs === undefined) return Promise.resolve(0)
  return use(async ({ imap }, box) => (await searchUids(imap, box.exists, { after: missedSinceMs })).length)
}

function readState(imap: ImapFlow, box: MailboxObject) {
  return {
    uidValidity: requireUidValidity(box),
    exists: box.exists,
    modseq: hasModseq(imap, box) && box.highestModseq !== undefined ? String(box.highestModseq) : null,
  }
}

async function* newMessages(pass: Pass, context: PassContext): AsyncGenerator<RemoteMessage[]> {
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

async function olderMessages(pass: Pass, context: PassContext): Promise<RemoteMessage[]> {
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

/** When this ends, `pass.cursor` is the one to store with the last of the changes. */
async function* flagsAndRemovals(
  pass: Pass,
  request: FolderSyncRequest,
  context: PassContext,
  needsComparison: boolean,
): AsyncGenerator<Partial<Changes>> {
  const since = await changesSince(pass, request, context, needsComparison)
  const { steps, compare, wentBack, doubtedCount, advance } = since
  if (wentBack && (await context.use((client, box) => isRestored(client, box, pass)))) {
    context.onRestored()
    pass.cursor = await firstCursor(request, context)
    pass.reset = true
    return
  }
  yield* steps
  // A first sync in progress continues at its own lowest UID.
  const isExtended = request.compareFrom !== undefined && pass.cursor.pending === null
  const low = isExtended ? Math.min(pass.cursor.low, request.compareFrom ?? pass.cursor.low) : pass.cursor.low
  const use: PassContext['use'] = (work) =>
    context.use((client, box) => {
      ensureSameFolder(box, pass)
      return work(client, box)
    })
  // Lets the caller store the changes found so far before they are counted, and compared with the stored messages.
  if (compare || isExtended || doubtedCount !== undefined) yield {}
  const isComplete = doubtedCount === undefined || (await isStoredCount(pass, request, use, doubtedCount))
  if (compare || isExtended || !isComplete) {
    yield* compareWindows((work) => use(({ imap }) => work(imap)), request, low, pass.cursor.uidNext - 1)
  }
  pass.cursor = { ...pass.cursor, ...advance, low }
}

function fetchPlan({ cursor }: Pass, { now, guard }: PassContext) {
  return {
    uidValidity: cursor.uidValidity,
    isNew: (uid: number) => uid > cursor.baseline,
    nowMs: now(),
    guard,
  }
}
