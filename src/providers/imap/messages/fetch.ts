import type { FetchMessageObject, FetchQueryObject, ImapFlow } from 'imapflow'
import { TURN_MS, yieldIfHeld } from '../../../platform/concurrency/event-loop.ts'
import type { RemoteMessage } from '../../contract/index.ts'
import type { ImapClient } from '../connection/client.ts'
import type { FetchGuard } from '../sync/fetch-guard.ts'
import { TEXT_BYTES } from './contents.ts'
import {
  bareQuery,
  headerQuery,
  MAX_HEADER_BYTES,
  type MapContext,
  type Mapped,
  messageOfSource,
  messageQuery,
  remoteMessage,
  unreadableMessage,
} from './map.ts'
import { readHeader, readSource } from './source.ts'
import { uidSet } from './uids.ts'

export interface FetchPlan {
  uidValidity: string
  isNew(uid: number): boolean
  nowMs: number
  /** Ignores rows below: servers answer `n:*` with the last message even when its UID is lower than n. */
  lowUid: number
  /** Returns at most this many messages. */
  limit: number
  guard?: FetchGuard
}

/**
 * Fetches messages of the selected folder by an open range or by UIDs, usually in one round trip. A message that the server or the
 * parser cannot process has `error` set, and `unreadable` if nothing of it could be read; one that was deleted meanwhile is left out. No
 * other message is ever missing. Throws `unavailable` when the server returns no message at all.
 */
export async function fetchMessages(
  client: ImapClient,
  messages: string | readonly number[],
  plan: FetchPlan,
): Promise<RemoteMessage[]> {
  const { guard } = plan
  const all = typeof messages === 'string' ? [] : messages
  const failingUids = guard?.failingIn(plan.uidValidity)
  const failing = all.filter((uid) => failingUids?.has(uid))
  const uids = failing.length === 0 ? all : all.filter((uid) => !failingUids?.has(uid))
  await guard?.begin(uids, client, plan)
  const range = typeof messages === 'string' ? messages : uidSet(uids)
  const only = typeof messages === 'string' ? undefined : new Set(uids)
  const found = await client.whileFetching(async () =>
    range === '' ? new Map<number, RemoteMessage>() : fetchRange(client, range, plan, only),
  )
  const hasRead = [...found.values()].some(({ unreadable }) => unreadable === undefined)
  // If the connection was lost last time, asking for the flags of these messages may be the reason.
  const asked = guard?.hasLost ? [] : failing
  const flags = new Map(
    (await describeMessages(client, asked, plan)).map((message) => [message.location?.uid, message]),
  )
  for (const uid of failing) found.set(uid, flags.get(uid) ?? unreadableMessage({ uid }, mapContext(client, uid, plan)))
  guard?.done(found.size, hasRead)
  return [...found.values()]
}

async function fetchRange(
  client: ImapClient,
  range: string,
  plan: FetchPlan,
  only: ReadonlySet<number> | undefined,
): Promise<Map<number, RemoteMessage>> {
  const found = new Map<number, RemoteMessage>()
  const incomplete: Incomplete[] = []
  const withoutStructure: FetchMessageObject[] = []
  const withLongHeader: FetchMessageObject[] = []
  const take = (row: FetchMessageObject) => {
    const mapped = remoteMessage(row, mapContext(client, row.uid, plan))
    found.set(row.uid, mapped.message)
    if (row.bodyStructure === undefined) withoutStructure.push(row)
    else if ((row.headers?.length ?? 0) >= MAX_HEADER_BYTES) withLongHeader.push(row)
    else if (mapped.missing.length > 0) incomplete.push({ uid: row.uid, mapped })
  }
  const unparsedBefore = client.unparsedLines()
  let hasEmptyHeaders = false
  const wasRefused = await forEachRow(client.imap, range, messageQuery, async (row) => {
    hasEmptyHeaders ||= isWithoutHeader(row)
    if (isRequested(row, plan, found) && only?.has(row.uid) !== false) take(row)
  })
  // The server reports with the NOOP which of these messages were just deleted.
  if (hasEmptyHeaders) await client.imap.noop()
  if (wasRefused || hasEmptyHeaders || client.unparsedLines() !== unparsedBefore) {
    await fetchMissing(client, range, plan, found, take)
  }
  for (const row of withoutStructure.slice(0, MAX_WHOLE)) found.set(row.uid, await readWhole(client, row, plan))
  for (const row of withLongHeader.slice(0, MAX_WHOLE)) found.set(row.uid, await readLongHeader(client, row, plan))
  await fetchSections(client.imap, incomplete, found)
  return found
}

/** Messages of one fetch that are read in a second step, each on its own. */
const MAX_WHOLE = 20

/** The message of a row whose header was cut off: fields may follow a list of thousands of recipients. */
async function readLongHeader(client: ImapClient, row: FetchMessageObject, plan: FetchPlan): Promise<RemoteMessage> {
  const header = await unlessRefused(client.imap, readHeader(client.imap, `${row.uid}`))
  return remoteMessage(row, mapContext(client, row.uid, plan), header).message
}

/** The message of a row without structure, from its source. */
async function readWhole(client: ImapClient, row: FetchMessageObject, plan: FetchPlan): Promise<RemoteMessage> {
  const context = mapContext(client, row.uid, plan)
  const source = await unlessRefused(client.imap, readSource(client.imap, `${row.uid}`))
  // A server that returns less than the header does not have the message.
  const isReadable = source !== undefined && source.bytes.length >= (row.headers?.length ?? 0)
  return isReadable ? messageOfSource(row, source, context) : remoteMessage(row, context).message
}

function mapContext({ onFault }: ImapClient, uid: number, plan: FetchPlan): MapContext {
  return { uidValidity: plan.uidValidity, isNew: plan.isNew(uid), nowMs: plan.nowMs, onFault }
}

/** The header is NIL: the message was just deleted, or its header is empty. */
function isWithoutHeader({ uid, headers }: FetchMessageObject): boolean {
  return Boolean(uid) && headers !== undefined && asBuffer(headers) === undefined
}

/** Rows may also be unsolicited flag updates, which have no header. */
function isRequested(row: FetchMessageObject, plan: FetchPlan, found: ReadonlyMap<number, unknown>): boolean {
  const isMessage = Boolean(row.uid) && asBuffer(row.headers) !== undefined
  return isMessage && row.uid >= plan.lowUid && (found.has(row.uid) || found.size < plan.limit)
}

/** imapflow's type hides that it returns `false` for NIL. */
export function asBuffer(section: unknown): Buffer | undefined {
  return Buffer.isBuffer(section) ? section : undefined
}

/** Returns true when the server refused the command or part of it. Throws when the connection is lost. */
async function forEachRow(
  imap: ImapFlow,
  range: string,
  query: FetchQueryObject,
  visit: (row: FetchMessageObject) => Promise<void>,
): Promise<boolean> {
  try {
    for await (const row of imap.fetch(range, query, { uid: true })) {
      await visit(row)
      // The server may have sent many rows at once. imapflow parses the next one only after this.
      await yieldIfHeld(TURN_MS)
    }
    return false
  } catch (error) {
    if (isRefusal(imap, error)) return true
    throw error
  }
}

/** The server refused one command, and the connection goes on. */
function isRefusal(imap: ImapFlow, error: unknown): boolean {
  return imap.usable && typeof error === 'object' && error !== null && 'responseStatus' in error
}

/** Undefined when the server refuses: what cannot be read of one message costs no other one anything. */
async function unlessRefused<T>(imap: ImapFlow, reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (isRefusal(imap, error)) return undefined
    throw error
  }
}

/** After so many messages that are not returned, and no other, the fault may be that of the server. */
const MAX_UNREADABLE = 5

/**
 * One bad message must not hide the others: imapflow silently drops a row that it cannot parse, and some servers refuse the entire
 * command. Messages of the folder that are not among the rows are fetched one by one. Where the range is open, messages that have
 * arrived since are among them.
 */
async function fetchMissing(
  client: ImapClient,
  range: string,
  plan: FetchPlan,
  found: Map<number, RemoteMessage>,
  take: (row: FetchMessageObject) => void,
) {
  const present = new Map<number, FetchMessageObject>()
  await forEachRow(client.imap, range, { uid: true, flags: true }, async (row) => {
    if (row.uid >= plan.lowUid) present.set(row.uid, row)
  })
  const missing = [...present.keys()].filter((uid) => !found.has(uid)).sort((left, right) => left - right)
  const left = plan.limit - found.size
  const highest = Math.max(...found.keys())
  let unreadable = 0
  for (const [index, uid] of missing.entries()) {
    // The next fetch begins above the highest UID, so that what is missing below it would be lost.
    if (index >= left && uid > highest) return
    await fetchAlone(client, uid, take)
    if (found.has(uid)) continue
    for (const message of await describeMessages(client, [uid], plan, present, FLAGS_AND_TIME)) found.set(uid, message)
    unreadable += 1
    if (unreadable === MAX_UNREADABLE && found.size === unreadable) await plan.guard?.ensureReading(client)
  }
}

/** Dovecot reads the arrival time from the message itself, where a damaged one ends the connection; flags are in its index. */
const FLAGS = { uid: true, flags: true } satisfies FetchQueryObject
const FLAGS_AND_TIME = { ...FLAGS, internalDate: true } satisfies FetchQueryObject

/** Describes messages that the server does not return, each as `unreadable`. `listed`: what it has said before. */
export async function describeMessages(
  client: ImapClient,
  uids: readonly number[],
  plan: FetchPlan,
  listed: ReadonlyMap<number, FetchMessageObject> = new Map(),
  query: FetchQueryObject = FLAGS,
): Promise<RemoteMessage[]> {
  if (uids.length === 0) return []
  const described = new Map(listed)
  await forEachRow(client.imap, uidSet(uids), query, async (row) => {
    if (row.flags !== undefined) described.set(row.uid, row)
  })
  return uids.map((uid) => unreadableMessage(described.get(uid) ?? { uid }, mapContext(client, uid, plan)))
}

/** Fetches everything of a message, without its structure when that fails, and its header only when that fails, too. */
async function fetchAlone(client: ImapClient, uid: number, take: (row: FetchMessageObject) => void) {
  for (const query of [messageQuery, bareQuery, headerQuery]) {
    let isTaken = false
    await forEachRow(client.imap, `${uid}`, query, async (row) => {
      if (row.uid !== uid || row.headers === undefined) return
      isTaken = true
      take(row)
    })
    if (isTaken) return
  }
}

interface Incomplete {
  uid: number
  mapped: Mapped
}

const MAX_SECTIONS = 50

/** One FETCH per section. Nearly all messages share the same ones. */
async function fetchSections(imap: ImapFlow, incomplete: readonly Incomplete[], found: Map<number, RemoteMessage>) {
  const contents = new Map(incomplete.map(({ uid }) => [uid, new Map<string, Buffer>()]))
  const sections = new Set(incomplete.flatMap(({ mapped }) => mapped.missing))
  for (const section of [...sections].slice(0, MAX_SECTIONS)) {
    const uids = incomplete.filter(({ mapped }) => mapped.missing.includes(section)).map(({ uid }) => uid)
    const query = { uid: true, bodyParts: [{ key: section, start: 0, maxLength: TEXT_BYTES }] }
    await forEachRow(imap, uidSet(uids.sort((left, right) => left - right)), query, async (row) => {
      const content = asBuffer(row.bodyParts?.get(section.toLowerCase()))
      if (content !== undefined) contents.get(row.uid)?.set(section, content)
    })
  }
  for (const { uid, mapped } of incomplete) {
    const fetched = contents.get(uid)
    if (fetched !== undefined && fetched.size > 0) found.set(uid, mapped.complete(fetched))
  }
}
