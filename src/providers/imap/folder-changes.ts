import type { ImapFlow } from 'imapflow'
import { type FolderChanges, type FolderPosition, ProviderError } from '../contract/index.ts'
import type { ImapClient } from './client.ts'
import { providerError } from './errors.ts'
import { listFolders } from './folders.ts'
import type { RequestConnection } from './request-connection.ts'
import type { WorkLimits } from './work-limits.ts'

export function imapFolderChanges(
  connection: () => RequestConnection,
  work: { deadlineMs: number; limits: WorkLimits },
): FolderChanges {
  /** Selects INBOX read-only first: imapflow closes a selected folder, which would expunge what is marked as deleted in it. */
  async function run<T>(doing: string, change: (client: ImapClient) => Promise<T>): Promise<T> {
    return connection().use({
      ...{ ...work, doing, isChange: true },
      prepare: ({ imap }) => imap.mailboxOpen('INBOX', { readOnly: true }),
      work: (client) =>
        change(client).catch((error: unknown) => {
          if (codeOf(error) === 'ALREADYEXISTS') throw exists(doing)
          throw error
        }),
    })
  }

  return {
    createFolder: (position) =>
      run('creating a folder', async (client) => {
        const { path, created } = await client.imap.mailboxCreate(pathOf(client.imap, position))
        if (created === false) throw exists('creating a folder')
        const folder = (await listFolders(client)).find((one) => one.path === path)
        if (folder !== undefined) return folder
        throw new ProviderError('rejected', 'creating a folder: the server does not list it')
      }),

    moveFolder: ({ path }, to) =>
      run('renaming a folder', async ({ imap }) => {
        const { newPath } = await imap.mailboxRename(path, pathOf(imap, to))
        // Subscriptions belong to names. A server that keeps them by itself may refuse this.
        await imap.mailboxSubscribe(newPath).catch(() => false)
        await imap.mailboxUnsubscribe(path).catch(() => false)
        return newPath
      }),

    colorFolder: async () => null,

    deleteFolder: ({ path }) =>
      run('deleting a folder', async ({ imap }) => {
        await imap.mailboxDelete(path).catch((error: unknown) => {
          if (providerError(error, '').kind !== 'not_found') throw error
        })
        await imap.mailboxUnsubscribe(path).catch(() => false)
      }),
  }
}

function pathOf({ namespace }: ImapFlow, { name, parent }: FolderPosition): string {
  return parent === null ? name : `${parent.path}${namespace?.delimiter || '/'}${name}`
}

function exists(doing: string): ProviderError {
  return new ProviderError('exists', `${doing}: the name is taken`)
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'serverResponseCode' in error
    ? String(error.serverResponseCode)
    : ''
}
