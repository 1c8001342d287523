import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { FolderRole, RemoteFolder } from '../../../../src/providers/contract/index.ts'
import type { DoubleState, DoubleStore } from './mailbox-double.ts'

const ROLES: [path: string, role: FolderRole | null][] = [
  ['INBOX', 'inbox'],
  ['SENT', 'sent'],
  ['DRAFT', 'drafts'],
  ['TRASH', 'trash'],
  ['SPAM', 'junk'],
  ['Work', null],
  ['More', null],
]

export function buildFolder(path: string, role: FolderRole | null, name = path): RemoteFolder {
  return { path, name, role, delimiter: null, selectable: true, mailboxId: null }
}

function emptyState(): DoubleState {
  const folders = ROLES.map(([path, role]) => buildFolder(path, role))
  return { folders, messages: {}, log: [], number: 0, expiredBelow: 0 }
}

export function memoryStore(): DoubleStore {
  let state = emptyState()
  return {
    read: () => state,
    write: (changed) => {
      state = changed
    },
  }
}

/** A store in a file that one process writes and any number read. */
export function fileStore(file: string, isNew: boolean): DoubleStore {
  const write = (state: DoubleState) => {
    writeFileSync(`${file}.new`, JSON.stringify(state))
    renameSync(`${file}.new`, file)
  }
  if (isNew) write(emptyState())
  return { read: () => JSON.parse(readFileSync(file, 'utf8')), write }
}
