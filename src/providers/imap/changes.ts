import type { ImapFlow, MailboxObject } from 'imapflow'
import type { FolderSyncRequest } from '../contract/index.ts'
import type { Changes } from './compare.ts'
import type { Cursor } from './cursor.ts'
import { connectionLost } from './errors.ts'
import { flagState } from './map.ts'
import { ensureSame, type Pass, type PassContext, RECOMPARE_MS } from './pass.ts'

export interface Outcome {
  steps: Changes[]
  /** Everything must be compared message by message. */
  compare: boolean
  /** What the cursor says once all of it is stored. */
  advance: Partial<Cursor>
}

/**
 * Flag changes and removals since the cursor, as cheaply as the server allows: by mod-sequence (CONDSTORE), with the
 * vanished ones (QRESYNC); else the counts tell whether messages must be compared one by one.
 */
export async function changesSince(
  pass: Pass,
  request: FolderSyncRequest,
  { hold, now, step }: PassContext,
  suspect: boolean,
): Promise<Outcome> {
  const { cursor } = pass
  const found = await hold(async ({ imap }, box) => {
    ensureSame(box, pass)
    // Asked before the changes are read: what happens in between is read twice, never skipped. imapflow's own
    // highestModseq is no such mark, it moves with every row that is fetched.
    const status = await imap.status(box.path, { messages: true, unseen: true, uidNext: true, highestModseq: true })
    if (!status) throw connectionLost('the state of the folder cannot be read')
    const reached = hasModseq(imap, box) ? status.highestModseq : undefined
    const since = cursor.modseq === null ? undefined : BigInt(cursor.modseq)
    const canTell = since !== undefined && reached !== undefined && reached >= since
    const changes =
      canTell && reached > since ? await readChanges(imap, box.path, pass, since) : { changed: [], removed: [] }
    // The server learned mod-sequences, forgot them, or began them anew: what happened in between nobody can tell.
    const isBroken = !canTell && (since !== undefined || reached !== undefined)
    return { status, reached, changes, canTell, isBroken, tellsRemovals: canTell && imap.enabled.has('QRESYNC') }
  })
  const { status, changes } = found
  const messages = status.messages ?? cursor.exists
  const unseen = status.unseen ?? cursor.unseen
  const expected = cursor.exists + pass.added.size
  const arrivedSince = Math.max(0, (status.uidNext ?? cursor.uidNext) - cursor.uidNext)
  const addedUnread = [...pass.added.values()].filter(({ unread }) => unread).length
  const flagsMoved = unseen !== cursor.unseen + addedUnread && arrivedSince === 0
  const isOld = now() - cursor.comparedAt > RECOMPARE_MS
  const isBlind = !found.canTell && (found.isBroken || flagsMoved || isOld || suspect)
  const compare = isBlind || (!found.tellsRemovals && messages < expected)
  return {
    steps: await inSteps(changes, request, step),
    compare,
    advance: {
      modseq: found.reached === undefined ? null : String(found.reached),
      // Mail that came between the two looks is not counted yet, or its fetching would look like a removal.
      exists: compare || found.tellsRemovals ? messages - arrivedSince : Math.min(messages, expected),
      unseen,
      comparedAt: compare ? now() : cursor.comparedAt,
    },
  }
}

/** Whether mod-sequences may be relied on here. Some servers name them without having been asked to keep them. */
export function hasModseq(imap: ImapFlow, box: MailboxObject): boolean {
  return imap.enabled.has('CONDSTORE') && !box.noModseq
}

/** Rows and VANISHED responses may repeat, name unknown messages, and rows may lack a uid. */
async function readChanges(imap: ImapFlow, path: string, { cursor, added }: Pass, since: bigint): Promise<Changes> {
  const changed = new Map<number, { uid: number; unread: boolean; starred: boolean }>()
  const removed = new Set<number>()
  const inRange = (uid: number) => uid >= cursor.low && uid < cursor.uidNext
  const onExpunge = (event: { path: string; uid?: number | undefined }) => {
    if (event.path === path && event.uid !== undefined && inRange(event.uid)) removed.add(event.uid)
  }
  imap.on('expunge', onExpunge)
  try {
    const range = `${cursor.low}:*`
    for await (const row of imap.fetch(range, { uid: true, flags: true }, { uid: true, changedSince: since })) {
      if (!row.uid || !row.flags || !inRange(row.uid)) continue
      const now = flagState(row.flags)
      const fresh = added.get(row.uid)
      if (fresh?.unread === now.unread && fresh.starred === now.starred) continue
      changed.set(row.uid, { uid: row.uid, ...now })
    }
  } finally {
    imap.off('expunge', onExpunge)
  }
  for (const uid of removed) changed.delete(uid)
  return { changed: [...changed.values()], removed: [...removed] }
}

/** A server without tombstones names every uid that was ever gone; only those that are stored are passed on. */
async function inSteps({ changed, removed }: Changes, { known }: FolderSyncRequest, step: number): Promise<Changes[]> {
  const steps: Changes[] = []
  for (let at = 0; at < changed.length; at += step) steps.push({ changed: changed.slice(at, at + step), removed: [] })
  const sorted = removed.sort((left, right) => left - right)
  for (let at = 0; at < sorted.length; at += step) {
    const chunk = sorted.slice(at, at + step)
    const stored = sorted.length <= step ? undefined : await known(chunk[0] ?? 0, chunk.at(-1) ?? 0)
    const gone = stored === undefined ? chunk : intersection(chunk, stored)
    if (gone.length > 0) steps.push({ changed: [], removed: gone })
  }
  return steps
}

function intersection(uids: readonly number[], stored: readonly { uid: number }[]): number[] {
  const known = new Set(stored.map((message) => message.uid))
  return uids.filter((uid) => known.has(uid))
}
