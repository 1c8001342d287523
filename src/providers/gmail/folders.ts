import * as Type from 'typebox'
import { cleanText, truncateText } from '../../platform/formats/text.ts'
import type { FolderRole, RemoteFolder } from '../contract/index.ts'
import { parser, type RestMailbox } from '../shared/rest/index.ts'

const MAX_NAME = 1000

/** Gmail's system labels, by the names that its web page shows. */
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

/** A state of the message rather than a folder; `RemoteMessage.unread` holds it. */
export const UNREAD = 'UNREAD'
export const STARRED = 'STARRED'
/** Every draft has this label. */
export const DRAFT = 'DRAFT'
/** The API lists no chats. */
const NOT_FOLDERS: ReadonlySet<string> = new Set([UNREAD, 'CHAT'])

const label = Type.Object({
  id: Type.String(),
  name: Type.String(),
  type: Type.Optional(Type.String()),
  color: Type.Optional(Type.Object({ backgroundColor: Type.Optional(Type.String({ maxLength: 20 })) })),
})
export const parseLabel = parser(label)
const parseLabels = parser(
  Type.Object({
    labels: Type.Optional(Type.Array(label)),
  }),
)

/** Every label as a folder. Its path is the label's id, which survives a rename. */
export async function listLabels(mailbox: RestMailbox, signal?: AbortSignal): Promise<RemoteFolder[]> {
  const path = '/gmail/v1/users/me/labels'
  const { labels = [] } = await mailbox.json({ method: 'GET', path, doing: 'listing the labels', signal }, parseLabels)
  return labels.filter(({ id }) => !NOT_FOLDERS.has(id) && id !== '' && cleanText(id) === id).map(labelFolder)
}

export function labelFolder({ id, name, type, color }: ReturnType<typeof parseLabel>): RemoteFolder {
  const fullName = SYSTEM[id]?.name ?? truncateText(cleanText(name), MAX_NAME)
  return {
    path: id,
    name: fullName.split('/').at(-1) || fullName,
    fullName,
    ...(color?.backgroundColor !== undefined && { color: color.backgroundColor.toLowerCase() }),
    delimiter: '/',
    role: SYSTEM[id]?.role ?? null,
    ...(type === 'system' && { system: true }),
    selectable: true,
    mailboxId: null,
  }
}

/** Splits the labels of a message into flags and folders. */
export function labelState(labelIds: readonly string[]): { unread: boolean; starred: boolean; folders: string[] } {
  return {
    unread: labelIds.includes(UNREAD),
    starred: labelIds.includes(STARRED),
    folders: labelIds.filter((id) => !NOT_FOLDERS.has(id)),
  }
}
