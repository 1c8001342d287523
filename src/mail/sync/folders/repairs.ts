import { type FolderMailProvider, ProviderError } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { locatedMessages, repairMessage } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'

/** Messages that a run reads again. Each may take several round trips. */
const MAX_REPAIRS = 20

export interface RepairContext extends OwnedAccount {
  /** The synced folders. */
  labels: readonly LabelRow[]
  signal: AbortSignal
}

/**
 * Reads messages of the synced folders again that could not be read, and returns what follows: `done`, `more` in the next run, or
 * `failed` when the server is not in the state to do it. Throws `OwnershipLost`.
 */
export async function repairMessages(
  deps: SyncDeps,
  mail: FolderMailProvider,
  { accountId, epoch, provider, labels, signal }: RepairContext,
): Promise<'done' | 'more' | 'failed'> {
  const byId = new Map(labels.map((label) => [label.id, label]))
  const rows = await locatedMessages(deps.db.read).repairable(accountId, [...byId.keys()], MAX_REPAIRS)
  if (rows.length === 0) return 'done'
  const live = mail.liveReads(await deps.accounts.access(accountId))
  for (const row of rows) {
    signal.throwIfAborted()
    const label = byId.get(row.folderId ?? '')
    if (label === undefined) continue
    const begin = (tx: Parameters<SyncDeps['fence']>[0]) => deps.fence(tx, accountId, epoch)
    try {
      await repairMessage(deps, { provider, label, live, begin }, row)
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      if (error.kind === 'not_found' || error.kind === 'rejected') continue
      deps.log.info('Cannot read messages again that could not be read. A later sync goes on.', {
        accountId,
        provider,
        operation: 'sync.repair',
        error,
        metadata: { labelId: label.id },
      })
      return 'failed'
    }
  }
  return rows.length < MAX_REPAIRS ? 'done' : 'more'
}
