import { findApiChanges } from '../../../accounts/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import { ingest, messageStore } from '../../messages/index.ts'
import type { SyncDeps } from '../deps.ts'
import type { AccountRun } from '../folders/deletion.ts'

const MESSAGES_PER_TRANSACTION = 100

/**
 * Deletes a label that no longer exists at the provider, for a mailbox that is one scope. Its messages lose the label, with
 * `message.updated`, in small transactions; then the label's row is deleted. `labels` are all stored labels of the account.
 * Throws the signal's reason between two transactions.
 */
export async function deleteLabel(
  deps: SyncDeps,
  context: AccountRun,
  label: LabelRow,
  labels: readonly LabelRow[],
): Promise<void> {
  const byPath = new Map(labels.map((label) => [label.providerId, label]))
  const paths = new Map(labels.map((label) => [label.id, label.providerId]))
  for (let more = true; more; ) {
    context.signal.throwIfAborted()
    const counts = await deps.db.transaction(async (tx) => {
      await deps.fence(tx, context.accountId, context.epoch)
      const store = messageStore(tx)
      const rows = await store.newestFirst(
        { accountId: context.accountId, labelId: label.id },
        MESSAGES_PER_TRANSACTION,
      )
      const carried = await store.labelIds(rows.map((row) => row.id))
      if (rows.length === 0) {
        await labelStore(tx).remove(label.id)
        return undefined
      }
      return ingest.mailbox(tx, deps, {
        accountId: context.accountId,
        provider: context.provider,
        scope: undefined,
        labels: byPath,
        changed: rows.map(({ id, providerMessageId }) => ({
          providerMessageId,
          folders: (carried.get(id) ?? []).flatMap((id) => (id === label.id ? [] : (paths.get(id) ?? []))),
        })),
        apiChanges: await findApiChanges(tx, context.accountId),
        bodies: new Map(),
        isNew: () => false,
      })
    })
    if (counts !== undefined) context.onStored(counts)
    more = counts !== undefined
  }
}
