import type { RemoteFolder } from '../../providers/contract/index.ts'
import type { LabelRow } from '../labels/index.ts'

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
export function renameSuspects({ vanished, appeared }: FolderPlan): { label: LabelRow; folder: RemoteFolder }[] {
  return vanished
    .flatMap((label) => appeared.map((folder) => ({ label, folder })))
    .filter(({ label, folder }) => folder.selectable && (label.mailboxId === null || folder.mailboxId === null))
    .sort((a, b) => Number(b.label.displayName === b.folder.name) - Number(a.label.displayName === a.folder.name))
}

/**
 * Why each folder is kept in step, by path: `main:INBOX` (the account's own), `sent`, `drafts`, `folder:Work`. A wish
 * that no folder answers by name stays with the label that had it: that one was renamed.
 */
export function wishes(
  kept: FolderPlan['kept'],
  appeared: readonly RemoteFolder[],
  mailbox: string,
  extra: readonly string[],
): Map<RemoteFolder, string> {
  const folders = [...kept.map(({ folder }) => folder), ...appeared].filter((folder) => folder.selectable)
  const granted = new Map<RemoteFolder, string>()
  const wished: { wish: string; answers(folder: RemoteFolder): boolean }[] = [
    { wish: `main:${mailbox}`, answers: (folder) => samePath(folder.path, mailbox) },
    { wish: 'sent', answers: (folder) => folder.role === 'sent' },
    { wish: 'drafts', answers: (folder) => folder.role === 'drafts' },
    ...extra.map((path) => ({ wish: `folder:${path}`, answers: (one: RemoteFolder) => samePath(one.path, path) })),
  ]
  for (const { wish, answers } of wished) {
    const folder =
      folders.find(answers) ?? kept.find(({ label, folder: one }) => label.syncedAs === wish && one.selectable)?.folder
    if (folder !== undefined && !granted.has(folder)) granted.set(folder, wish)
  }
  return granted
}

function samePath(path: string, wanted: string): boolean {
  return path === wanted || (path === 'INBOX' && wanted.toUpperCase() === 'INBOX')
}
