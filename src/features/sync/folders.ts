import type { Tx } from '../../infra/db/index.ts'
import type { RemoteFolder } from '../../providers/contract/index.ts'
import { hasProviderColumns, type LabelRow, labelStore, newLabelRow, providerColumns } from '../labels/index.ts'
import { folderEvent } from './announce.ts'
import { cursorStore } from './cursor-store.ts'
import type { OwnedAccount, SyncDeps } from './deps.ts'
import type { FolderPlan } from './folder-plan.ts'
import { lateAfter } from './news.ts'

/** Which of the folders listed are kept in step, and why. */
export interface Keeping {
  granted: ReadonlyMap<RemoteFolder, string>
  /** Each has a position of its own, instead of the mailbox as a whole. */
  positioned: boolean
}

/**
 * Makes the labels what the listing says: new ones, renamed ones (their ids stay, one `mailbox.changed` tells it), and
 * which are kept in step. A label whose folder vanished stops being kept in step; its messages leave later.
 */
export async function storeFolders(
  deps: SyncDeps,
  context: OwnedAccount,
  plan: FolderPlan,
  keeping: Keeping,
): Promise<void> {
  const { granted } = keeping
  const { provider } = context
  const changed = plan.kept.filter(
    ({ label, folder }) =>
      !hasProviderColumns(label, folder, provider) || label.syncedAs !== (granted.get(folder) ?? null),
  )
  const dropped = plan.vanished.filter((label) => label.syncedAs !== null || label.selectable === 1)
  if (changed.length + plan.appeared.length + dropped.length === 0) return
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, context.accountId, context.epoch)
    const nowMs = deps.clock.now()
    const labels = labelStore(tx)
    for (const label of plan.vanished) await giveUpPath(tx, label, plan, nowMs)
    const rerouted = changed.filter(({ label, folder }) => label.providerId !== folder.path)
    // Paths are unique: folders that swapped their names first let go of both.
    for (const { label } of rerouted) await labels.update(label.id, { providerId: `${label.providerId} (${label.id})` })
    for (const { label, folder } of changed) {
      await labels.update(label.id, {
        ...providerColumns(folder, provider),
        syncedAs: granted.get(folder) ?? null,
        updatedAt: nowMs,
      })
    }
    await addFolders(deps, tx, context, plan.appeared, keeping)
    for (const { label, folder } of changed) {
      const counts = { added: 0, updated: 0, deleted: 0 }
      const now = { ...label, ...providerColumns(folder, provider) }
      if (now.name === label.name) continue
      await deps.events.record(tx, [folderEvent(now, await labels.incrementVersion(label.id), provider, counts)])
    }
  })
}

async function giveUpPath(tx: Tx, label: LabelRow, plan: FolderPlan, nowMs: number): Promise<void> {
  const taken = [...plan.kept.map(({ folder }) => folder), ...plan.appeared].some(
    (folder) => folder.path === label.providerId,
  )
  const providerId = taken ? `${label.providerId} (${label.id})` : label.providerId
  await labelStore(tx).update(label.id, { providerId, syncedAs: null, selectable: 0, updatedAt: nowMs })
}

/**
 * A folder that appears in an account that was in step: what stands in it was put there since, so mail that matches
 * nothing stored is news when it arrived since.
 */
async function addFolders(
  deps: SyncDeps,
  tx: Tx,
  { accountId, provider, syncedAt }: OwnedAccount,
  folders: readonly RemoteFolder[],
  { granted, positioned }: Keeping,
): Promise<void> {
  const nowMs = deps.clock.now()
  const cursors = cursorStore(tx)
  const before = [...(await cursors.all(accountId)).values()].flatMap((row) => row.lastSyncAt ?? [])
  const rows = folders.map((folder) => ({
    ...newLabelRow(folder, { id: deps.ids('lbl'), accountId, provider, nowMs }),
    syncedAs: granted.get(folder) ?? null,
  }))
  await labelStore(tx).insert(rows)
  if (before.length === 0 || !positioned) return
  for (const row of rows) {
    if (row.syncedAs === null) continue
    await cursors.save(accountId, row.id, { announceAfter: lateAfter(Math.max(...before), syncedAt()) })
  }
}
