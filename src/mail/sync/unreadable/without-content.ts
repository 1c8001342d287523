import { sha256 } from '../../../platform/crypto/sha256.ts'
import type { FailedMessage, FolderRole, RemoteMessage } from '../../../providers/contract/index.ts'
import { ALWAYS } from '../new-since.ts'
import type { UnreadableRow } from './store.ts'

/** New messages in these folders may be what this service is sending or saving, which only their content shows. */
const OWN_ROLES: readonly (FolderRole | null)[] = ['sent', 'drafts']

/** Parses what the provider says of a message that it does not return. */
export function readPartialMessage({ known }: UnreadableRow): Partial<FailedMessage> {
  return JSON.parse(known)
}

/** Whether the message must wait for its content before it is stored. `roles`: those of its folders. */
export function mustWait({ newSince }: UnreadableRow, roles: readonly (FolderRole | null)[]): boolean {
  return newSince !== null && roles.some((role) => OWN_ROLES.includes(role))
}

/** A message in place of one that the provider does not return. It is new if that is certain. */
export function messageWithoutContent(
  row: UnreadableRow,
): Omit<RemoteMessage, 'location' | 'providerMessageId' | 'threadId'> {
  const { receivedAt, unread = true, starred = false } = readPartialMessage(row)
  const isNew =
    row.newSince !== null && (receivedAt === undefined ? row.newSince === ALWAYS : receivedAt > row.newSince)
  return {
    isNew,
    emailId: null,
    messageId: null,
    inReplyTo: null,
    references: [],
    subject: '',
    from: null,
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    date: null,
    receivedAt: receivedAt ?? row.failedAt,
    sizeBytes: 0,
    unread,
    starred,
    snippet: '',
    text: '',
    attachments: [],
    headerHash: sha256(row.itemId, 'hex'),
    error: `The provider does not return this message (${row.reason}). It is read again later.`,
  }
}
