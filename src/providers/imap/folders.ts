import type { ImapFlow, ListResponse } from 'imapflow'
import { cleanText, truncateText } from '../../lib/text.ts'
import type { FolderRole, RemoteFolder } from '../contract/index.ts'

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

/** UIDVALIDITY is usually the time of a folder's birth; small numbers repeat and identify nothing. */
const TIMESTAMP_LIKE = 1_000_000_000n
const PATH_LIMIT = 1000

/**
 * Every folder of the mailbox. imapflow decodes the names, applies the namespace, and where the server knows no
 * SPECIAL-USE finds the roles by the names mail programs give in some forty languages.
 */
export async function listFolders(imap: ImapFlow): Promise<RemoteFolder[]> {
  // Without LIST-STATUS the query would cost one STATUS per folder.
  const listed = imap.capabilities.has('LIST-STATUS')
    ? await imap.list({ statusQuery: { uidValidity: true } })
    : await imap.list()
  const seen = new Map<bigint, number>()
  for (const { status } of listed) {
    if (status?.uidValidity !== undefined) seen.set(status.uidValidity, (seen.get(status.uidValidity) ?? 0) + 1)
  }
  // A name that cannot be stored as it is cannot be selected by that name either.
  return listed
    .filter(
      (folder) => folder.path !== '' && folder.path.length <= PATH_LIMIT && cleanText(folder.path) === folder.path,
    )
    .map((folder) => remoteFolder(folder, seen))
}

function remoteFolder(folder: ListResponse, seen: ReadonlyMap<bigint, number>): RemoteFolder {
  const selectable = !folder.flags.has('\\Noselect') && !folder.flags.has('\\NonExistent')
  const uidValidity = folder.status?.uidValidity
  const tellsApart = uidValidity !== undefined && uidValidity > TIMESTAMP_LIKE && seen.get(uidValidity) === 1
  return {
    path: folder.path,
    name: truncateText(folder.name, PATH_LIMIT),
    delimiter: folder.delimiter || null,
    role: (selectable && ROLES[folder.specialUse ?? '']) || null,
    selectable,
    mailboxId: tellsApart ? `uidvalidity-${uidValidity}` : null,
  }
}
