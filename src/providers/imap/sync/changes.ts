import type { ImapFlow, MailboxObject, StatusObject } from 'imapflow'
import { type FolderSyncRequest, ProviderError } from '../../contract/index.ts'
import type { ImapClient } from '../connection/client.ts'
import { connectionLost, providerError } from '../errors.ts'
import { STATE } from '../folders/folders.ts'
import { flagState } from '../messages/map.ts'
import { countBelowMessage, listUids } from '../messages/uids.ts'
import type { Changes } from './compare-windows.ts'
import { type Cursor, readCursor } from './cursor.ts'
import { ensureSameFolder, type Pass, type PassContext, RECOMPARE_MS } from './pass.ts'

/** The state of a folder; undefined when it was deleted. A folder whose state the server refuses stops no other one. */
export async function readState(imap: ImapFlow, path: string): Promise<StatusObject | 'refused' | undefined> {
  const status = await imap.status(path, STATE).catch((error) => {
    const { kind } = providerError(error, '')
    if (kind === 'not_found') return undefined
    if (imap.usable && (kind === 'rejected' || kind === 'unavailable')) return false as const
    throw error
  })
  // imapflow returns false for a refusal, too.
  return status === false && imap.usable ? 'refused' : status || undefined
}

/** Compares a folder's state with its cursor. */
export function hasChanged(
  status: StatusObject,
  cursorText: string | null,
  { isCompared, nowMs }: { isCompared: boolean; nowMs: number },
): boolean {
  const cursor = cursorText === null ? undefined : cursorOrNone(cursorText)
  if (cursor === undefined || cursor.pending !== null) return true
  if (String(status.uidValidity) !== cursor.uidValidity) return true
  if (status.uidNext !== undefined && status.uidNext !== cursor.uidNext) return true
  if (cursor.modseq !== null && status.highestModseq !== undefined) {
    // Some servers remove messages without another mod-sequence.
    return String(status.highestModseq) !== cursor.modseq || status.messages !== cursor.exists
  }
  const countsDiffer = status.messages !== cursor.exists || status.unseen !== cursor.unseen
  return countsDiffer || !isCompared || nowMs - cursor.comparedAt > RECOMPARE_MS
}

export function uidValidityOfCursor(text: string): string | undefined {
  return cursorOrNone(text)?.uidValidity
}

/** Treats an unreadable cursor as none: `syncFolder` then throws the error. */
function cursorOrNone(text: string): Cursor | undefined {
  try {
    return readCursor(text)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return undefined
  }
}

interface ChangesSince {
  steps: Changes[]
  /** The folder must be compared message by message. */
  compare: boolean
  /** The numbers of the folder are lower than those of the cursor, see `isRestored`. */
  wentBack: boolean
  /** The number of messages at the server where the reported removals do not explain it, for `isStoredCount`. */
  doubtedCount: number | undefined
  /** The cursor fields that are valid once all of this is stored. */
  advance: Partial<Cursor>
}

/**
 * Reads flag changes and removals since the cursor as cheaply as the server allows: by mod-sequence (CONDSTORE), with the vanished
 * UIDs (QRESYNC); otherwise the counts decide whether the folder must be compared message by message.
 */
export async function changesSince(
  pass: Pass,
  request: FolderSyncRequest,
  { use, now, step }: PassContext,
  needsComparison: boolean,
): Promise<ChangesSince> {
  const { cursor } = pass
  const found = await use(async (client, box) => {
    const { imap } = client
    ensureSameFolder(box, pass)
    // STATUS goes first: changes made in between are then read twice, never skipped. imapflow's own highestModseq does not
    // serve, because it advances with every fetched row.
    const status = await imap.status(box.path, { messages: true, unseen: true, uidNext: true, highestModseq: true })
    if (!status) throw connectionLost('the state of the folder cannot be read')
    const reached = hasModseq(imap, box) ? status.highestModseq : undefined
    const since = cursor.modseq === null ? undefined : BigInt(cursor.modseq)
    const isExact = since !== undefined && reached !== undefined && reached >= since
    const hasChanges = isExact && reached > since
    const changes = hasChanges ? await readChanges(client, box.path, pass, since) : { changed: [], removed: [] }
    const isComplete = changes !== undefined
    // The server gained, lost or restarted mod-sequences: what happened in between is unknown.
    const isBroken = !isComplete || (!isExact && (since !== undefined || reached !== undefined))
    return {
      status,
      reached,
      isBroken,
      isExact: isExact && isComplete,
      lostModseqs: since !== undefined && reached !== undefined && reached < since,
      changes: changes ?? { changed: [], removed: [] },
      reportsRemovals: isExact && isComplete && imap.enabled.has('QRESYNC'),
    }
  })
  const { status, changes } = found
  const messages = status.messages ?? cursor.exists
  const unseen = status.unseen ?? cursor.unseen
  const arrivedSince = Math.max(0, (status.uidNext ?? cursor.uidNext) - cursor.uidNext)
  const unseenDiffers = unseen !== cursor.unseen && arrivedSince === 0
  const isOld = now() - cursor.comparedAt > RECOMPARE_MS
  const flagsUnknown = !found.isExact && (found.isBroken || unseenDiffers || isOld || needsComparison)
  const hasMore = status.uidNext !== undefined && arrivedSince === 0 && messages > cursor.exists
  const compare = flagsUnknown || (!found.reportsRemovals && (messages < cursor.exists || hasMore))
  // Not a message too few: some arrived and left between two passes, or were deleted through the API.
  const doubtedCount =
    cursor.exists - changes.removed.length === messages - arrivedSince ? undefined : messages - arrivedSince
  const wentBack = (status.uidNext ?? cursor.uidNext) < cursor.uidNext || found.lostModseqs
  return {
    steps: wentBack ? [] : await inSteps(changes, request, step),
    compare,
    wentBack,
    doubtedCount: found.reportsRemovals ? doubtedCount : undefined,
    advance: {
      modseq: found.reached === undefined ? null : String(found.reached),
      // Leaves out messages that arrived after the fetch: counting them would make their fetch look like a removal.
      exists: compare || found.reportsRemovals ? messages - arrivedSince : Math.min(messages, cursor.exists),
      unseen,
      comparedAt: compare ? now() : cursor.comparedAt,
    },
  }
}

/**
 * Whether the folder has as many messages as are stored, once all reported removals are. `count`: those at the server, without the ones
 * that arrived since the fetch.
 */
export async function isStoredCount(
  { cursor: { low } }: Pass,
  { knownCount }: FolderSyncRequest,
  use: PassContext['use'],
  count: number,
): Promise<boolean> {
  const stored = await knownCount()
  const below = await use(({ imap }, box) => countBelowMessage(imap, box.exists, low))
  return stored === count - below
}

/**
 * Whether the folder was restored from a backup, with its UIDVALIDITY: new messages get UIDs that others had. The folder is selected again,
 * because the numbers of one that is selected may be old.
 */
export async function isRestored(
  { imap, folders }: ImapClient,
  { path }: MailboxObject,
  { cursor }: Pass,
): Promise<boolean> {
  const box = await folders.open(path, { fresh: true })
  const modseq = hasModseq(imap, box) ? box.highestModseq : undefined
  if (cursor.modseq !== null && modseq !== undefined && modseq < BigInt(cursor.modseq)) return true
  // Courier sends UIDNEXT with STATUS only.
  const uidNext = box.uidNext || ((await imap.status(path, { uidNext: true })) || undefined)?.uidNext
  if (uidNext === undefined || uidNext >= cursor.uidNext) return false
  // A server that only counts late has the messages.
  const highest = box.exists === 0 ? 0 : ((await listUids(imap, { uid: '*' })).at(-1) ?? 0)
  return highest + 1 < cursor.uidNext
}

/** Whether mod-sequences are reliable here. Some servers send them without CONDSTORE being enabled. */
export function hasModseq(imap: ImapFlow, box: MailboxObject): boolean {
  return imap.enabled.has('CONDSTORE') && !box.noModseq
}

/** Beyond this many changes, the folder is compared in windows instead, which takes less memory. */
const MAX_CHANGES = 200_000

/**
 * Rows and VANISHED responses may repeat or name unknown messages, and rows may lack a UID. Undefined when there are too many changes
 * or some could not be read.
 */
async function readChanges(
  { imap, unparsedLines }: ImapClient,
  path: string,
  { cursor, added }: Pass,
  since: bigint,
): Promise<Changes | undefined> {
  // A range without a message is no range, which servers refuse.
  if (cursor.low >= cursor.uidNext) return { changed: [], removed: [] }
  const unparsedBefore = unparsedLines()
  const changed = new Map<number, { uid: number; unread: boolean; starred: boolean }>()
  const removed = new Set<number>()
  const isSynced = (uid: number) => uid >= cursor.low && uid < cursor.uidNext
  const onExpunge = (event: { path: string; uid?: number | undefined }) => {
    if (event.path !== path || event.uid === undefined || !isSynced(event.uid)) return
    if (removed.size <= MAX_CHANGES) removed.add(event.uid)
  }
  imap.on('expunge', onExpunge)
  try {
    // Up to a fixed UID: `*` is the highest that still exists, and VANISHED names UIDs of the requested range only (RFC 7162, 3.2.10.1).
    const range = `${cursor.low}:${cursor.uidNext - 1}`
    for await (const row of imap.fetch(range, { uid: true, flags: true }, { uid: true, changedSince: since })) {
      if (!row.uid || !row.flags || !isSynced(row.uid)) continue
      const now = flagState(row.flags)
      const before = added.get(row.uid)
      if (before?.unread === now.unread && before.starred === now.starred) continue
      if (changed.size <= MAX_CHANGES) changed.set(row.uid, { uid: row.uid, ...now })
    }
  } finally {
    imap.off('expunge', onExpunge)
  }
  if (unparsedLines() !== unparsedBefore || Math.max(changed.size, removed.size) > MAX_CHANGES) return undefined
  for (const uid of removed) changed.delete(uid)
  return { changed: [...changed.values()], removed: [...removed] }
}

/** A server without tombstones reports every UID that was ever removed; only the stored ones are passed on. */
async function inSteps(
  { changed, removed }: Changes,
  { listStored }: FolderSyncRequest,
  step: number,
): Promise<Changes[]> {
  const steps: Changes[] = []
  for (let at = 0; at < changed.length; at += step) steps.push({ changed: changed.slice(at, at + step), removed: [] })
  const sorted = removed.sort((left, right) => left - right)
  for (let at = 0; at < sorted.length; at += step) {
    const chunk = sorted.slice(at, at + step)
    const stored = sorted.length <= step ? undefined : await listStored(chunk[0] ?? 0, chunk.at(-1) ?? 0)
    const storedUids = stored && new Set(stored.map(({ uid }) => uid))
    const removedChunk = chunk.filter((uid) => storedUids === undefined || storedUids.has(uid))
    if (removedChunk.length > 0) steps.push({ changed: [], removed: removedChunk })
  }
  return steps
}
