import type { FetchMessageObject, FetchQueryObject, ImapFlow } from 'imapflow'
import type { RemoteMessage } from '../contract/index.ts'
import type { Caution } from './caution.ts'
import type { ImapClient } from './client.ts'
import { connectionLost } from './errors.ts'
import { bareQuery, messageQuery, remoteMessage, unreadableMessage, withText } from './map.ts'
import { TEXT_BYTES } from './message-text.ts'
import type { Leaf } from './structure.ts'

export interface FetchPlan {
  uidValidity: string
  isNew(uid: number): boolean
  nowMs: number
  /** Rows below are not wanted: `n:*` answers the last message even when it is older than n. */
  lowUid: number
  /** At most this many; the rest is left to a later call. */
  limit: number
  caution?: Caution
}

/**
 * Messages of the selected folder, by an open range or by their uids, in one round trip. A message that the server or the parser cannot cope with
 * comes with `error`; one that vanished meanwhile does not come at all. Never fewer for any other reason.
 */
export async function fetchMessages(
  client: ImapClient,
  wanted: string | readonly number[],
  plan: FetchPlan,
): Promise<RemoteMessage[]> {
  const bad = typeof wanted === 'string' ? [] : wanted.filter((uid) => plan.caution?.isBad(uid))
  const uids = typeof wanted === 'string' ? [] : wanted.filter((uid) => !bad.includes(uid))
  const range = typeof wanted === 'string' ? wanted : uidSet(uids)
  try {
    const found = range === '' ? new Map<number, RemoteMessage>() : await fetchRange(client, range, plan)
    for (const uid of bad) found.set(uid, unreadableMessage(uid, undefined, placeOf(uid, plan)))
    return [...found.values()]
  } catch (error) {
    if (!client.imap.usable) plan.caution?.lost(uids)
    throw error
  }
}

async function fetchRange(client: ImapClient, range: string, plan: FetchPlan): Promise<Map<number, RemoteMessage>> {
  const found = new Map<number, RemoteMessage>()
  const textless: { uid: number; leaf: Leaf }[] = []
  const unreadableBefore = client.unreadable()
  const refused = await eachRow(client.imap, range, messageQuery, async (row) => {
    if (!isWanted(row, plan, found)) return
    const { message, missing } = await remoteMessage(row, placeOf(row.uid, plan))
    found.set(row.uid, message)
    if (missing !== undefined) textless.push({ uid: row.uid, leaf: missing })
  })
  if (refused || client.unreadable() !== unreadableBefore) await fetchLost(client, range, plan, found)
  await fetchTexts(client.imap, textless, found)
  return found
}

/** Uids of the selected folder, by position or by uid, ascending. SEARCH answers in one line, FETCH with one per message. */
export async function listUids(imap: ImapFlow, range: { seq: string } | { uid: string }): Promise<number[]> {
  const uids = await imap.search(range, { uid: true })
  if (!uids) throw connectionLost('the messages of the folder cannot be listed')
  return uids
}

/** `3,5:9`, as short as it gets. The uids must ascend. */
export function uidSet(uids: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const uid of uids) {
    const last = ranges.at(-1)
    if (last !== undefined && uid === last[1] + 1) last[1] = uid
    else ranges.push([uid, uid])
  }
  return ranges.map(([low, high]) => (low === high ? `${low}` : `${low}:${high}`)).join(',')
}

function placeOf(uid: number, plan: FetchPlan) {
  return { uidValidity: plan.uidValidity, isNew: plan.isNew(uid), nowMs: plan.nowMs }
}

/** Among the rows arrive unsolicited flag updates, which have no header, and messages just gone, whose header is NIL. */
function isWanted(row: FetchMessageObject, plan: FetchPlan, found: ReadonlyMap<number, unknown>): boolean {
  const isMessage = Boolean(row.uid) && bytesOf(row.headers) !== undefined
  return isMessage && row.uid >= plan.lowUid && (found.has(row.uid) || found.size < plan.limit)
}

/** What imapflow gives for a section: its type does not tell that NIL becomes `false`. */
export function bytesOf(section: unknown): Buffer | undefined {
  return Buffer.isBuffer(section) ? section : undefined
}

/** True when the server refused (part of) the command; a lost connection throws. */
async function eachRow(
  imap: ImapFlow,
  range: string,
  query: FetchQueryObject,
  visit: (row: FetchMessageObject) => Promise<void>,
): Promise<boolean> {
  try {
    for await (const row of imap.fetch(range, query, { uid: true })) await visit(row)
    return false
  } catch (error) {
    if (imap.usable && typeof error === 'object' && error !== null && 'responseStatus' in error) return true
    throw error
  }
}

/**
 * One bad message must not hide the others: a row that cannot be parsed is dropped without a word, and some servers
 * refuse the whole command. What stands in the folder and was not answered is fetched again, alone and without structure.
 */
async function fetchLost(client: ImapClient, range: string, plan: FetchPlan, found: Map<number, RemoteMessage>) {
  const standing = new Map<number, Set<string> | undefined>()
  await eachRow(client.imap, range, { uid: true, flags: true }, async (row) => {
    if (row.uid >= plan.lowUid) standing.set(row.uid, row.flags)
  })
  const lost = [...standing.keys()].filter((uid) => !found.has(uid)).sort((left, right) => left - right)
  for (const uid of lost.slice(0, plan.limit - found.size)) {
    await eachRow(client.imap, `${uid}`, bareQuery, async (row) => {
      if (row.uid !== uid || bytesOf(row.headers) === undefined) return
      found.set(uid, (await remoteMessage(row, placeOf(uid, plan))).message)
    })
    if (!found.has(uid)) found.set(uid, unreadableMessage(uid, standing.get(uid), placeOf(uid, plan)))
  }
}

/** One FETCH per part number; nearly all mails share one. */
async function fetchTexts(imap: ImapFlow, wanted: { uid: number; leaf: Leaf }[], found: Map<number, RemoteMessage>) {
  for (const part of new Set(wanted.map(({ leaf }) => leaf.part))) {
    const group = wanted.filter(({ leaf }) => leaf.part === part)
    const leafOf = new Map(group.map(({ uid, leaf }) => [uid, leaf]))
    const query = { uid: true, bodyParts: [{ key: part, start: 0, maxLength: TEXT_BYTES }] }
    await eachRow(imap, uidSet([...leafOf.keys()].sort((left, right) => left - right)), query, async (row) => {
      const [message, leaf] = [found.get(row.uid), leafOf.get(row.uid)]
      const content = bytesOf(row.bodyParts?.get(part.toLowerCase()))
      if (message !== undefined && leaf !== undefined && content !== undefined) {
        found.set(row.uid, withText(message, leaf, content))
      }
    })
  }
}
