import { type Dialect, insertRows, padded, type Tx } from '../../../platform/db/index.ts'
import { threadLists } from '../threads/lists.ts'
import type { ThreadMerge } from '../threads/merges.ts'
import type { LabelledMessage } from './stored-json.ts'

/** Writes `messageLabels`, `threadLabels` and `messageCounters` together, so that the counters are always exact. */
export function labelCounters(tx: Tx, dialect: Dialect, accountId: string) {
  const lists = threadLists(tx, dialect)
  return {
    async attach(messages: readonly LabelledMessage[]): Promise<void> {
      const attached = messages.flatMap(({ row: { id: messageId, receivedAt, unread, hasAttachments }, labelIds }) =>
        labelIds.map((labelId) => ({ labelId, receivedAt, messageId, unread, hasAttachments })),
      )
      await insertRows(tx, 'messageLabels', attached)
      const members = messages.flatMap(({ row: { threadId, receivedAt }, labelIds }) =>
        labelIds.map((labelId) => ({ labelId, threadId, receivedAt })),
      )
      const opened = await lists.add(members)
      await count([
        ...attached.map(({ labelId, unread }) => ({ labelId, total: 1, unread, threads: 0 })),
        ...opened.map((labelId) => ({ labelId, total: 0, unread: 0, threads: 1 })),
      ])
    },

    async detach(messageIds: readonly string[]): Promise<void> {
      if (messageIds.length === 0) return
      const detached = await tx
        .deleteFrom('messageLabels')
        .where('messageId', 'in', [...messageIds])
        .returning(['labelId', 'unread', 'messageId', 'receivedAt'])
        .execute()
      const threadIds = await findThreads(detached.map(({ messageId }) => messageId))
      const closed = await lists.remove(
        detached.map(({ labelId, messageId, receivedAt }) => ({
          labelId,
          threadId: threadIds.get(messageId) ?? null,
          receivedAt,
        })),
      )
      await count([
        ...detached.map(({ labelId, unread }) => ({ labelId, total: -1, unread: -unread, threads: 0 })),
        ...closed.map((labelId) => ({ labelId, total: 0, unread: 0, threads: -1 })),
      ])
    },

    /** Call it after the messages were moved to the other thread. */
    async moveThread(messageIds: readonly string[], { threadId, intoThreadId }: ThreadMerge): Promise<void> {
      const members = await tx
        .selectFrom('messageLabels')
        .select(['labelId', 'receivedAt'])
        .where('messageId', 'in', padded(messageIds))
        .execute()
      const closed = await lists.remove(members.map((member) => ({ ...member, threadId })))
      const opened = await lists.add(members.map((member) => ({ ...member, threadId: intoThreadId })))
      await count([
        ...closed.map((labelId) => ({ labelId, total: 0, unread: 0, threads: -1 })),
        ...opened.map((labelId) => ({ labelId, total: 0, unread: 0, threads: 1 })),
      ])
    },

    /** Every message given must have the other state: the counters change by one for each of its labels. */
    async setUnread(messageIds: readonly string[], unread: number): Promise<void> {
      if (messageIds.length === 0) return
      const changed = await tx
        .updateTable('messageLabels')
        .set({ unread })
        .where('messageId', 'in', [...messageIds])
        .returning('labelId')
        .execute()
      await count(changed.map(({ labelId }) => ({ labelId, total: 0, unread: unread === 1 ? 1 : -1, threads: 0 })))
    },
  }

  /** The threads in which the messages are stored. */
  async function findThreads(ids: readonly string[]): Promise<Map<string, string | null>> {
    if (ids.length === 0) return new Map()
    const rows = await tx.selectFrom('messages').select(['id', 'threadId']).where('id', 'in', padded(ids)).execute()
    return new Map(rows.map((row) => [row.id, row.threadId]))
  }

  async function count(changes: readonly Counts[]): Promise<void> {
    const sums = new Map<string, Counts>()
    for (const { labelId, total, unread, threads } of changes) {
      const sum = sums.get(labelId) ?? { labelId, total: 0, unread: 0, threads: 0 }
      sums.set(labelId, {
        labelId,
        total: sum.total + total,
        unread: sum.unread + unread,
        threads: sum.threads + threads,
      })
    }
    if (sums.size === 0) return
    // Sorted, so that concurrent transactions lock the counters in the same order.
    const rows = [...sums.values()].sort((a, b) => (a.labelId < b.labelId ? -1 : 1))
    await insertRows(
      tx,
      'messageCounters',
      rows.map((row) => ({ accountId, ...row })),
      ADD_COUNTS,
    )
  }
}

const ADD_COUNTS = `on conflict ("accountId", "labelId") do update set
  "total" = "messageCounters"."total" + excluded."total",
  "unread" = "messageCounters"."unread" + excluded."unread",
  "threads" = "messageCounters"."threads" + excluded."threads"`

interface Counts {
  labelId: string
  total: number
  unread: number
  threads: number
}
