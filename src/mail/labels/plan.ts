import type { RemoteFolder } from '../../providers/contract/index.ts'
import type { LabelRow } from './store.ts'

/** The folders listed by the provider, compared with the stored labels. */
export interface FolderPlan {
  /** Labels that still exist, possibly renamed. */
  kept: { label: LabelRow; folder: RemoteFolder }[]
  appeared: RemoteFolder[]
  vanished: LabelRow[]
}

/** Matches labels with folders: INBOX by name only, other folders by MAILBOXID, else by path. */
export function planFolders(labels: readonly LabelRow[], folders: readonly RemoteFolder[]): FolderPlan {
  const kept: FolderPlan['kept'] = []
  const rows = new Set(labels)
  const rest = new Set(folders)
  /** Pairs the rows and folders that have the same key. */
  function keep(rowKey: (label: LabelRow) => string | null, folderKey: (folder: RemoteFolder) => string | null) {
    const byKey = new Map<string | null, LabelRow>()
    for (const label of rows) if (!byKey.has(rowKey(label))) byKey.set(rowKey(label), label)
    for (const folder of rest) {
      const key = folderKey(folder)
      const label = key === null ? undefined : byKey.get(key)
      if (label === undefined || !rows.delete(label)) continue
      kept.push({ label, folder })
      rest.delete(folder)
    }
  }
  const inbox = (path: string) => (path === 'INBOX' ? path : null)
  keep(
    (label) => inbox(label.providerId),
    (folder) => inbox(folder.path),
  )
  keep(
    (label) => label.mailboxId,
    (folder) => folder.mailboxId,
  )
  keep(
    (label) => label.providerId,
    (folder) => folder.path,
  )
  return { kept, appeared: [...rest], vanished: [...rows] }
}
