import { type Selectable, sql } from 'kysely'
import { compiledOnce, type Handle, type Tables } from '../../platform/db/index.ts'
import { addToGroup } from '../../platform/group-by.ts'

import type { MatchableRow } from './ingest/copies.ts'
import type { Candidate, MatchKeys } from './ingest/match.ts'
import { inChunks, isListed, locatedMessages } from './rows/located.ts'
import { formerIdentityHash, parseFields } from './rows/row.ts'

export type MessageRow = Selectable<Tables['messages']>

/** The label of every message that is not in trash or junk, for providers with message ids. It has the account's id. */
export function allMail(accountId: string): string {
  return accountId
}

export function isAllMail(labelId: string): boolean {
  return labelId.startsWith('acc_')
}

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
  return {
    ...locatedMessages(handle),

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
