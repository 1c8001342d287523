import type { ImapFlow, MailboxObject } from 'imapflow'
import type { FolderStep, FolderSyncRequest, RemoteMessage } from '../contract/index.ts'
import { changesSince, hasModseq } from './changes.ts'
import { type Changes, compareWindows } from './compare.ts'
import { type Cursor, readCursor, writeCursor } from './cursor.ts'
import { fetchMessages, listUids } from './fetch.ts'
import { ensureSame, type Pass, type PassContext } from './pass.ts'
import { uidValidityOf } from './uid-validity.ts'

/**
 * One pass over one folder:
 *
 *   new mail ─→ flags and removals ─→ the rest of a first sync, a step at a time, newest first
 *      ↑______________________________________│ whenever the folder grew meanwhile
 *
 * The cursor is rewritten with every step; everything it says is true once that step is stored.
 */
export async function* folderSteps(request: FolderSyncRequest, context: PassContext): AsyncGenerator<FolderStep> {
  const pass = await begin(request, context)
  let emitted = request.cursor ?? ''
  function* emit(part: Partial<FolderStep>): Generator<FolderStep> {
    const cursor = writeCursor(pass.cursor)
    const isEmpty = !part.added?.length && !part.changed?.length && !part.removed?.length
    if (cursor === emitted && isEmpty) return
    emitted = cursor
    const { reset, total } = pass
    pass.reset = false
    yield { reset, refetched: false, added: [], changed: [], removed: [], ...part, cursor, total }
  }
  const suspect = context.suspect()

  if (request.cursor !== null && !pass.reset) {
    for await (const added of newMail(pass, context)) yield* emit({ added })
    let last: Partial<FolderStep> = {}
    for await (const changes of changesIn(pass, request, context, suspect)) {
      // The last step alone carries the advanced cursor; most passes have but one.
      yield* emit(last)
      last = changes
    }
    yield* emit(last)
  }
  while (pass.cursor.pending !== null) {
    request.signal.throwIfAborted()
    const refetched = pass.cursor.pending.refetched
    yield* emit({ refetched, added: await olderMail(pass, context) })
    if (pass.cursor.pending !== null && pass.grew) {
      for await (const added of newMail(pass, context)) yield* emit({ added })
    }
  }
}

async function begin(request: FolderSyncRequest, context: PassContext): Promise<Pass> {
  const stored = request.cursor === null ? null : readCursor(request.cursor)
  const box = await context.hold(async ({ imap }, selected) => {
    // What came since the last word of the server shows only now, unless it has announced more than is stored.
    if (stored !== null && selected.exists <= stored.exists) await imap.noop()
    // The counts of a first sync are what later ones are judged by.
    const isFirst = stored?.uidValidity !== String(selected.uidValidity)
    const status = isFirst ? await imap.status(selected.path, { unseen: true }) : false
    return {
      ...stateOf(imap, selected),
      unseen: (status ? status.unseen : undefined) ?? 0,
      // Some servers do not say which uid comes next.
      uidNext: selected.uidNext || ((await listUids(imap, { uid: '*' })).at(-1) ?? 0) + 1,
    }
  })
  const blank: Omit<Pass, 'cursor' | 'reset'> = { total: box.exists, older: undefined, grew: false, added: new Map() }
  if (stored !== null && stored.uidValidity === box.uidValidity) return { ...blank, cursor: stored, reset: false }
  const left = stored === null ? request.initialMessages : Math.max(request.initialMessages, await request.knownCount())
  return {
    ...blank,
    reset: stored !== null,
    cursor: {
      ...box,
      baseline: box.uidNext - 1,
      low: box.uidNext,
      pending: { left, refetched: stored !== null },
      comparedAt: context.now(),
    },
  }
}

function stateOf(imap: ImapFlow, box: MailboxObject) {
  return {
    uidValidity: uidValidityOf(box),
    exists: box.exists,
    modseq: hasModseq(imap, box) && box.highestModseq !== undefined ? String(box.highestModseq) : null,
  }
}

async function* newMail(pass: Pass, context: PassContext): AsyncGenerator<RemoteMessage[]> {
  const { hold, caution } = context
  for (;;) {
    const limit = caution.limit(context.step)
    const added = await hold(async (client, box) => {
      ensureSame(box, pass)
      pass.total = box.exists
      const from = pass.cursor.uidNext
      const expected = Math.max(box.exists - pass.cursor.exists - pass.added.size, (box.uidNext || 0) - from)
      // Nearly always a handful: fetched without asking first. A crowd is counted before, to keep a step small.
      const isCounted = expected > limit || caution.isCareful()
      const wanted = isCounted ? await firstUids(client.imap, from, limit) : `${from}:*`
      return fetchMessages(client, wanted, { ...planOf(pass, context), lowUid: from, limit })
    })
    pass.grew = false
    let highest = pass.cursor.uidNext - 1
    for (const { location, unread, starred } of added) {
      if (location === undefined) continue
      pass.added.set(location.uid, { unread, starred })
      highest = Math.max(highest, location.uid)
    }
    pass.cursor = { ...pass.cursor, uidNext: highest + 1 }
    if (added.length > 0) yield added
    if (added.length < limit) return
  }
}

async function firstUids(imap: ImapFlow, from: number, limit: number): Promise<number[]> {
  const uids = await listUids(imap, { uid: `${from}:*` })
  return uids.filter((uid) => uid >= from).slice(0, limit)
}

async function olderMail(pass: Pass, context: PassContext): Promise<RemoteMessage[]> {
  const pending = pass.cursor.pending ?? { left: 0, refetched: false }
  return context.hold(async (client, box) => {
    ensureSame(box, pass)
    pass.total = box.exists
    pass.older ??= await olderUids(client.imap, box, pass.cursor, pending.left)
    const limit = context.caution.limit(context.step)
    const chunk = pass.older.splice(-limit)
    const messages = await fetchMessages(client, chunk, { ...planOf(pass, context), lowUid: 1, limit })
    const isDone = pass.older.length === 0
    pass.grew = box.exists > pass.cursor.exists + pass.added.size
    pass.cursor = {
      ...pass.cursor,
      low: chunk[0] ?? pass.cursor.low,
      pending: isDone ? null : { ...pending, left: pass.older.length },
    }
    return messages.sort((left, right) => (right.location?.uid ?? 0) - (left.location?.uid ?? 0))
  })
}

/** The newest `left` uids below what is already there, ascending. By position, so that a huge folder is not listed whole. */
async function olderUids(imap: ImapFlow, box: MailboxObject, cursor: Cursor, left: number): Promise<number[]> {
  if (box.exists === 0 || left <= 0) return []
  const stored = await listUids(imap, { uid: `${cursor.low}:*` })
  const top = box.exists - stored.filter((uid) => uid >= cursor.low).length
  if (top <= 0) return []
  const uids = await listUids(imap, { seq: `${Math.max(1, top - left + 1)}:${top}` })
  return uids.filter((uid) => uid < cursor.low)
}

/** The last of these is to be stored together with the cursor as it stands when this ends. */
async function* changesIn(
  pass: Pass,
  request: FolderSyncRequest,
  context: PassContext,
  suspect: boolean,
): AsyncGenerator<Partial<Changes>> {
  const outcome = await changesSince(pass, request, context, suspect)
  yield* outcome.steps
  if (outcome.compare) {
    // What was found so far is stored before it is compared with what is stored.
    yield {}
    const hold = <T>(work: (imap: ImapFlow) => Promise<T>) =>
      context.hold((client, box) => {
        ensureSame(box, pass)
        return work(client.imap)
      })
    yield* compareWindows(hold, request, pass.cursor.low, pass.cursor.uidNext - 1)
  }
  pass.cursor = { ...pass.cursor, ...outcome.advance }
}

function planOf({ cursor }: Pass, { now, caution }: PassContext) {
  return {
    uidValidity: cursor.uidValidity,
    isNew: (uid: number) => uid > cursor.baseline,
    nowMs: now(),
    caution,
  }
}
