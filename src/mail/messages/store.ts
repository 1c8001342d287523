import { type Selectable, sql } from 'kysely'
import type { Handle, Tables } from '../../platform/db/index.ts'
import { addToGroup } from '../../platform/group-by.ts'
import { findCandidates } from './ingest/matching/candidates.ts'
import type { MatchableRow } from './ingest/matching/copies.ts'
import type { Candidate } from './ingest/matching/match.ts'
import { inChunks, isListed } from './rows/located-messages.ts'

export type MessageRow = Selectable<Tables['messages']>

/** The label of every message that is not in trash or junk, for providers with message ids. It has the account's id. */
export function allMail(accountId: string): string {
  return accountId
}

export function isAllMail(labelId: string): boolean {
  return labelId.startsWith('acc_')
}

/** Reads messages; `messageWriter` changes them. Only the methods that say so return missing messages. */
export function messageStore(handle: Handle): MessageStore {
  return new MessageStore(handle)
}

/** A class, because every transaction makes one: methods of a prototype need not be created each time. */
export class MessageStore {
  readonly #handle: Handle

  constructor(handle: Handle) {
    this.#handle = handle
  }

  async find(accountId: string, id: string): Promise<MessageRow | undefined> {
    const row = await this.#handle.selectFrom('messages').selectAll().where('id', '=', id).executeTakeFirst()
    return row !== undefined && row.accountId === accountId && row.goneAt === null ? row : undefined
  }

  /** In the order of `ids`, without unknown ones; includes missing messages. */
  async byIds(ids: readonly string[]): Promise<MessageRow[]> {
    if (ids.length === 0) return []
    const rows = await this.#handle
      .selectFrom('messages')
      .selectAll()
      .where('id', 'in', [...ids])
      .execute()
    const found = new Map(rows.map((row) => [row.id, row]))
    return ids.flatMap((id) => found.get(id) ?? [])
  }

  /** For providers with message ids; includes missing messages. */
  byProviderIds(accountId: string, providerMessageIds: readonly string[]): Promise<MessageRow[]> {
    return inChunks(providerMessageIds, (chunk) =>
      this.#handle
        .selectFrom('messages')
        .selectAll()
        .where('accountId', '=', accountId)
        .where('providerMessageId', 'in', chunk)
        .where('uidValidity', 'is', null)
        .execute(),
    )
  }

  /** Synced messages of the account, or of one of its labels, newest first, for sync to compare. `after` continues a page. */
  async newestFirst(
    of: { accountId: string; labelId?: string },
    limit: number,
    after?: { receivedAt: number; id: string },
  ): Promise<Pick<MessageRow, 'id' | 'providerMessageId' | 'receivedAt' | 'unread' | 'starred'>[]> {
    const columns = ['id', 'providerMessageId', 'messages.receivedAt', 'messages.unread', 'starred'] as const
    if (of.labelId === undefined) {
      return this.#handle
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
    return this.#handle
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
  }

  /** The messages of a page of a label, newest first. */
  async newestInLabel(
    labelId: string,
    limit: number,
    { offset, after }: { offset: number; after?: readonly [receivedAt: number, id: string] },
  ): Promise<MessageRow[]> {
    const rows = await this.#handle
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
  }

  /** `receivedAt` of the oldest synced message of the account, missing ones included. */
  async oldestReceivedAt(accountId: string): Promise<number | null> {
    const row = await this.#handle
      .selectFrom('messages')
      .select('receivedAt')
      .where('accountId', '=', accountId)
      .where((eb) => eb.or([isListed, eb('goneAt', 'is not', null)]))
      .orderBy('receivedAt')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst()
    return row?.receivedAt ?? null
  }

  /** When the messages among these that sync or backfill has stored were received; missing ones included. */
  async listedTimes(accountId: string, providerMessageIds: readonly string[]): Promise<Map<string, number>> {
    const rows = await inChunks(providerMessageIds, (chunk) =>
      this.#handle
        .selectFrom('messages')
        .select(['providerMessageId', 'receivedAt'])
        .where('accountId', '=', accountId)
        .where('providerMessageId', 'in', chunk)
        .where('uidValidity', 'is', null)
        .where((eb) => eb.or([isListed, eb('goneAt', 'is not', null)]))
        .execute(),
    )
    return new Map(rows.map((row) => [row.providerMessageId, row.receivedAt]))
  }

  /** Rows of the account that share a key with one of these messages; includes missing messages. */
  candidates(accountId: string, messages: readonly MatchableRow[]): Promise<Candidate[]> {
    return findCandidates(this.#handle, accountId, messages)
  }

  /** Messages that are missing since before `beforeMs`. */
  missing(accountId: string, beforeMs: number, limit: number): Promise<MessageRow[]> {
    return this.#handle
      .selectFrom('messages')
      .selectAll()
      .where('accountId', '=', accountId)
      .where('goneAt', '<', beforeMs)
      .limit(limit)
      .execute()
  }

  /** Messages that are missing since `fromMs` and before `beforeMs`, in this order, after the row `after`. */
  missingSince(
    accountId: string,
    { fromMs, beforeMs, after }: { fromMs: number; beforeMs: number; after?: MessageRow | undefined },
    limit: number,
  ): Promise<MessageRow[]> {
    return this.#handle
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
  }

  /** When the first and the last missing message of the account left their folders; undefined when none is missing. */
  async missingTimes(accountId: string): Promise<{ first: number; last: number } | undefined> {
    const times = (direction: 'asc' | 'desc') =>
      this.#handle
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
  }

  /** The labels by message, without "all mail". Messages without a label have no entry. */
  async labelIds(ids: readonly string[]): Promise<Map<string, string[]>> {
    const labels = new Map<string, string[]>()
    if (ids.length === 0) return labels
    const rows = await this.#handle
      .selectFrom('messageLabels')
      .select(['messageId', 'labelId'])
      .where('messageId', 'in', [...ids])
      .execute()
    for (const { messageId, labelId } of rows) {
      if (!isAllMail(labelId)) addToGroup(labels, messageId, labelId)
    }
    return labels
  }

  /** The number of messages with this label. */
  async count(accountId: string, labelId: string): Promise<{ total: number; unread: number }> {
    const row = await this.#handle
      .selectFrom('messageCounters')
      .select(['total', 'unread'])
      .where('accountId', '=', accountId)
      .where('labelId', '=', labelId)
      .executeTakeFirst()
    return row ?? { total: 0, unread: 0 }
  }
}
