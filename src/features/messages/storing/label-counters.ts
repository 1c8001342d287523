import type { Tx } from '../../../infra/db/index.ts'
import type { MessageRow } from '../store.ts'

const LABELS_PER_INSERT = 200

/** A message and all labels it gets. */
export interface LabelledMessage {
  row: MessageRow
  labelIds: readonly string[]
}

/** The label of every message that is not in trash or junk, for providers with message ids. It has the account's id. */
export function allMail(accountId: string): string {
  return accountId
}

export function isAllMail(labelId: string): boolean {
  return labelId.startsWith('acc_')
}

/** Writes `messageLabels` and `messageCounters` together, so that the counters are always exact. */
export function labelCounters(tx: Tx, accountId: string) {
  return {
    async attach(messages: readonly LabelledMessage[]): Promise<void> {
      const attached = messages.flatMap(({ row: { id: messageId, receivedAt, unread, hasAttachments }, labelIds }) =>
        labelIds.map((labelId) => ({ labelId, receivedAt, messageId, unread, hasAttachments })),
      )
      for (let start = 0; start < attached.length; start += LABELS_PER_INSERT) {
        await tx
          .insertInto('messageLabels')
          .values(attached.slice(start, start + LABELS_PER_INSERT))
          .execute()
      }
      await count(attached.map(({ labelId, unread }) => ({ labelId, total: 1, unread })))
    },

    async detach(messageIds: readonly string[]): Promise<void> {
      if (messageIds.length === 0) return
      const detached = await tx
        .deleteFrom('messageLabels')
        .where('messageId', 'in', [...messageIds])
        .returning(['labelId', 'unread'])
        .execute()
      await count(detached.map(({ labelId, unread }) => ({ labelId, total: -1, unread: -unread })))
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
      await count(changed.map(({ labelId }) => ({ labelId, total: 0, unread: unread === 1 ? 1 : -1 })))
    },
  }

  async function count(changes: readonly { labelId: string; total: number; unread: number }[]): Promise<void> {
    const sums = new Map<string, { labelId: string; total: number; unread: number }>()
    for (const { labelId, total, unread } of changes) {
      const sum = sums.get(labelId) ?? { labelId, total: 0, unread: 0 }
      sums.set(labelId, { labelId, total: sum.total + total, unread: sum.unread + unread })
    }
    if (sums.size === 0) return
    // Sorted, so that concurrent transactions lock the counters in the same order.
    const rows = [...sums.values()].sort((a, b) => (a.labelId < b.labelId ? -1 : 1))
    await tx
      .insertInto('messageCounters')
      .values(rows.map((row) => ({ accountId, ...row })))
      .onConflict((conflict) =>
        conflict.columns(['accountId', 'labelId']).doUpdateSet((eb) => ({
          total: eb('messageCounters.total', '+', eb.ref('excluded.total')),
          unread: eb('messageCounters.unread', '+', eb.ref('excluded.unread')),
        })),
      )
      .execute()
  }
}
