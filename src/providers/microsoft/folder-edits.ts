import { type FolderEdits, type FolderRef, ProviderError } from '../contract/index.ts'
import { type Json, text } from '../shared/rest/index.ts'
import { type Graph, segment } from './client.ts'
import { remoteFolder } from './folders.ts'

const TOP = 'msgfolderroot'

export function microsoftFolderEdits(graph: Graph): FolderEdits {
  const folderPath = ({ path }: FolderRef) => `/me/mailFolders/${segment(path)}`

  return {
    async createFolder({ name, parent }) {
      const doing = 'creating a folder'
      const path = parent === null ? '/me/mailFolders' : `${folderPath(parent)}/childFolders`
      const created = await graph.send('POST', path, { body: { displayName: name }, doing })
      const fullName = parent === null ? name : `${parent.fullName}/${name}`
      return { ...remoteFolder(created, requireId(created, doing), null), fullName }
    },

    async moveFolder(folder, { name, parent }) {
      const doing = 'renaming a folder'
      const [parentName, oldName] = splitName(folder.fullName)
      if ((parent?.fullName ?? '') !== parentName) {
        const body = { destinationId: parent?.path ?? TOP }
        await graph.send('POST', `${folderPath(folder)}/move`, { body, doing })
      }
      if (name !== oldName) await graph.send('PATCH', folderPath(folder), { body: { displayName: name }, doing })
      return folder.path
    },

    // Graph has colours for categories only.
    colorFolder: async () => null,

    async deleteFolder(folder) {
      await graph.send('DELETE', folderPath(folder), { doing: 'deleting a folder' }).catch((error: unknown) => {
        if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
      })
    },
  }
}

function requireId(created: Json, doing: string): string {
  const id = text(created.id)
  if (id === undefined) throw new ProviderError('unavailable', `${doing}: the response could not be read`)
  return id
}

function splitName(fullName: string): [parent: string, name: string] {
  const at = fullName.lastIndexOf('/')
  return at === -1 ? ['', fullName] : [fullName.slice(0, at), fullName.slice(at + 1)]
}
