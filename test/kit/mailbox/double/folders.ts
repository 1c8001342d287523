import {
  type FolderEdits,
  type FolderPosition,
  ProviderError,
  type RemoteFolder,
} from '../../../../src/providers/contract/index.ts'
import type { MailboxDouble } from './mailbox-double.ts'

/** Changes of folders, each after one request. Names are joined by `/`; a folder keeps its path when it is renamed. */
export function doubleFolderEdits(double: MailboxDouble, request: (what: string) => Promise<void>): FolderEdits {
  const buildFullName = ({ name, parent }: FolderPosition) => (parent === null ? name : `${parent.fullName}/${name}`)
  const ensureFree = (fullName: string) => {
    const isTaken = double.state.folders.some((folder) => (folder.fullName ?? folder.name) === fullName)
    if (isTaken) throw new ProviderError('exists', 'the name is taken')
  }
  return {
    createFolder: async (position) => {
      await request('create folder')
      const fullName = buildFullName(position)
      ensureFree(fullName)
      const place = { path: fullName, name: position.name, fullName, role: null, delimiter: null }
      const folder: RemoteFolder = { ...place, selectable: true, mailboxId: null }
      double.setFolders((folders) => [...folders, folder])
      return folder
    },
    moveFolder: async ({ path, fullName }, to) => {
      await request('move folder')
      const name = buildFullName(to)
      ensureFree(name)
      double.setFolders((folders) =>
        folders.map((folder) => {
          const old = folder.fullName ?? folder.name
          if (old !== fullName && !old.startsWith(`${fullName}/`)) return folder
          const now = `${name}${old.slice(fullName.length)}`
          return { ...folder, name: now.split('/').at(-1) ?? now, fullName: now }
        }),
      )
      return path
    },
    colorFolder: async () => null,
    deleteFolder: async ({ path }) => {
      await request('delete folder')
      double.dropFolder(path, double.kind === 'folders' ? 'TRASH' : undefined)
    },
  }
}
