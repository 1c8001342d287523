import { sql } from 'kysely'
import { type Handle, insertRows, type Tx } from '../../../platform/db/index.ts'

/** Records that the search index is out of date for these messages, in the transaction that adds, rewrites or removes them. */
export async function markUnindexed(tx: Tx, accountId: string, messageIds: readonly string[]): Promise<void> {
  await addUnindexed(
    tx,
    messageIds.map((messageId) => ({ accountId, messageId })),
  )
}

export async function addUnindexed(tx: Tx, messages: readonly UnindexedMessage[]): Promise<void> {
  await insertRows(tx, 'unindexedMessages', messages)
}

interface UnindexedMessage {
  accountId: string
  messageId: string
}

/** The queue of the search index. Rows of one message may repeat: delete exactly those whose state was indexed. */
export function unindexedMessages(handle: Handle) {
  return {
    newest(limit: number): Promise<{ id: number; messageId: string }[]> {
      return handle
        .selectFrom('unindexedMessages')
        .select(['id', 'messageId'])
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
    },

    async hasSome(accountId?: string): Promise<boolean> {
      const row = await handle
        .selectFrom('unindexedMessages')
        .select('id')
        .$if(accountId !== undefined, (query) => query.where('accountId', '=', accountId ?? ''))
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },

    async remove(ids: readonly number[]): Promise<void> {
      if (ids.length === 0) return
      await handle
        .deleteFrom('unindexedMessages')
        .where('id', 'in', [...ids])
        .execute()
    },

    /** Lists messages for a new index: those with the highest ids below `beforeId`, of all accounts. */
    messagesBefore(beforeId: string, limit: number): Promise<UnindexedMessage[]> {
      return handle
        .selectFrom('messages')
        .select(['id as messageId', 'accountId'])
        .where('id', '<', beforeId)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
    },

    /** Whether a new index must contain any message. */
    async hasMessages(): Promise<boolean> {
      const { rows } = await sql`select 1 from "messages" limit 1`.execute(handle)
      return rows.length > 0
    },
  }
}
