import { type Selectable, type SqlBool, sql } from 'kysely'
import { compiledOnce, type Handle, padded, type Tables } from '../../platform/db/index.ts'
import { addToGroup } from '../../platform/group-by.ts'
import type { KnownFolderMessage, MessageIdentity } from '../../providers/contract/index.ts'
import type { MatchableRow } from './ingest/copies.ts'
import type { Candidate, MatchKeys } from './ingest/match.ts'
import { READER_VERSION } from './rows/reader-version.ts'
import { formerIdentityHash, identityOf, parseFields } from './rows/row.ts'

export type MessageRow = Selectable<Tables['messages']>

/** The label of every message that is not in trash or junk, for providers with message ids. It has the account's id. */
export function allMail(accountId: string): string {
  return accountId
}

export function isAllMail(labelId: string): boolean {
  return labelId.startsWith('acc_')
}

/** False for messages that only a request has stored: from a folder that is not synced, or found by a search. */
const isListed = sql<SqlBool>`exists (select 1 from "messageLabels" where "messageLabels"."messageId" = "messages"."id")`

/** Rows of messages are wide: on the file store 200 of them block the event loop for about 5 ms. */
const IDS_PER_QUERY = 200
const KNOWN_PER_QUERY = 1000

export const CANDIDATE_COLUMNS = [
  'id',
  'folderId',
  'uidValidity',
  'uid',
  'goneAt',
  'apiChange',
  'emailIdHash',
  'identityHash',
  'headerHash',
  'traceHash',
  'sizeBytes',
] as const

const inFolder = (handle: Handle, folderId: string, uidValidity: string) =>
  handle.selectFrom('messages').where('folderId', '=', folderId).where('uidValidity', '=', uidValidity)

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

const candidatesBy = {
  emailIdHash: findCandidates('emailIdHash'),
  identityHash: findCandidates('identityHash'),
  headerHash: findCandidates('headerHash'),
}

function findCandidates(key: keyof MatchKeys) {
  return compiledOnce((handle, accountId: string, hashes: readonly string[]) =>
    handle.selectFrom('messages').select(CANDIDATE_COLUMNS).where('accountId', '=', accountId).where(key, 'in', hashes),
  )
}

export type MessageStore = ReturnType<typeof messageStore>

/** Reads messages; `messageWriter` changes them. Only the methods that say so return missing messages. */
export function messageStore(handle: Handle) {
  const located = (folderId: string, limit: number) =>
    handle
      .selectFrom('messages')
      .where('folderId', '=', folderId)
      .where('uid', 'is not', null)
      .orderBy('uidValidity')
      .orderBy('uid')
      .limit(limit)
  const at = (folderId: string, uidValidity: string, uids: number[]) =>
    inFolder(handle, folderId, uidValidity).where('uid', 'in', uids)
  return {
    async find(accountId: string, id: string): Promise<MessageRow | undefined> {
      const row = await handle.selectFrom('messages').selectAll().where('id', '=', id).executeTakeFirst()
      return row !== undefined && row.accountId === accountId && row.goneAt === null ? row : undefined
    },

    /** In the order of `ids`, without unknown ones; includes missing messages. */
    async byIds(ids: readonly string[]): Promise<MessageRow[]> {
      if (ids.length === 0) return []
      const rows = await handle
        .selectFrom('messages')
        .selectAll()
        .where('id', 'in', [...ids])
        .execute()
      const found = new Map(rows.map((row) => [row.id, row]))
      return ids.flatMap((id) => found.get(id) ?? [])
    },

    byLocation(folderId: string, uidValidity: string, uids: readonly number[]): Promise<MessageRow[]> {
      return inChunks(uids, (chunk) => rowsAt(handle, folderId, uidValidity, chunk))
    },

    async idsByLocation(folderId: string, uidValidity: string, uids: readonly number[]): Promise<string[]> {
      const rows = await inChunks(uids, (chunk) => at(folderId, uidValidity, chunk).select('id').execute())
      return rows.map((row) => row.id)
    },

    /** For providers with message ids; includes missing messages. */
    byProviderIds(accountId: string, providerMessageIds: readonly string[]): Promise<MessageRow[]> {
      return inChunks(providerMessageIds, (chunk) =>
        handle
          .selectFrom('messages')
          .selectAll()
          .where('accountId', '=', accountId)
          .where('providerMessageId', 'in', chunk)
          .where('uidValidity', 'is', null)
          .execute(),
      )
    },

    /** Synced messages of the account, or of one of its labels, newest first, for sync to compare. `after` continues a page. */
    async newestFirst(
      of: { accountId: string; labelId?: string },
      limit: number,
      after?: { receivedAt: number; id: string },
    ): Promise<Pick<MessageRow, 'id' | 'providerMessageId' | 'receivedAt' | 'unread' | 'starred'>[]> {
      const columns = ['id', 'providerMessageId', 'messages.receivedAt', 'messages.unread', 'starred'] as const
      if (of.labelId === undefined) {
        return handle
          .selectFrom('messages')
          .select(columns)
          .where('accountId', '=', of.accountId)
          .where('goneAt', 'is', null)
          .where(isListed)
          .$if(after !== undefined, (query) =>
            query.where(sql<boolean>`("receivedAt", "id") < (${after?.receivedAt}, ${after?.id})`),
          )
          .orderBy('receivedAt', 'desc')
          .orderBy('id', 'desc')
          .limit(limit)
          .execute()
      }
      return handle
        .selectFrom('messageLabels')
        .innerJoin('messages', 'messages.id', 'messageLabels.messageId')
        .select(columns)
        .where('labelId', '=', of.labelId)
        .$if(after !== undefined, (query) =>
          query.where(
            sql<boolean>`("messageLabels"."receivedAt", "messageLabels"."messageId") < (${after?.receivedAt}, ${after?.id})`,
          ),
        )
        .orderBy('messageLabels.receivedAt', 'desc')
        .orderBy('messageLabels.messageId', 'desc')
        .limit(limit)
        .execute()
    },

    /** The messages of a page of a label, newest first. */
    async newestInLabel(
      labelId: string,
      limit: number,
      { offset, after }: { offset: number; after?: readonly [receivedAt: number, id: string] },
    ): Promise<MessageRow[]> {
      const rows = await handle
        .selectFrom('messageLabels')
        .select('messageId')
        .where('labelId', '=', labelId)
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`("receivedAt", "messageId") < (${after?.[0]}, ${after?.[1]})`),
        )
        .orderBy('receivedAt', 'desc')
        .orderBy('messageId', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      return this.byIds(rows.map((row) => row.messageId))
    },

    /** `receivedAt` of the oldest synced message of the account, missing ones included. */
    async oldestReceivedAt(accountId: string): Promise<number | null> {
      const row = await handle
        .selectFrom('messages')
        .select('receivedAt')
        .where('accountId', '=', accountId)
        .where((eb) => eb.or([isListed, eb('goneAt', 'is not', null)]))
        .orderBy('receivedAt')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      return row?.receivedAt ?? null
    },

    /** The lowest UID of the folder that sync has stored. */
    async lowestListedUid(folderId: string): Promise<number | null> {
      const [row] = await located(folderId, 1).where(isListed).select('uid').execute()
      return row?.uid ?? null
    },

    /** UIDs and flags of a UID range, both ends included, for sync to compare. */
    async knownMessages(
      folderId: string,
      uidValidity: string,
      lowUid: number,
      highUid: number,
    ): Promise<KnownFolderMessage[]> {
      const known: KnownFolderMessage[] = []
      // Several queries, because the range may hold every message of a large folder.
      for (let fromUid = lowUid; ; ) {
        const rows = await flagsFrom(handle, folderId, uidValidity, fromUid, highUid)
        for (const row of rows) {
          known.push({ uid: Number(row.uid), unread: row.unread === 1, starred: row.starred === 1 })
        }
        if (rows.length < KNOWN_PER_QUERY) return known
        fromUid = (known.at(-1)?.uid ?? highUid) + 1
      }
    },

    /** Stored messages with the highest UIDs, without those that could not be read. */
    async newestUids(
      folderId: string,
      uidValidity: string,
      limit: number,
    ): Promise<{ uid: number; identity: MessageIdentity }[]> {
      const rows = await inFolder(handle, folderId, uidValidity)
        .select(['uid', 'fields', 'receivedAt', 'error'])
        .where('uid', 'is not', null)
        .orderBy('uid', 'desc')
        .limit(limit)
        .execute()
      return rows.flatMap(({ uid, ...row }) => {
        const identity = identityOf(row)
        return identity === undefined ? [] : [{ uid: Number(uid), identity }]
      })
    },

    /** Which of these UIDs sync or backfill has stored. */
    async listedUids(folderId: string, uidValidity: string, uids: readonly number[]): Promise<Set<number>> {
      const rows = await inChunks(uids, (chunk) =>
        at(folderId, uidValidity, chunk).where(isListed).select('uid').execute(),
      )
      return new Set(rows.flatMap((row) => row.uid ?? []))
    },

    /** When the messages among these that sync or backfill has stored were received; missing ones included. */
    async listedTimes(accountId: string, providerMessageIds: readonly string[]): Promise<Map<string, number>> {
      const rows = await inChunks(providerMessageIds, (chunk) =>
        handle
          .selectFrom('messages')
          .select(['providerMessageId', 'receivedAt'])
          .where('accountId', '=', accountId)
          .where('providerMessageId', 'in', chunk)
          .where('uidValidity', 'is', null)
          .where((eb) => eb.or([isListed, eb('goneAt', 'is not', null)]))
          .execute(),
      )
      return new Map(rows.map((row) => [row.providerMessageId, row.receivedAt]))
    },

    /** Rows of the account that share a key with one of these messages; includes missing messages. */
    async candidates(accountId: string, messages: readonly MatchableRow[]): Promise<Candidate[]> {
      const found = new Map<string, Candidate>()
      const formerHashes = formerIdentityHashes(messages)
      const identityHashes = [...messages.map((message) => message.identityHash), ...formerHashes.keys()]
      const wanted = {
        emailIdHash: messages.map((message) => message.emailIdHash),
        identityHash: identityHashes,
        headerHash: messages.map((message) => message.headerHash),
      }
      for (const key of ['emailIdHash', 'identityHash', 'headerHash'] as const) {
        const values = [...new Set(wanted[key].flatMap((value) => value ?? []))]
        const rows = await inChunks(values, (chunk) => candidatesBy[key](handle, accountId, chunk))
        for (const row of rows) {
          const identityHash = formerHashes.get(row.identityHash ?? '') ?? row.identityHash
          found.set(row.id, { ...row, identityHash })
        }
      }
      return [...found.values()]
    },

    /** Messages with a location in the folder, lowest UID first. */
    async idsWithLocation(folderId: string, limit: number): Promise<string[]> {
      return (await located(folderId, limit).select('id').execute()).map((row) => row.id)
    },

    /** Present messages of the folder whose UID is unknown, without those that the API changed after `apiChange`. */
    async idsWithoutLocation(folderId: string, limit: number, apiChange?: number): Promise<string[]> {
      const rows = await handle
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
    },

    /** True when the folder has no rows, not even missing ones. */
    async isFolderEmpty(folderId: string): Promise<boolean> {
      for (const operator of ['is not', 'is'] as const) {
        const rows = handle.selectFrom('messages').select('id').where('folderId', '=', folderId)
        if ((await rows.where('uid', operator, null).limit(1).execute()).length > 0) return false
      }
      return true
    },

    /** Present messages of these folders that could not be read, and that this version of the reader has not tried again. */
    async repairable(accountId: string, folderIds: readonly string[], limit: number): Promise<MessageRow[]> {
      if (folderIds.length === 0) return []
      const rows = handle
        .selectFrom('messages')
        .selectAll()
        .where('accountId', '=', accountId)
        .where('error', 'is not', null)
        .where('folderId', 'in', [...folderIds])
        .where('uid', 'is not', null)
        .where('goneAt', 'is', null)
        .where((eb) => eb.or([eb('reader', 'is', null), eb('reader', '<', READER_VERSION)]))
      return rows.limit(limit).execute()
    },

    /** Messages that are missing since before `beforeMs`. */
    missing(accountId: string, beforeMs: number, limit: number): Promise<MessageRow[]> {
      return handle
        .selectFrom('messages')
        .selectAll()
        .where('accountId', '=', accountId)
        .where('goneAt', '<', beforeMs)
        .limit(limit)
        .execute()
    },

    /** Messages that are missing since `fromMs` and before `beforeMs`, in this order, after the row `after`. */
    missingSince(
      accountId: string,
      { fromMs, beforeMs, after }: { fromMs: number; beforeMs: number; after?: MessageRow | undefined },
      limit: number,
    ): Promise<MessageRow[]> {
      return handle
        .selectFrom('messages')
        .selectAll()
        .where('accountId', '=', accountId)
        .where('goneAt', '>=', fromMs)
        .where('goneAt', '<', beforeMs)
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`("goneAt", "id") > (${after?.goneAt}, ${after?.id})`),
        )
        .orderBy('goneAt')
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    /** When the first and the last missing message of the account left their folders; undefined when none is missing. */
    async missingTimes(accountId: string): Promise<{ first: number; last: number } | undefined> {
      const times = (direction: 'asc' | 'desc') =>
        handle
          .selectFrom('messages')
          .select('goneAt')
          .where('accountId', '=', accountId)
          .where('goneAt', 'is not', null)
          .orderBy('goneAt', direction)
          .limit(1)
          .executeTakeFirst()
      const first = (await times('asc'))?.goneAt ?? undefined
      if (first === undefined) return undefined
      return { first, last: (await times('desc'))?.goneAt ?? first }
    },

    /** The labels by message, without "all mail". Messages without a label have no entry. */
    async labelIds(ids: readonly string[]): Promise<Map<string, string[]>> {
      const labels = new Map<string, string[]>()
      if (ids.length === 0) return labels
      const rows = await handle
        .selectFrom('messageLabels')
        .select(['messageId', 'labelId'])
        .where('messageId', 'in', [...ids])
        .execute()
      for (const { messageId, labelId } of rows) {
        if (!isAllMail(labelId)) addToGroup(labels, messageId, labelId)
      }
      return labels
    },

    /** The number of messages with this label. */
    async count(accountId: string, labelId: string): Promise<{ total: number; unread: number }> {
      const row = await handle
        .selectFrom('messageCounters')
        .select(['total', 'unread'])
        .where('accountId', '=', accountId)
        .where('labelId', '=', labelId)
        .executeTakeFirst()
      return row ?? { total: 0, unread: 0 }
    },
  }
}

/** The hashes of rows that earlier versions stored, with what they are now. */
function formerIdentityHashes(messages: readonly MatchableRow[]): Map<string, string> {
  const hashes = new Map<string, string>()
  for (const { identityHash, sizeBytes, receivedAt, fields } of messages) {
    const former = formerIdentityHash({ messageId: parseFields(fields).messageId, receivedAt }, sizeBytes)
    if (former !== null && identityHash !== null) hashes.set(former, identityHash)
  }
  return hashes
}

async function inChunks<Value, Row>(
  values: readonly Value[],
  query: (chunk: Value[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let start = 0; start < values.length; start += IDS_PER_QUERY) {
    for (const row of await query(padded(values.slice(start, start + IDS_PER_QUERY)))) rows.push(row)
  }
  return rows
}
