import type { ImapFlow, ListResponse, MailboxObject, StatusObject } from 'imapflow'
import { cleanText, truncateText } from '../../../platform/formats/text.ts'
import { type FolderRole, ProviderError, type RemoteFolder } from '../../contract/index.ts'
import type { ImapClient } from '../connection/client.ts'
import { hasFlag } from '../messages/flags.ts'

const ROLES: Readonly<Record<string, FolderRole>> = {
  '\\Inbox': 'inbox',
  '\\Sent': 'sent',
  '\\Drafts': 'drafts',
  '\\Trash': 'trash',
  '\\Junk': 'junk',
  '\\Archive': 'archive',
  '\\All': 'all',
  '\\Flagged': 'flagged',
}

/** UIDVALIDITY is usually the time at which the folder was created. Smaller numbers repeat and identify nothing. */
const TIMESTAMP_LIKE = 1_000_000_000n
const MAX_PATH = 1000

/**
 * Every folder of the mailbox, at most 10,000. imapflow decodes the names, applies the namespace, and on servers without SPECIAL-USE derives the roles
 * from folder names in some forty languages.
 */
export async function listFolders(client: ImapClient): Promise<RemoteFolder[]> {
  return (await listWithStates(client, false)).folders
}

/** The state of a folder that a cursor is compared with. */
export const STATE = { messages: true, unseen: true, uidNext: true, uidValidity: true, highestModseq: true } as const

export interface Listing {
  folders: RemoteFolder[]
  states: ReadonlyMap<string, StatusObject>
}

/**
 * The same with the states of the folders, by path, in one request where the server has LIST-STATUS. Without `withStates` or LIST-STATUS
 * the states are missing.
 */
export async function listWithStates(client: ImapClient, withStates: boolean): Promise<Listing> {
  const { imap, gate, listings } = client
  gate.forgetFolders()
  const list = async (options?: Parameters<ImapFlow['list']>[0]) => {
    const listed = await imap.list(options)
    client.listed = listed.length
    return listed
  }
  // Without LIST-STATUS the query would cost one STATUS per folder.
  if (!imap.capabilities.has('LIST-STATUS')) return buildListing(await list(), false)
  if (!withStates) return buildListing(await list({ statusQuery: { uidValidity: true } }), false)
  return listings.read(gate, async () => buildListing(await list({ statusQuery: STATE }), true))
}

/**
 * Asks in the middle of the server's IDLE whether it lists what the last call of `listWithStates` returned, and returns that. Resolves
 * to undefined when it lists something else; undefined when it cannot be asked so.
 */
export function repeatedListing({ gate, listings, idle }: ImapClient): Promise<Listing | undefined> | undefined {
  const { command } = listings
  if (command === undefined || !idle.isPossible || gate.isMidResponse) return undefined
  gate.forgetFolders()
  return idle.list(command).then((list) => list && (listings.findResult(list) as Listing | undefined))
}

function buildListing(listed: readonly ListResponse[], withStates: boolean): Listing {
  const counts = new Map<bigint, number>()
  for (const { status } of listed) {
    if (status?.uidValidity !== undefined) counts.set(status.uidValidity, (counts.get(status.uidValidity) ?? 0) + 1)
  }
  // A path that changes when it is cleaned for storage could not be selected later.
  const folders = listed
    .filter(({ path }) => path !== '' && path.length <= MAX_PATH && cleanText(path) === path)
    .map((folder) => remoteFolder(folder, counts))
  const isComplete = (status: StatusObject | undefined) =>
    status?.uidNext !== undefined && status.messages !== undefined
  const states = listed.flatMap(({ path, status }) => (isComplete(status) && status ? [[path, status] as const] : []))
  return { folders, states: new Map(withStates ? states : []) }
}

function remoteFolder(folder: ListResponse, counts: ReadonlyMap<bigint, number>): RemoteFolder {
  const selectable = !hasFlag(folder.flags, '\\Noselect') && !hasFlag(folder.flags, '\\NonExistent')
  const uidValidity = folder.status?.uidValidity
  const isUnique = uidValidity !== undefined && uidValidity > TIMESTAMP_LIKE && counts.get(uidValidity) === 1
  return {
    path: folder.path,
    name: truncateText(folder.name, MAX_PATH),
    delimiter: folder.delimiter || null,
    role: (selectable && ROLES[folder.specialUse ?? '']) || null,
    selectable,
    mailboxId: isUnique ? `uidvalidity-${uidValidity}` : null,
  }
}

/**
 * The folder's UIDVALIDITY as text. RFC 3501 gives it 32 bits; longer ones are accepted, because it is only compared. Throws `rejected`
 * when it is missing or not a number: UIDs would then mean nothing.
 */
export function requireUidValidity({ uidValidity }: MailboxObject): string {
  // imapflow's type excludes what some servers send.
  if (typeof uidValidity === 'bigint' && uidValidity > 0n) return String(uidValidity)
  throw new ProviderError('rejected', 'the server returned no usable UIDVALIDITY for the folder')
}
