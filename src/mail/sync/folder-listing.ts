import { type ApiChanges, findApiChanges } from '../../accounts/index.ts'
import type { Tx } from '../../platform/db/index.ts'
import type { FolderRole, RemoteFolder } from '../../providers/contract/index.ts'
import {
  type FolderPlan,
  folderEvent,
  isAsListed,
  type LabelRow,
  labelStore,
  listedColumns,
  newLabelRow,
} from '../labels/index.ts'
import type { OwnedAccount, SyncDeps } from './deps.ts'
import { notifyAfter } from './new-since.ts'
import { type CursorRow, cursorStore } from './store.ts'

/**
 * Pairs that may be one renamed folder, those with the same last name first. Two unmatched MAILBOXIDs mean two folders. Take only a
 * few: thousands of vanished and appeared folders form millions of pairs.
 */
export function* renameCandidates({
  vanished,
  appeared,
}: FolderPlan): Generator<{ label: LabelRow; folder: RemoteFolder }> {
  const selectable = appeared.filter((folder) => folder.selectable)
  const byName = new Map<string, RemoteFolder[]>()
  for (const folder of selectable) {
    const sameName = byName.get(folder.name)
    if (sameName === undefined) byName.set(folder.name, [folder])
    else sameName.push(folder)
  }
  const isPossible = (label: LabelRow, folder: RemoteFolder) => label.mailboxId === null || folder.mailboxId === null
  for (const label of vanished) {
    for (const folder of byName.get(label.displayName) ?? []) if (isPossible(label, folder)) yield { label, folder }
  }
  for (const label of vanished) {
    for (const folder of selectable) {
      if (label.displayName !== folder.name && isPossible(label, folder)) yield { label, folder }
    }
  }
}

/** Folders between which mail programs move messages. A move to a folder that is not synced would look like a deletion. */
const SYNCED_ROLES = ['sent', 'drafts', 'archive', 'junk', 'trash'] as const satisfies FolderRole[]
/** In the list of configured folders: no folder is synced because of its role. */
const OWN_ONLY = 'own'
const CHOSEN = 'chosen'

/**
 * Returns the folders to sync, each with its reason: `main:INBOX` (the main folder of the account), a role such as `sent`, or
 * `folder:Work`. When no folder matches a reason, the folder that had it was renamed and keeps it. `chosen`: the labels that the
 * application chose in place of the roles and the configured folders.
 */
export function chooseSyncedFolders(
  kept: FolderPlan['kept'],
  appeared: readonly RemoteFolder[],
  mailbox: string,
  configured: readonly string[],
  chosen: readonly string[] | null = null,
): Map<RemoteFolder, string> {
  const folders = [...kept.map(({ folder }) => folder), ...appeared].filter((folder) => folder.selectable)
  const syncedAs = new Map<RemoteFolder, string>()
  const roles = chosen !== null || configured.includes(OWN_ONLY) ? [] : SYNCED_ROLES
  const extra = chosen === null ? configured.filter((path) => path !== OWN_ONLY) : []
  const rules: { reason: string; matches(folder: RemoteFolder): boolean }[] = [
    { reason: `main:${mailbox}`, matches: (folder) => samePath(folder.path, mailbox) },
    ...roles.map((role) => ({ reason: role, matches: (folder: RemoteFolder) => folder.role === role })),
    ...extra.map((path) => ({
      reason: `folder:${path}`,
      matches: (folder: RemoteFolder) => samePath(folder.path, path),
    })),
  ]
  for (const { reason, matches } of rules) {
    const folder =
      folders.find(matches) ??
      kept.find(({ label, folder: keptFolder }) => label.syncedAs === reason && keptFolder.selectable)?.folder
    if (folder !== undefined && !syncedAs.has(folder)) syncedAs.set(folder, reason)
  }
  // By the label, which keeps its id when its folder is renamed.
  for (const { label, folder } of kept) {
    if (folder.selectable && chosen?.includes(label.id) && !syncedAs.has(folder)) syncedAs.set(folder, CHOSEN)
  }
  return syncedAs
}

function samePath(path: string, wanted: string): boolean {
  return path === wanted || (path === 'INBOX' && wanted.toUpperCase() === 'INBOX')
}

/** The listed folders to sync, each with its reason. */
interface SyncedFolders {
  syncedAs: ReadonlyMap<RemoteFolder, string>
  /** False where one cursor covers the entire mailbox. */
  hasCursorPerFolder: boolean
}

/**
 * Updates the labels from the listing. A renamed label keeps its id and emits one `mailbox.changed`. A label whose folder
 * vanished is no longer synced; `deleteFolder` removes its messages later. Returns `unchanged` when the labels are as listed, and
 * `stale`, with nothing stored, when the API changed folders after `apiChanges` was read: list again.
 */
export async function storeFolders(
  deps: SyncDeps,
  context: OwnedAccount,
  plan: FolderPlan,
  synced: SyncedFolders,
  apiChanges: ApiChanges,
): Promise<'unchanged' | 'stored' | 'stale'> {
  const { syncedAs } = synced
  const { provider } = context
  const changed = plan.kept.filter(
    ({ label, folder }) => !isAsListed(label, folder, provider) || label.syncedAs !== (syncedAs.get(folder) ?? null),
  )
  const unsynced = plan.vanished.filter((label) => label.syncedAs !== null || label.selectable === 1)
  if (changed.length + plan.appeared.length + unsynced.length === 0) return 'unchanged'
  return deps.db.transaction(async (tx) => {
    await deps.fence(tx, context.accountId, context.epoch)
    const latest = await findApiChanges(tx, context.accountId)
    if (latest.latestFolder > apiChanges.latestFolder) return 'stale'
    const nowMs = deps.clock.now()
    const labels = labelStore(tx)
    const paths = new Set([...plan.kept.map(({ folder }) => folder), ...plan.appeared].map((folder) => folder.path))
    for (const label of plan.vanished) await releasePath(tx, label, paths, nowMs)
    const moved = changed.filter(({ label, folder }) => label.providerId !== folder.path)
    // Paths are unique: two folders that swapped names first get temporary ones.
    for (const { label } of moved) await labels.update(label.id, { providerId: `${label.providerId} (${label.id})` })
    for (const { label, folder } of changed) {
      await labels.update(label.id, {
        ...listedColumns(label, folder, provider),
        syncedAs: syncedAs.get(folder) ?? null,
        updatedAt: nowMs,
      })
    }
    if (synced.hasCursorPerFolder) await resumeFolders(tx, context, changed, synced, nowMs)
    await addFolders(deps, tx, context, plan.appeared, synced)
    for (const { label, folder } of changed) {
      const counts = { added: 0, updated: 0, deleted: 0 }
      const now = { ...label, ...listedColumns(label, folder, provider) }
      if (now.name === label.name) continue
      await deps.events.record(tx, [folderEvent(now, await labels.incrementVersion(label.id), provider, counts)])
    }
    return 'stored'
  })
}

/** Marks a vanished label as not synced. Its path is changed when another folder now has it. */
async function releasePath(tx: Tx, label: LabelRow, paths: ReadonlySet<string>, nowMs: number): Promise<void> {
  const providerId = paths.has(label.providerId) ? `${label.providerId} (${label.id})` : label.providerId
  await labelStore(tx).update(label.id, { providerId, syncedAs: null, selectable: 0, updatedAt: nowMs })
}

/**
 * A folder that is synced again continues at its old cursor. Where it was not synced although it was there, messages from before `nowMs`
 * are not announced. Without a cursor, sync begins with the messages that the folder has at the next check.
 */
async function resumeFolders(
  tx: Tx,
  account: OwnedAccount,
  changed: FolderPlan['kept'],
  { syncedAs }: SyncedFolders,
  nowMs: number,
): Promise<void> {
  const resumed = changed.filter(({ label, folder }) => label.syncedAs === null && syncedAs.has(folder))
  if (resumed.length === 0) return
  const { accountId } = account
  const cursors = cursorStore(tx)
  const before = await cursors.all(accountId)
  const announceAfter = await findAnnounceAfter(tx, account, before)
  for (const { label } of resumed) {
    // Its folder was deleted, and is there again: all that it has arrived since.
    const isMadeAgain = label.selectable === 0
    if (isMadeAgain && announceAfter !== undefined) await cursors.save(accountId, label.id, { announceAfter })
    else if (before.has(label.id)) await cursors.save(accountId, label.id, { announceAfter: secondBefore(nowMs) })
  }
}

/** Mail servers store in whole seconds when a message arrived: one of this second may have come after `nowMs`. */
function secondBefore(nowMs: number): number {
  return Math.floor(nowMs / 1000) * 1000 - 1
}

/** Unmatched messages in a folder that appeared after the last sync are new if they were received since that sync. */
async function addFolders(
  deps: SyncDeps,
  tx: Tx,
  account: OwnedAccount,
  folders: readonly RemoteFolder[],
  { syncedAs, hasCursorPerFolder }: SyncedFolders,
): Promise<void> {
  const { accountId, provider } = account
  const nowMs = deps.clock.now()
  const rows = folders.map((folder) => ({
    ...newLabelRow(folder, { id: deps.ids('lbl'), accountId, provider, nowMs }),
    syncedAs: syncedAs.get(folder) ?? null,
  }))
  await labelStore(tx).insert(rows)
  if (!hasCursorPerFolder || rows.length === 0) return
  const cursors = cursorStore(tx)
  const announceAfter = await findAnnounceAfter(tx, account, await cursors.all(accountId))
  if (announceAfter === undefined) return
  for (const row of rows) if (row.syncedAs !== null) await cursors.save(accountId, row.id, { announceAfter })
}

/**
 * When messages of a folder that was not there in the last sync count as new. Undefined for an account that was never in sync. The account
 * knows when that was although no folder does: the only one may have been deleted.
 */
async function findAnnounceAfter(
  tx: Tx,
  { accountId, syncedAt }: OwnedAccount,
  cursors: ReadonlyMap<string, CursorRow>,
): Promise<number | undefined> {
  const account = await tx.selectFrom('accounts').select('lastSyncAt').where('id', '=', accountId).executeTakeFirst()
  const times = [...cursors.values()].map(({ lastSyncAt }) => lastSyncAt)
  const lastSyncAt = Math.max(...[account?.lastSyncAt, ...times].flatMap((time) => time ?? []))
  return Number.isFinite(lastSyncAt) ? notifyAfter(lastSyncAt, syncedAt()) : undefined
}
