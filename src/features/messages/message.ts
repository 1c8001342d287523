import { type Static, Type } from 'typebox'
import { nullable, timestamp } from '../../infra/http/index.ts'
import { isoTime, isoTimeOrNull } from '../../lib/time.ts'
import type { ProviderName } from '../../providers/provider.ts'
import type { MessageFields } from './incoming.ts'
import type { MessageRow } from './store.ts'

const address = Type.Object({ name: Type.String(), email: Type.String() }, { title: 'Address' })

const attachment = Type.Object(
  {
    id: Type.String({ description: 'Names the attachment within its message.' }),
    filename: Type.String(),
    contentType: Type.String(),
    size: Type.Integer({ description: 'Bytes, as the mail server says; encoded size for imap.' }),
    inline: Type.Boolean(),
    contentId: nullable(Type.String()),
  },
  { title: 'Attachment' },
)

/** A message as the API and events show it. */
const messageFields = {
  id: Type.String({ examples: ['msg_01k9zv3h5q8m2n4p6r7s8t9vwx'] }),
  accountId: Type.String(),
  provider: Type.Enum(['gmail', 'microsoft', 'imap']),
  providerMessageId: Type.String({
    description:
      'For imap EMAILID where the server has it, else folder id, UIDVALIDITY and UID: changes when the message is moved.',
  }),
  threadId: nullable(Type.String()),
  messageId: nullable(Type.String({ description: 'The Message-ID header.' })),
  inReplyTo: nullable(Type.String()),
  references: Type.Array(Type.String()),
  subject: Type.String(),
  from: nullable(address),
  to: Type.Array(address),
  cc: Type.Array(address),
  bcc: Type.Array(address),
  replyTo: Type.Array(address),
  date: nullable(timestamp('The Date header; null when missing or unreadable.')),
  receivedAt: timestamp('When the mail server took it.'),
  snippet: Type.String(),
  labelIds: Type.Array(Type.String()),
  folder: nullable(Type.String({ description: 'Path of the folder it stands in.' })),
  unread: Type.Boolean(),
  starred: Type.Boolean(),
  hasAttachments: Type.Boolean(),
  attachments: Type.Array(attachment),
  size: Type.Integer({ description: 'Bytes.' }),
  error: nullable(
    Type.String({ description: 'What of the message could not be read or stored; null when all could.' }),
  ),
  createdAt: timestamp(),
  updatedAt: timestamp(),
}

export const messageSchema = Type.Object(messageFields, { title: 'Message' })

export const messageDetailSchema = Type.Object(
  {
    ...messageFields,
    body: Type.Object({ text: nullable(Type.String()), html: nullable(Type.String()) }),
    headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  },
  { title: 'MessageDetail' },
)

export type Message = Static<typeof messageSchema>

/** What the row itself does not hold. */
export interface MessageContext {
  provider: ProviderName
  labelIds: string[]
  /** Path of the folder, or null where messages have only labels. */
  folder: string | null
}

export function messageView(row: MessageRow, context: MessageContext): Message {
  const { date, attachments, ...shown } = parseFields(row.fields)
  return {
    id: row.id,
    accountId: row.accountId,
    provider: context.provider,
    providerMessageId: row.providerMessageId,
    threadId: row.threadId,
    ...shown,
    subject: row.subject,
    date: isoTimeOrNull(date),
    receivedAt: isoTime(row.receivedAt),
    snippet: row.snippet,
    labelIds: context.labelIds,
    folder: context.folder,
    unread: row.unread === 1,
    starred: row.starred === 1,
    hasAttachments: row.hasAttachments === 1,
    attachments: attachments.map(({ sizeBytes, ...rest }) => ({ ...rest, size: sizeBytes })),
    size: row.sizeBytes,
    error: row.error,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

/** `fields` was written by `incomingRow`, so its shape is known. */
export function parseFields(text: string): MessageFields {
  return JSON.parse(text)
}
