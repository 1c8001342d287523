/**
 * Threads of messages whose provider has none: a message belongs to the thread of the message it replies to. Replies often arrive
 * first, from another folder or because older mail is synced later. So the Message-IDs that a message names are stored with its thread, and
 * the named message finds that thread when it arrives:
 *
 *   C names B ──► thread of B: C        A ──► thread of A: A        B names A ──► both are one thread
 *
 * The transaction must hold the account's row, as every transaction that adds messages does.
 */

import { sql } from 'kysely'
import { sha256 } from '../../../platform/crypto/sha256.ts'
import { type Dialect, type Handle, insertRows, padded, type Tx } from '../../../platform/db/index.ts'
import { parseFields } from '../rows/row.ts'
import type { MessageRow } from '../store.ts'
import { currentThreads, type ThreadMerge, threadSize } from './merges.ts'

interface Reference {
  threadId: string
  isStored: boolean
  /** Not yet in the database in this state. */
  isChanged: boolean
}

/** Sets the thread of each row that has none, and returns the threads that turned out to be parts of others. */
export async function assignThreads(
  tx: Tx,
  dialect: Dialect,
  accountId: string,
  rows: readonly MessageRow[],
): Promise<{ rows: MessageRow[]; merges: ThreadMerge[] }> {
  const named = rows.map((row) => (row.threadId === null ? namedBy(row) : undefined))
  const all = named.flatMap((entry) => entry ?? [])
  if (all.length === 0) return { rows: [...rows], merges: [] }
  const references = await findReferences(tx, dialect, accountId, [...new Set(all.flatMap(namedReferences))])
  const current = await currentThreads(
    tx,
    [...references.values()].map(({ threadId }) => threadId),
  )
  const merged = new Map<string, string>()
  const findRoot = (threadId: string): string => {
    const into = merged.get(current(threadId))
    return into === undefined ? current(threadId) : findRoot(into)
  }

  /** The larger thread keeps its id, so that few messages change theirs. */
  async function unite(threadIds: readonly string[]): Promise<string | undefined> {
    const [first, ...others] = [...new Set(threadIds.map(findRoot))]
    if (first === undefined || others.length === 0) return first
    const sizes = new Map<string, number>()
    for (const threadId of [first, ...others]) sizes.set(threadId, await threadSize(tx, threadId))
    const [largest = first, ...smaller] = [...sizes]
      .sort(([a, aSize], [b, bSize]) => bSize - aSize || (a < b ? -1 : 1))
      .map(([threadId]) => threadId)
    for (const threadId of smaller) merged.set(threadId, largest)
    return largest
  }

  const assigned: (string | null)[] = []
  for (const [index, { id }] of rows.entries()) {
    const entry = named[index]
    if (entry === undefined) {
      assigned.push(null)
      continue
    }
    const { joined, unknown } = visit(references, entry)
    const threadId = (await unite(joined)) ?? threadOpenedBy(id)
    for (const reference of unknown) references.set(reference, { threadId, isStored: false, isChanged: true })
    if (entry.own !== null && references.get(entry.own)?.isStored !== true)
      references.set(entry.own, { threadId, isStored: true, isChanged: true })
    assigned.push(threadId)
  }
  await saveReferences(tx, accountId, references, findRoot)
  return {
    rows: rows.map((row, index) => {
      const threadId = assigned[index] ?? null
      return threadId === null ? row : { ...row, threadId: findRoot(threadId) }
    }),
    merges: [...merged.keys()].map((threadId) => ({ threadId, intoThreadId: findRoot(threadId) })),
  }
}

/** Call it after messages were deleted: a thread without messages is forgotten, so that the table does not grow for ever. */
export async function forgetReferences(
  tx: Tx,
  accountId: string,
  deleted: readonly Pick<MessageRow, 'threadId' | 'fields'>[],
): Promise<void> {
  const threadIds = [...new Set(deleted.flatMap(({ threadId }) => threadId ?? []))]
  const kept = new Set<string>()
  for (const threadId of threadIds) if ((await threadSize(tx, threadId)) > 0) kept.add(threadId)
  const references = new Set(
    deleted.flatMap((row) => {
      const named = row.threadId === null || kept.has(row.threadId) ? undefined : namedBy(row)
      return named === undefined ? [] : namedReferences(named)
    }),
  )
  if (references.size === 0) return
  await tx
    .deleteFrom('threadReferences')
    .where('accountId', '=', accountId)
    .where('reference', 'in', [...references])
    .execute()
}

/** Message ids begin with the time, so the entries of new threads are neighbours in each index: few pages are written. */
function threadOpenedBy(messageId: string): string {
  return `thr_${messageId.slice(messageId.indexOf('_') + 1)}`
}

/** Hashes of the Message-IDs that a message names. */
interface Named {
  /** The message's own Message-ID. */
  own: string | null
  /** Nearest first. */
  ancestors: string[]
}

/** A sender writes what they like here. Conversations are shorter, as a rule. */
const MAX_ANCESTORS = 50

function namedBy({ fields }: Pick<MessageRow, 'fields'>): Named | undefined {
  const { messageId, inReplyTo, references } = parseFields(fields)
  const ids = inReplyTo === null || references.includes(inReplyTo) ? references : [...references, inReplyTo]
  const root = ids[0] ?? messageId
  if (root === null) return undefined
  const nearest = ids.slice(1).slice(-MAX_ANCESTORS).reverse()
  const ancestors = [...new Set([...nearest, root])].filter((id) => id !== messageId)
  return { own: messageId === null ? null : hash(messageId), ancestors: ancestors.map(hash) }
}

function namedReferences({ own, ancestors }: Named): string[] {
  return own === null ? ancestors : [own, ...ancestors]
}

/**
 * The threads that the message belongs to, and what no message has named before. A stored message decides about its own ancestors, so that a
 * stranger's message cannot join two conversations by naming both.
 */
function visit(references: ReadonlyMap<string, Reference>, { own, ancestors }: Named) {
  const joined: string[] = []
  const unknown: string[] = []
  const self = own === null ? undefined : references.get(own)
  if (self !== undefined) joined.push(self.threadId)
  // Another copy of a stored message.
  if (self?.isStored) return { joined, unknown }
  for (const reference of ancestors) {
    const ancestor = references.get(reference)
    if (ancestor === undefined) unknown.push(reference)
    else joined.push(ancestor.threadId)
    if (ancestor?.isStored) break
  }
  return { joined, unknown }
}

/** The thread that a Message-ID was stored or named in. For providers without threads. */
export async function threadNaming(handle: Handle, accountId: string, messageId: string): Promise<string | undefined> {
  const row = await handle
    .selectFrom('threadReferences')
    .select('threadId')
    .where('accountId', '=', accountId)
    .where('reference', '=', hash(messageId))
    .executeTakeFirst()
  return row && (await currentThreads(handle, [row.threadId]))(row.threadId)
}

const IDS_PER_QUERY = 200

/** The threads in which messages with these Message-IDs were stored, in no order. */
export async function threadsStoring(
  handle: Handle,
  accountId: string,
  messageIds: readonly string[],
): Promise<string[]> {
  const found = new Set<string>()
  for (let at = 0; at < messageIds.length; at += IDS_PER_QUERY) {
    const rows = await handle
      .selectFrom('threadReferences')
      .select('threadId')
      .where('accountId', '=', accountId)
      .where('reference', 'in', padded(messageIds.slice(at, at + IDS_PER_QUERY).map(hash)))
      .where('isStored', '=', 1)
      .execute()
    for (const { threadId } of rows) found.add(threadId)
  }
  if (found.size === 0) return []
  const current = await currentThreads(handle, [...found])
  return [...new Set([...found].map(current))]
}

async function findReferences(
  tx: Tx,
  dialect: Dialect,
  accountId: string,
  references: readonly string[],
): Promise<Map<string, Reference>> {
  const wanted = dialect.rows(
    { reference: 'text' },
    references.map((reference) => ({ reference })),
  )
  const { rows } = await sql<{ reference: string; threadId: string; isStored: number }>`
    select "known"."reference", "threadId", "isStored" from ${wanted} as "wanted"
    cross join "threadReferences" as "known"
    where "known"."accountId" = ${accountId} and "known"."reference" = "wanted"."reference"`.execute(tx)
  return new Map(
    rows.map(({ reference, threadId, isStored }) => [
      reference,
      { threadId, isStored: Number(isStored) === 1, isChanged: false },
    ]),
  )
}

async function saveReferences(
  tx: Tx,
  accountId: string,
  references: ReadonlyMap<string, Reference>,
  findRoot: (threadId: string) => string,
): Promise<void> {
  const rows = [...references].flatMap(([reference, { threadId, isStored, isChanged }]) =>
    isChanged ? [{ accountId, reference, threadId: findRoot(threadId), isStored: isStored ? 1 : 0 }] : [],
  )
  const update = `on conflict ("accountId", "reference") do update
    set "threadId" = excluded."threadId", "isStored" = excluded."isStored"`
  await insertRows(tx, 'threadReferences', rows, update)
}

/** Deletes rows of a deleted account. Returns how many. */
export async function eraseThreadReferences(tx: Tx, accountId: string, limit: number): Promise<number> {
  const some = tx.selectFrom('threadReferences').select('reference').where('accountId', '=', accountId).limit(limit)
  const references = await tx
    .deleteFrom('threadReferences')
    .where('accountId', '=', accountId)
    .where('reference', 'in', some)
    .executeTakeFirst()
  if (references.numDeletedRows > 0n) return Number(references.numDeletedRows)
  const merges = tx.selectFrom('threadMerges').select('threadId').where('accountId', '=', accountId).limit(limit)
  const deleted = await tx.deleteFrom('threadMerges').where('threadId', 'in', merges).executeTakeFirst()
  return Number(deleted.numDeletedRows)
}

/** 128 bits: header values have no bounded length, and index entries must. */
function hash(messageId: string): string {
  return sha256(messageId, 'base64url').slice(0, 22)
}
