import type { ImapFlow, MailboxObject, StatusObject } from 'imapflow'
import type { FolderStep, FolderSyncRequest } from '../../contract/index.ts'
import { requireUidValidity } from '../folders/folders.ts'
import { hasSameMessages } from '../messages/same-message.ts'
import { listUids } from '../messages/uids.ts'
import { searchUids } from '../search.ts'
import { hasModseq } from './changes.ts'
import { type Cursor, readCursor, writeCursor } from './cursor.ts'
import type { Pass, PassContext } from './pass.ts'

/** The state of a pass: it continues from the cursor, or reads the folder from its beginning. */
export async function beginPass(request: FolderSyncRequest, context: PassContext): Promise<Pass> {
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
export async function firstCursor(request: FolderSyncRequest, context: PassContext): Promise<Cursor> {
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
