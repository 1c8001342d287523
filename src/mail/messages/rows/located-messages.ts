import { type SqlBool, sql } from 'kysely'
import { compiledOnce, type Handle, padded } from '../../../platform/db/index.ts'
import type { KnownFolderMessage, MessageIdentity } from '../../../providers/contract/index.ts'
import type { MessageRow } from '../store.ts'
import { READER_VERSION } from './reader-version.ts'
import { toIdentity } from './row.ts'

/** False for messages that only a request has stored: from a folder that is not synced, or found by a search. */
export const isListed = sql<SqlBool>`exists (select 1 from "messageLabels" where "messageLabels"."messageId" = "messages"."id")`

/** Rows of messages are wide: on the file store 200 of them block the event loop for about 5 ms. */
const IDS_PER_QUERY = 200
const KNOWN_PER_QUERY = 1000

const inFolder = (handle: Handle, folderId: string, uidValidity: string) =>
  handle.selectFrom('messages').where('folderId', '=', folderId).where('uidValidity', '=', uidValidity)

/** The messages of a folder that have a location, lowest UID first. */
const withLocation = (handle: Handle, folderId: string, limit: number) =>
  handle
    .selectFrom('messages')
    .where('folderId', '=', folderId)
    .where('uid', 'is not', null)
    .orderBy('uidValidity')
    .orderBy('uid')
    .limit(limit)

const rowsAt = compiledOnce((handle, folderId: string, uidValidity: string, uids: readonly number[]) =>
  inFolder(handle, folderId, uidValidity).where('uid', 'in', uids).selectAll(),
)
const flagsFrom = compiledOnce((handle, folderId: string, uidValidity: string, lowUid: number, highUid: number) =>
  inFolder(handle, folderId, uidValidity)
    .select(['uid', 'unread', 'starred'])
    .where('uid', '>=', lowUid)
    .where('uid', '<=', highUid)
    .orderBy('uid')
    .limit(KNOWN_PER_QUERY),
)

/** Reads the messages of IMAP folders, which have UIDs. `messageStore` reads those of any mailbox. */
export function locatedMessages(handle: Handle): LocatedMessages {
  return new LocatedMessages(handle)
}

/** A class for the same reason as `MessageStore`. */
class LocatedMessages {
  readonly #handle: Handle

  constructor(handle: Handle) {
    this.#handle = handle
  }

  byLocation(folderId: string, uidValidity: string, uids: readonly number[]): Promise<MessageRow[]> {
    return inChunks(uids, (chunk) => rowsAt(this.#handle, folderId, uidValidity, chunk))
  }

  async idsByLocation(folderId: string, uidValidity: string, uids: readonly number[]): Promise<string[]> {
    const rows = await inChunks(uids, (chunk) =>
      inFolder(this.#handle, folderId, uidValidity).where('uid', 'in', chunk).select('id').execute(),
    )
    return rows.map((row) => row.id)
  }

  /** The lowest UID of the folder that sync has stored. */
  async lowestListedUid(folderId: string): Promise<number | null> {
    const [row] = await withLocation(this.#handle, folderId, 1).where(isListed).select('uid').execute()
    return row?.uid ?? null
  }

  /** UIDs and flags of a UID range, both ends included, for sync to compare. */
  async knownMessages(
    folderId: string,
    uidValidity: string,
    lowUid: number,
    highUid: number,
  ): Promise<KnownFolderMessage[]> {
    const messages: KnownFolderMessage[] = []
    // Several queries, because the range may hold every message of a large folder.
    for (let fromUid = lowUid; ; ) {
      const rows = await flagsFrom(this.#handle, folderId, uidValidity, fromUid, highUid)
      for (const row of rows) {
        messages.push({ uid: Number(row.uid), unread: row.unread === 1, starred: row.starred === 1 })
      }
      if (rows.length < KNOWN_PER_QUERY) return messages
      fromUid = (messages.at(-1)?.uid ?? highUid) + 1
    }
  }

  /** Stored messages with the highest UIDs, without those that could not be read. */
  async newestUids(
    folderId: string,
    uidValidity: string,
    limit: number,
  ): Promise<{ uid: number; identity: MessageIdentity }[]> {
    const rows = await inFolder(this.#handle, folderId, uidValidity)
      .select(['uid', 'fields', 'receivedAt', 'error'])
      .where('uid', 'is not', null)
      .orderBy('uid', 'desc')
      .limit(limit)
      .execute()
    return rows.flatMap(({ uid, ...row }) => {
      const identity = toIdentity(row)
      return identity === undefined ? [] : [{ uid: Number(uid), identity }]
    })
  }

  /** Which of these UIDs sync or backfill has stored. */
  async listedUids(folderId: string, uidValidity: string, uids: readonly number[]): Promise<Set<number>> {
    const rows = await inChunks(uids, (chunk) =>
      inFolder(this.#handle, folderId, uidValidity).where('uid', 'in', chunk).where(isListed).select('uid').execute(),
    )
    return new Set(rows.flatMap((row) => row.uid ?? []))
  }

  /** Messages with a location in the folder, lowest UID first. */
  async idsWithLocation(folderId: string, limit: number): Promise<string[]> {
    return (await withLocation(this.#handle, folderId, limit).select('id').execute()).map((row) => row.id)
  }

  /** Present messages of the folder whose UID is unknown, without those that the API changed after `apiChange`. */
  async idsWithoutLocation(folderId: string, limit: number, apiChange?: number): Promise<string[]> {
    const rows = await this.#handle
      .selectFrom('messages')
      .select('id')
      .where('folderId', '=', folderId)
      .where('uid', 'is', null)
      .where('goneAt', 'is', null)
      .$if(apiChange !== undefined, (query) =>
        query.where((eb) => eb.or([eb('apiChange', 'is', null), eb('apiChange', '<=', apiChange ?? 0)])),
      )
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map((row) => row.id)
  }

  /** True when the folder has no rows, not even missing ones. */
  async isFolderEmpty(folderId: string): Promise<boolean> {
    for (const operator of ['is not', 'is'] as const) {
      const rows = this.#handle.selectFrom('messages').select('id').where('folderId', '=', folderId)
      if ((await rows.where('uid', operator, null).limit(1).execute()).length > 0) return false
    }
    return true
  }

  /** Present messages of these folders that could not be read, and that this version of the reader has not tried again. */
  async repairable(accountId: string, folderIds: readonly string[], limit: number): Promise<MessageRow[]> {
    if (folderIds.length === 0) return []
    const rows = this.#handle
      .selectFrom('messages')
      .selectAll()
      .where('accountId', '=', accountId)
      .where('error', 'is not', null)
      .where('folderId', 'in', [...folderIds])
      .where('uid', 'is not', null)
      .where('goneAt', 'is', null)
      .where((eb) => eb.or([eb('reader', 'is', null), eb('reader', '<', READER_VERSION)]))
    return rows.limit(limit).execute()
  }
}

/** Runs a query for some of the values at a time. */
export async function inChunks<Value, Row>(
  values: readonly Value[],
  query: (chunk: Value[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let start = 0; start < values.length; start += IDS_PER_QUERY) {
    for (const row of await query(padded(values.slice(start, start + IDS_PER_QUERY)))) rows.push(row)
  }
  return rows
}
