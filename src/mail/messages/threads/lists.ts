import { sql } from 'kysely'
import { type Dialect, insertRows, type Tx } from '../../../platform/db/index.ts'

/** One message with one label, and its thread. */
interface ThreadMember {
  labelId: string
  /** Null: in no thread. */
  threadId: string | null
  receivedAt: number
}

/**
 * Writes `threadLabels`: a row for each label and thread with such messages. Call both methods after `messageLabels` changed.
 * They return the labels whose number of threads changed, once for each thread.
 */
export function threadLists(tx: Tx, dialect: Dialect) {
  return {
    async add(members: readonly ThreadMember[]): Promise<string[]> {
      const sums = sumMembers(members)
      const rows = [...sums.values()].map(({ labelId, threadId, receivedAt, messages }) => {
        return { labelId, threadId, lastReceivedAt: receivedAt, messages }
      })
      const stored = await insertRows(tx, 'threadLabels', rows, ADD)
      return stored.flatMap(({ labelId = '', threadId = '', messages }) =>
        sums.get(threadKey(labelId, threadId))?.messages === messages ? labelId : [],
      )
    },

    /** Finds the newest of the remaining messages; most threads have few. */
    async remove(members: readonly ThreadMember[]): Promise<string[]> {
      const sums = [...sumMembers(members).values()].map(({ labelId, threadId, messages }) => ({
        labelId,
        threadId,
        messages,
      }))
      if (sums.length === 0) return []
      const removed = dialect.rows({ labelId: 'text', threadId: 'text', messages: 'bigint' }, sums)
      await sql`update "threadLabels" set "messages" = "threadLabels"."messages" - "removed"."messages",
          "lastReceivedAt" = coalesce((
            select "messages"."receivedAt" from "messages"
            join "messageLabels" as "listed" on "listed"."messageId" = "messages"."id" and "listed"."labelId" = "removed"."labelId"
            where "messages"."threadId" = "removed"."threadId" and "messages"."goneAt" is null
            order by "messages"."receivedAt" desc limit 1), "threadLabels"."lastReceivedAt")
        from ${removed} as "removed"
        where "threadLabels"."labelId" = "removed"."labelId" and "threadLabels"."threadId" = "removed"."threadId"`.execute(
        tx,
      )
      const { rows } = await sql<{ labelId: string }>`delete from "threadLabels"
        where ("labelId", "threadId") in (select "labelId", "threadId" from ${removed} as "removed") and "messages" <= 0
        returning "labelId"`.execute(tx)
      return rows.map((row) => row.labelId)
    },
  }
}

const ADD = `on conflict ("labelId", "threadId") do update set
  "messages" = "threadLabels"."messages" + excluded."messages",
  "lastReceivedAt" = case when excluded."lastReceivedAt" > "threadLabels"."lastReceivedAt"
    then excluded."lastReceivedAt" else "threadLabels"."lastReceivedAt" end
  returning "labelId", "threadId", "messages"`

interface Sum {
  labelId: string
  threadId: string
  receivedAt: number
  messages: number
}

/** Sorted, so that concurrent transactions lock the rows in the same order. */
function sumMembers(members: readonly ThreadMember[]): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  for (const { labelId, threadId, receivedAt } of members) {
    if (threadId === null) continue
    const key = threadKey(labelId, threadId)
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, { labelId, threadId, receivedAt, messages: 1 })
    else sums.set(key, { ...sum, receivedAt: Math.max(sum.receivedAt, receivedAt), messages: sum.messages + 1 })
  }
  return new Map([...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function threadKey(labelId: string, threadId: string): string {
  return `${labelId} ${threadId}`
}

/** For a deleted account: deletes the rows of every thread with one of these messages, before the messages themselves. */
export async function eraseThreadLists(tx: Tx, messageIds: readonly string[]): Promise<void> {
  const threads = tx
    .selectFrom('messages')
    .select('threadId')
    .where('id', 'in', [...messageIds])
  await tx.deleteFrom('threadLabels').where('threadId', 'in', threads).execute()
}
