import type { FolderStep, FolderSyncRequest } from '../../contract/index.ts'
import { beginPass, firstCursor } from './begin.ts'
import { changesSince, isRestored, isStoredCount } from './changes.ts'
import { type Changes, compareWindows } from './compare-windows.ts'
import { writeCursor } from './cursor.ts'
import { ensureSameFolder, type Pass, type PassContext } from './pass.ts'
import { newMessages, type OlderMessages, readOlderMessages, takeOlder } from './read-messages.ts'

const MAX_UID = 0xffff_ffff
/** While a step is stored, the next one is read, unless the server sent more than this for it. */
const MAX_AHEAD_BYTES = 8 * 1024 * 1024

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
  const pass = await beginPass(request, context)
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
  let readAhead: Promise<OlderMessages> | undefined
  while (pass.cursor.pending !== null) {
    request.signal.throwIfAborted()
    const refetched = pass.cursor.pending.refetched
    const isFirst = pass.cursor.low > pass.cursor.baseline
    const read = await (readAhead ?? readOlderMessages(pass, context))
    readAhead = undefined
    const added = takeOlder(pass, read)
    const hasOlder = pass.below > 0
    const steps = [...emit({ refetched, added, ...(pass.cursor.pending === null && { hasOlder }) })]
    // The first messages are wanted soonest, and what failed before is read step by step.
    const mayReadAhead = !isFirst && !pass.hasNewMessages && context.guard.isUsual && read.bytes <= MAX_AHEAD_BYTES
    if (mayReadAhead && pass.cursor.pending !== null) {
      readAhead = readOlderMessages(pass, context)
      // The next round throws any error. If the caller stops before, nobody needs the messages.
      readAhead.catch(() => {})
    }
    yield* steps
    if (pass.hasNewMessages) {
      for await (const added of newMessages(pass, context)) yield* emit({ added })
    }
  }
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
