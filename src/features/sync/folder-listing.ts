import type { Tx } from '../../infra/db/index.ts'
import type { RemoteFolder } from '../../providers/contract/index.ts'
import { hasProviderColumns, type LabelRow, labelStore, newLabelRow, providerColumns } from '../labels/index.ts'
import { folderEvent, notifyAfter } from './announce.ts'
import type { OwnedAccount, SyncDeps } from './deps.ts'
import { cursorStore } from './store.ts'

/** What a listing of folders says about the labels stored. */
export interface FolderPlan {
  /** Labels and the folder each is now, renamed or not. */
  kept: { label: LabelRow; folder: RemoteFolder }[]
  appeared: RemoteFolder[]
  vanished: LabelRow[]
}

/** INBOX is INBOX whatever it was renamed to; else a folder is known by MAILBOXID, else by its path. */
export function planFolders(labels: readonly LabelRow[], folders: readonly RemoteFolder[]): FolderPlan {
  const kept: FolderPlan['kept'] = []
  const rows = new Set(labels)
  const rest = new Set(folders)
  function keep(matches: (label: LabelRow, folder: RemoteFolder) => boolean) {
    for (const folder of [...rest]) {
      const label = [...rows].find((row) => matches(row, folder))
      if (label === undefined) continue
      kept.push({ label, folder })
      rows.delete(label)
      rest.delete(folder)
    }
  }
  keep((label, folder) => folder.path === 'INBOX' && label.providerId === 'INBOX')
  keep((label, folder) => folder.mailboxId !== null && label.mailboxId === folder.mailboxId)
  keep((label, folder) => label.providerId === folder.path)
  return { kept, appeared: [...rest], vanished: [...rows] }
}

/** The pairs that may be one folder under a new name; the same last name first. Where both have a MAILBOXID, they differ and are two. */
export function renameCandidates({ vanished, appeared }: FolderPlan): { label: LabelRow; folder: RemoteFolder }[] {
  return vanished
    .flatMap((label) => appeared.map((folder) => ({ label, folder })))
    .filter(({ label, folder }) => folder.selectable && (label.mailboxId === null || folder.mailboxId === null))
    .sort((a, b) => Number(b.label.displayName === b.folder.name) - Number(a.label.displayName === a.folder.name))
}

/**
 * Why each folder is kept in step, by path: `main:INBOX` (the account's own), `sent`, `drafts`, `folder:Work`. A wish
 * that no folder answers by name stays with the label that had it: that one was renamed.
 */
export function chooseSyncedFolders(
  kept: FolderPlan['kept'],
  appeared: readonly RemoteFolder[],
  mailbox: string,
  extra: readonly string[],
): Map<RemoteFolder, string> {
  const folders = [...kept.map(({ folder }) => folder), ...appeared].filter((folder) => folder.selectable)
  const syncedAs = new Map<RemoteFolder, string>()
  const wished: { wish: string; answers(folder: RemoteFolder): boolean }[] = [
    { wish: `main:${mailbox}`, answers: (folder) => samePath(folder.path, mailbox) },
    { wish: 'sent', answers: (folder) => folder.role === 'sent' },
    { wish: 'drafts', answers: (folder) => folder.role === 'drafts' },
    ...extra.map((path) => ({ wish: `folder:${path}`, answers: (one: RemoteFolder) => samePath(one.path, path) })),
  ]
  for (const { wish, answers } of wished) {
    const folder =
      folders.find(answers) ?? kept.find(({ label, folder: one }) => label.syncedAs === wish && one.selectable)?.folder
    if (folder !== undefined && !syncedAs.has(folder)) syncedAs.set(folder, wish)
  }
  return syncedAs
}

function samePath(path: string, wanted: string): boolean {
  return path === wanted || (path === 'INBOX' && wanted.toUpperCase() === 'INBOX')
}

/** Which of the folders listed are kept in step, and why. */
export interface SyncedFolders {
  syncedAs: ReadonlyMap<RemoteFolder, string>
  /** Each has a position of its own, instead of the mailbox as a whole. */
  hasCursorPerFolder: boolean
}

/**
 * Makes the labels what the listing says: new ones, renamed ones (their ids stay, one `mailbox.changed` tells it), and
 * which are kept in step. A label whose folder vanished stops being kept in step; its messages leave later.
 */
export async function storeFolders(
  deps: SyncDeps,
  context: OwnedAccount,
  plan: FolderPlan,
  keeping: SyncedFolders,
): Promise<void> {
  const { syncedAs } = keeping
  const { provider } = context
  const changed = plan.kept.filter(
    ({ label, folder }) =>
      !hasProviderColumns(label, folder, provider) || label.syncedAs !== (syncedAs.get(folder) ?? null),
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
        syncedAs: syncedAs.get(folder) ?? null,
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
  { syncedAs, hasCursorPerFolder }: SyncedFolders,
): Promise<void> {
  const nowMs = deps.clock.now()
  const cursors = cursorStore(tx)
  const before = [...(await cursors.all(accountId)).values()].flatMap((row) => row.lastSyncAt ?? [])
  const rows = folders.map((folder) => ({
    ...newLabelRow(folder, { id: deps.ids('lbl'), accountId, provider, nowMs }),
    syncedAs: syncedAs.get(folder) ?? null,
  }))
  await labelStore(tx).insert(rows)
  if (before.length === 0 || !hasCursorPerFolder) return
  for (const row of rows) {
    if (row.syncedAs === null) continue
    await cursors.save(accountId, row.id, { announceAfter: notifyAfter(Math.max(...before), syncedAt()) })
  }
}
