import type { Static } from 'typebox'
import * as Type from 'typebox'
import { addressSchema, providerSchema } from '../../events/index.ts'
import { jsonWriter, nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { isoTime, isoTimeOrNull } from '../../platform/time/time.ts'
import type { ProviderName, RemoteAttachment } from '../../providers/contract/index.ts'
import { parseFields } from './rows/row.ts'
import { isAllMail, type MessageRow } from './store.ts'

export const attachmentSchema = Type.Object(
  {
    id: Type.String({ description: 'Identifies the attachment within its message.' }),
    filename: Type.String(),
    contentType: Type.String(),
    size: Type.Integer({
      description: 'Size in bytes. Of large attachments over IMAP an estimate, from the encoded size.',
    }),
    inline: Type.Boolean({ description: 'True when the HTML body shows the attachment.' }),
    contentId: nullable(Type.String({ description: 'The Content-ID by which the HTML refers to the attachment.' })),
  },
  { title: 'Attachment' },
)

/** The part of a message that is stored as JSON: it changes only with the message's own rows. */
const messageContentSchema = Type.Object({
  id: Type.String({ examples: ['msg_01k9zv3h5q8m2n4p6r7s8t9vwx'] }),
  providerMessageId: Type.String({
    description:
      'For imap: EMAILID where the server supports it. Otherwise folder id, UIDVALIDITY and UID, which change when the message moves.',
  }),
  threadId: nullable(
    Type.String({
      description:
        'Shared by all messages of a conversation. For imap it may change without an event, when an older message joins two threads. The old id continues to work in paths.',
    }),
  ),
  messageId: nullable(Type.String({ description: 'The Message-ID header.' })),
  inReplyTo: nullable(Type.String({ description: 'The In-Reply-To header.' })),
  references: Type.Array(Type.String(), { description: 'From the References header, oldest first.' }),
  subject: Type.String(),
  from: nullable(addressSchema),
  to: Type.Array(addressSchema),
  cc: Type.Array(addressSchema),
  bcc: Type.Array(addressSchema),
  replyTo: Type.Array(addressSchema),
  date: nullable(timestamp('The Date header; null when it is missing or invalid.')),
  receivedAt: timestamp('When the mail server received the message.'),
  snippet: Type.String({ description: 'The first characters of the text.' }),
  labelIds: Type.Array(Type.String(), {
    description: 'Ids of its labels; for imap and microsoft, of its folder.',
  }),
  unread: Type.Boolean(),
  starred: Type.Boolean(),
  hasAttachments: Type.Boolean({ description: 'True when the message has an attachment that is not inline.' }),
  attachments: Type.Array(attachmentSchema),
  size: Type.Integer({ description: 'Size in bytes.' }),
  error: nullable(
    Type.String({ description: 'Which part of the message could not be read or stored; null without a problem.' }),
  ),
  createdAt: timestamp('When the service stored the message.'),
  updatedAt: timestamp('When the stored message last changed.'),
})
type MessageContent = Static<typeof messageContentSchema>

/** The other part, which `contextText` adds to the stored JSON. */
const messageContextSchema = Type.Object({
  accountId: Type.String(),
  provider: providerSchema,
  folder: nullable(
    Type.String({
      description:
        'The folder of the message: its path for imap, otherwise its name. Null for gmail messages that have only labels, such as archived ones.',
    }),
  ),
})

/** The JSON of a message in responses and events. */
export const messageSchema = Type.Object(
  { ...messageContentSchema.properties, ...messageContextSchema.properties },
  { title: 'Message' },
)
export type Message = Static<typeof messageSchema>

export const messageBodySchema = Type.Object(
  { text: nullable(Type.String()), html: nullable(Type.String()) },
  { title: 'MessageBody' },
)

const messageDetailBodySchema = Type.Object(
  {
    ...messageBodySchema.properties,
    sanitized: Type.Optional(
      Type.Boolean({
        description:
          'Only with `sanitize=true`. False when the HTML is too long to be made safe; `html` is then null, so show the text.',
      }),
    ),
  },
  { title: 'MessageDetailBody' },
)

export const messageDetailSchema = Type.Object(
  {
    ...messageSchema.properties,
    body: messageDetailBodySchema,
    headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  },
  { title: 'MessageDetail' },
)

export type MessageDetail = Static<typeof messageDetailSchema>

/** Values that the JSON needs besides the row. */
export interface MessageContext {
  provider: ProviderName
  /** As `shownLabelIds` returns them. */
  labelIds: string[]
  /** The folder's name, for imap its path; null for a message that has only labels. */
  folder: string | null
}

export function messageView(row: MessageRow, { provider, labelIds, folder }: MessageContext): Message {
  return Object.assign(messageContent(row, labelIds), { accountId: row.accountId, provider, folder })
}

function messageContent(row: MessageRow, labelIds: string[]): MessageContent {
  const fields = parseFields(row.fields)
  // Each member is named: V8 needs microseconds for every member that follows a spread.
  return {
    id: row.id,
    providerMessageId: row.providerMessageId,
    threadId: row.threadId,
    messageId: fields.messageId,
    inReplyTo: fields.inReplyTo,
    references: fields.references,
    from: fields.from,
    to: fields.to,
    cc: fields.cc,
    bcc: fields.bcc,
    replyTo: fields.replyTo,
    subject: row.subject,
    date: isoTimeOrNull(fields.date),
    receivedAt: isoTime(row.receivedAt),
    snippet: row.snippet,
    labelIds,
    unread: row.unread === 1,
    starred: row.starred === 1,
    hasAttachments: row.hasAttachments === 1,
    attachments: fields.attachments.map(attachmentView),
    size: row.sizeBytes,
    error: row.error,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

export function attachmentView({ sizeBytes, ...attachment }: RemoteAttachment): Static<typeof attachmentSchema> {
  return { ...attachment, size: sizeBytes }
}

/**
 * The label ids of the JSON, from those in `messageLabels`. A message of a folder that is not synced has no labels there, nor one that a
 * search found at the provider.
 */
export function shownLabelIds({ folderId, fields }: MessageRow, labelIds: readonly string[]): string[] {
  if (labelIds.length > 0) return labelIds.filter((id) => !isAllMail(id)).sort()
  return parseFields(fields).labelIds?.toSorted() ?? (folderId === null ? [] : [folderId])
}

const contentText = jsonWriter(messageContentSchema)
/** The stored part of a message's JSON. `labelIds` are those in `messageLabels`. */
export function storedText(row: MessageRow, labelIds: readonly string[]): string {
  return contentText(messageContent(row, shownLabelIds(row, labelIds)))
}

/** `{"accountId":…,"provider":…,"folder":…}`. Without its first brace it continues the stored text without its last. */
export const contextText = jsonWriter(messageContextSchema)

/** Compiles what writes the JSON of messages, which otherwise the first message waits for. */
export function compileMessageWriters(): void {
  contentText.compile()
  contextText.compile()
}
