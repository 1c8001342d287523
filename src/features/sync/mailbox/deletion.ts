import { type LabelRow, labelStore } from '../../labels/index.ts'
import { messageStore } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { mailboxChange } from './change.ts'

const BATCH = 100

/**
 * A label of a mailbox that is one scope is gone at the provider: its mails lose it and stay, told as `message.updated`, in
 * small transactions; then its row goes too. `labels` are all labels of the account that are stored.
 */
export async function forgetLabel(
  deps: SyncDeps,
  context: OwnedAccount,
  label: LabelRow,
  labels: readonly LabelRow[],
): Promise<void> {
  const byPath = new Map(labels.map((one) => [one.providerId, one]))
  const paths = new Map(labels.map((one) => [one.id, one.providerId]))
  for (let more = true; more; ) {
    more = await deps.db.transaction(async (tx) => {
      await deps.fence(tx, context.accountId, context.epoch)
      const store = messageStore(tx)
      const rows = await store.newestFirst({ accountId: context.accountId, labelId: label.id }, BATCH)
      const carried = await store.labelIds(rows.map((row) => row.id))
      const change = mailboxChange(deps, tx, { ...context, scope: undefined, labels: byPath, bodies: new Map() })
      await change.change(
        rows.map(({ id, providerMessageId }) => ({
          providerMessageId,
          folders: (carried.get(id) ?? []).flatMap((one) => (one === label.id ? [] : (paths.get(one) ?? []))),
        })),
      )
      await change.record()
      if (rows.length === 0) await labelStore(tx).remove(label.id)
      return rows.length > 0
    })
  }
}
