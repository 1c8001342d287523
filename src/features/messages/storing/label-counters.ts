import type { Tx } from '../../../infra/db/index.ts'
import type { MessageRow } from '../store.ts'

const LABELS_PER_INSERT = 200

/** A message and the labels it shall carry. */
export interface Labelled {
  row: MessageRow
  labelIds: readonly string[]
}

/** The label that the lists of all mail of an account follow, where there are such: everything but trash and junk. */
export function allMail(accountId: string): string {
  return accountId
}

export function isAllMail(labelId: string): boolean {
  return labelId.startsWith('acc_')
}

/** Which message carries which label, and how many do: rows and counters change together. */
export function labeller(tx: Tx, accountId: string) {
  return {
    async attach(messages: readonly Labelled[]): Promise<void> {
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

    /** For messages whose state was the other one. */
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
    // Sorted: two transactions that count in several labels lock them in the same order.
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
