import type { Selectable } from 'kysely'
import type { Handle, Tables } from '../../infra/db/index.ts'
import type { KnownMessage } from '../../providers/provider.ts'
import type { Candidate, Keys } from './match.ts'

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
    async byPlace(folderId: string, uidValidity: string, uids: readonly number[]): Promise<MessageRow[]> {
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
    /** Rows with a place in the folder and a uid in the range, for the provider to compare. */
    async known(folderId: string, uidValidity: string, lowUid: number, highUid: number): Promise<KnownMessage[]> {
      const rows = await handle
        .selectFrom('messages')
        .select(['uid', 'unread', 'starred'])
        .where('folderId', '=', folderId)
        .where('uidValidity', '=', uidValidity)
        .where('uid', '>=', lowUid)
        .where('uid', '<=', highUid)
        .execute()
      return rows.map((row) => ({ uid: Number(row.uid), unread: row.unread === 1, starred: row.starred === 1 }))
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
    placeless(folderId: string, limit: number): Promise<MessageRow[]> {
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
    async isEmpty(folderId: string): Promise<boolean> {
      for (const operator of ['is not', 'is'] as const) {
        const rows = handle.selectFrom('messages').select('id').where('folderId', '=', folderId)
        if ((await rows.where('uid', operator, null).limit(1).execute()).length > 0) return false
      }
      return true
    },
    /** Rows with a place in the folder, oldest first. */
    placed(folderId: string, limit: number): Promise<MessageRow[]> {
      return handle
        .selectFrom('messages')
        .selectAll()
        .where('folderId', '=', folderId)
        .where('uid', 'is not', null)
        .orderBy('uidValidity')
        .orderBy('uid')
        .limit(limit)
        .execute()
    },
    /** Rows that vanished before `beforeMs` and were not seen again. */
    gone(accountId: string, beforeMs: number, limit: number): Promise<MessageRow[]> {
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
      for (const { messageId, labelId } of rows) labels.set(messageId, [...(labels.get(messageId) ?? []), labelId])
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
