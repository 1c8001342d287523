import { type Selectable, sql } from 'kysely'
import type { Handle, Tables } from '../../infra/db/index.ts'
import type { KnownFolderMessage } from '../../providers/contract/index.ts'
import { isAllMail } from './storing/label-counters.ts'
import type { Candidate, Keys } from './storing/match.ts'

export type MessageRow = Selectable<Tables['messages']>

const CANDIDATE = [
  'id',
  'folderId',
  'uidValidity',
  'uid',
  'goneAt',
  'emailIdHash',
  'identityHash',
  'headerHash',
] as const

/** What may be read of messages; see `messageWriter` for the changes. Rows that are gone are found only where that is said. */
export function messageStore(handle: Handle) {
  const located = (folderId: string, limit: number) =>
    handle
      .selectFrom('messages')
      .where('folderId', '=', folderId)
      .where('uid', 'is not', null)
      .orderBy('uidValidity')
      .orderBy('uid')
      .limit(limit)
  return {
    async find(accountId: string, id: string): Promise<MessageRow | undefined> {
      const row = await handle.selectFrom('messages').selectAll().where('id', '=', id).executeTakeFirst()
      return row !== undefined && row.accountId === accountId && row.goneAt === null ? row : undefined
    },
    /** In the order of `ids`; missing ones are left out. */
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
    async byLocation(folderId: string, uidValidity: string, uids: readonly number[]): Promise<MessageRow[]> {
      const rows: MessageRow[] = []
      for (let start = 0; start < uids.length; start += IN_LIMIT) {
        rows.push(
          ...(await handle
            .selectFrom('messages')
            .selectAll()
            .where('folderId', '=', folderId)
            .where('uidValidity', '=', uidValidity)
            .where('uid', 'in', uids.slice(start, start + IN_LIMIT))
            .execute()),
        )
      }
      return rows
    },
    /** Rows of mails that have an id of their own, gone ones included. */
    async byProviderIds(accountId: string, providerMessageIds: readonly string[]): Promise<MessageRow[]> {
      const rows: MessageRow[] = []
      for (let start = 0; start < providerMessageIds.length; start += IN_LIMIT) {
        rows.push(
          ...(await handle
            .selectFrom('messages')
            .selectAll()
            .where('accountId', '=', accountId)
            .where('providerMessageId', 'in', providerMessageIds.slice(start, start + IN_LIMIT))
            .where('uidValidity', 'is', null)
            .execute()),
        )
      }
      return rows
    },
    /** Mails of the account, or of one of its labels, newest first, from behind a position on. For the provider to compare. */
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
    /** When the oldest mail of the account arrived. */
    async oldestReceivedAt(accountId: string): Promise<number | null> {
      const row = await handle
        .selectFrom('messages')
        .select('receivedAt')
        .where('accountId', '=', accountId)
        .orderBy('receivedAt')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      return row?.receivedAt ?? null
    },
    /** Rows with a place in the folder and a uid in the range, for the provider to compare. */
    async knownMessages(
      folderId: string,
      uidValidity: string,
      lowUid: number,
      highUid: number,
    ): Promise<KnownFolderMessage[]> {
      const known: KnownFolderMessage[] = []
      // In pages: a range may hold every message of a large folder.
      for (let fromUid = lowUid; ; ) {
        const rows = await handle
          .selectFrom('messages')
          .select(['uid', 'unread', 'starred'])
          .where('folderId', '=', folderId)
          .where('uidValidity', '=', uidValidity)
          .where('uid', '>=', fromUid)
          .where('uid', '<=', highUid)
          .orderBy('uid')
          .limit(KNOWN_PER_PAGE)
          .execute()
        for (const row of rows) {
          known.push({ uid: Number(row.uid), unread: row.unread === 1, starred: row.starred === 1 })
        }
        if (rows.length < KNOWN_PER_PAGE) return known
        fromUid = (known.at(-1)?.uid ?? highUid) + 1
      }
    },
    /** Rows of the account, gone ones included, that share a key with one of these mails. */
    async candidates(accountId: string, mails: readonly Keys[]): Promise<Candidate[]> {
      const found = new Map<string, Candidate>()
      for (const key of ['emailIdHash', 'identityHash', 'headerHash'] as const) {
        const values = [...new Set(mails.flatMap((mail) => mail[key] ?? []))]
        for (let start = 0; start < values.length; start += IN_LIMIT) {
          const rows = await handle
            .selectFrom('messages')
            .select(CANDIDATE)
            .where('accountId', '=', accountId)
            .where(key, 'in', values.slice(start, start + IN_LIMIT))
            .execute()
          for (const row of rows) found.set(row.id, row)
        }
      }
      return [...found.values()]
    },
    /** Rows of the folder that lost their place to a new numbering. */
    withoutLocation(folderId: string, limit: number): Promise<MessageRow[]> {
      return handle
        .selectFrom('messages')
        .selectAll()
        .where('folderId', '=', folderId)
        .where('uid', 'is', null)
        .where('goneAt', 'is', null)
        .orderBy('id')
        .limit(limit)
        .execute()
    },
    /** Has the folder no rows any more, gone ones included? */
    async isFolderEmpty(folderId: string): Promise<boolean> {
      for (const operator of ['is not', 'is'] as const) {
        const rows = handle.selectFrom('messages').select('id').where('folderId', '=', folderId)
        if ((await rows.where('uid', operator, null).limit(1).execute()).length > 0) return false
      }
      return true
    },
    /** Rows with a location in the folder, lowest UID first. */
    withLocation: (folderId: string, limit: number): Promise<MessageRow[]> =>
      located(folderId, limit).selectAll().execute(),
    /** Their ids only. */
    async idsWithLocation(folderId: string, limit: number): Promise<string[]> {
      return (await located(folderId, limit).select('id').execute()).map((row) => row.id)
    },
    /** Rows that vanished before `beforeMs` and were not seen again. */
    missing(accountId: string, beforeMs: number, limit: number): Promise<MessageRow[]> {
      return handle
        .selectFrom('messages')
        .selectAll()
        .where('accountId', '=', accountId)
        .where('goneAt', '<', beforeMs)
        .limit(limit)
        .execute()
    },
    /** Which labels each of these messages carries. */
    async labelIds(ids: readonly string[]): Promise<Map<string, string[]>> {
      const labels = new Map<string, string[]>()
      if (ids.length === 0) return labels
      const rows = await handle
        .selectFrom('messageLabels')
        .select(['messageId', 'labelId'])
        .where('messageId', 'in', [...ids])
        .execute()
      for (const { messageId, labelId } of rows) {
        if (!isAllMail(labelId)) labels.set(messageId, [...(labels.get(messageId) ?? []), labelId])
      }
      return labels
    },
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

const IN_LIMIT = 500
const KNOWN_PER_PAGE = 1000
