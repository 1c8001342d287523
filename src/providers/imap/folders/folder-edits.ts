import type { ImapFlow } from 'imapflow'
import { type FolderEdits, type FolderPosition, ProviderError } from '../../contract/index.ts'
import { oneLine } from '../../shared/mime/index.ts'
import type { ImapClient } from '../connection/client.ts'
import type { RequestConnection } from '../connection/request-connection.ts'
import type { WorkLimits } from '../connection/work-limits.ts'
import { providerError } from '../errors.ts'
import { listFolders } from './folders.ts'

export function imapFolderEdits(
  connection: () => RequestConnection,
  work: { deadlineMs: number; limits: WorkLimits },
): FolderEdits {
  /** Selects INBOX read-only first: imapflow closes a selected folder, which would expunge what is marked as deleted in it. */
  async function run<T>(doing: string, change: (client: ImapClient) => Promise<T>): Promise<T> {
    return connection().use({
      ...work,
      doing,
      isChange: true,
      prepare: ({ imap }) => imap.mailboxOpen('INBOX', { readOnly: true }),
      work: change,
    })
  }

  return {
    createFolder: (position) =>
      run('creating a folder', async (client) => {
        const wanted = buildPath(client.imap, position)
        const { path, created } = await client.imap
          .mailboxCreate(wanted)
          .catch((error: unknown) => throwRefusedName(client, wanted, 'creating a folder', error))
        if (created === false) throw exists('creating a folder')
        const folder = (await listFolders(client)).find((folder) => folder.path === path)
        if (folder !== undefined) return folder
        throw new ProviderError('rejected', 'creating a folder: the server does not list it')
      }),

    moveFolder: ({ path }, to) =>
      run('renaming a folder', async (client) => {
        const { imap } = client
        const wanted = buildPath(imap, to)
        const { newPath } = await imap
          .mailboxRename(path, wanted)
          .catch((error: unknown) => throwRefusedName(client, wanted, 'renaming a folder', error))
        // Subscriptions belong to names. A server that keeps them by itself may refuse this.
        await imap.mailboxSubscribe(newPath).catch(() => false)
        await imap.mailboxUnsubscribe(path).catch(() => false)
        return newPath
      }),

    colorFolder: async () => null,

    deleteFolder: ({ path }) =>
      run('deleting a folder', async (client) => {
        await client.imap.mailboxDelete(path).catch(async (error: unknown) => {
          if (providerError(error, '').kind === 'not_found') return
          // Cyrus refuses a folder that does not exist without a code.
          if (responseStatus(error) === undefined || (await isListed(client, path))) throw error
        })
        await client.imap.mailboxUnsubscribe(path).catch(() => false)
      }),
  }
}

function buildPath({ namespace }: ImapFlow, { name, parent }: FolderPosition): string {
  return parent === null ? `${namespace?.prefix ?? ''}${name}` : `${parent.path}${namespace?.delimiter || '/'}${name}`
}

/** Throws `exists`, or the error itself where it is about something else than the name. Otherwise the name is at fault. */
async function throwRefusedName(client: ImapClient, path: string, doing: string, error: unknown): Promise<never> {
  if (responseStatus(error) === undefined) throw error
  if (responseCode(error) === 'ALREADYEXISTS') throw exists(doing)
  const failure = providerError(error, doing)
  if (failure.kind !== 'rejected' || failure.refusal !== undefined) throw failure
  // Courier refuses a name that exists with the words for one that it cannot create.
  if (await isListed(client, path)) throw exists(doing)
  const why = `${doing}: the server does not accept the name`
  throw new ProviderError('rejected', why, { refusal: 'invalid_name', nameProblem: readWords(error), cause: error })
}

async function isListed(client: ImapClient, path: string): Promise<boolean> {
  return (await listFolders(client)).some((folder) => folder.path === path)
}

function exists(doing: string): ProviderError {
  return new ProviderError('exists', `${doing}: the name is taken`)
}

const MAX_WORDS = 200

/** The text of a response without its tag, status and code. */
function readWords(error: unknown): string {
  const response = readText(error, 'response').replace(/^(\S+ )?(NO|BAD)\b\s*(\[[^\]]*\])?/, '')
  return oneLine(response, MAX_WORDS).replace(/[.\s]+$/, '')
}

function responseStatus(error: unknown): string | undefined {
  return readText(error, 'responseStatus') || undefined
}

function responseCode(error: unknown): string {
  return readText(error, 'serverResponseCode')
}

function readText(error: unknown, name: string): string {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined
  return typeof value === 'string' ? value : ''
}
