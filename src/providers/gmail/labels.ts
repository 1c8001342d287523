import { Type } from 'typebox'
import { cleanText, truncateText } from '../../lib/text.ts'
import type { FolderRole, RemoteFolder } from '../contract/index.ts'
import { type RestMailbox, shape } from '../rest/index.ts'

const NAME_LIMIT = 1000

/** Gmail's own labels, as people know them. */
const SYSTEM: Readonly<Record<string, { name: string; role: FolderRole | null }>> = {
  INBOX: { name: 'Inbox', role: 'inbox' },
  SENT: { name: 'Sent', role: 'sent' },
  DRAFT: { name: 'Drafts', role: 'drafts' },
  TRASH: { name: 'Trash', role: 'trash' },
  SPAM: { name: 'Spam', role: 'junk' },
  STARRED: { name: 'Starred', role: 'flagged' },
  IMPORTANT: { name: 'Important', role: null },
  CATEGORY_PERSONAL: { name: 'Primary', role: null },
  CATEGORY_SOCIAL: { name: 'Social', role: null },
  CATEGORY_PROMOTIONS: { name: 'Promotions', role: null },
  CATEGORY_UPDATES: { name: 'Updates', role: null },
  CATEGORY_FORUMS: { name: 'Forums', role: null },
}

/** A state of the mail rather than a place for it: it has a field of its own. */
export const UNREAD = 'UNREAD'
export const STARRED = 'STARRED'
/** Chats are no mails; the API lists none. */
const NOT_FOLDERS: ReadonlySet<string> = new Set([UNREAD, 'CHAT'])

const labelList = shape(
  Type.Object({
    labels: Type.Optional(
      Type.Array(Type.Object({ id: Type.String(), name: Type.String(), type: Type.Optional(Type.String()) })),
    ),
  }),
)

/** Every label. Its id is the path: it stays when the label is renamed. */
export async function listLabels(mailbox: RestMailbox, signal?: AbortSignal): Promise<RemoteFolder[]> {
  const path = '/gmail/v1/users/me/labels'
  const { labels = [] } = await mailbox.json({ method: 'GET', path, doing: 'listing the labels', signal }, labelList)
  return labels
    .filter(({ id }) => !NOT_FOLDERS.has(id) && id !== '' && cleanText(id) === id)
    .map(({ id, name, type }) => ({
      path: id,
      name: SYSTEM[id]?.name ?? truncateText(cleanText(name), NAME_LIMIT),
      delimiter: '/',
      role: SYSTEM[id]?.role ?? null,
      ...(type === 'system' && { system: true }),
      selectable: true,
      mailboxId: null,
    }))
}

/** What the labels of a mail say. */
export function labelState(labelIds: readonly string[]): { unread: boolean; starred: boolean; folders: string[] } {
  return {
    unread: labelIds.includes(UNREAD),
    starred: labelIds.includes(STARRED),
    folders: labelIds.filter((id) => !NOT_FOLDERS.has(id)),
  }
}
