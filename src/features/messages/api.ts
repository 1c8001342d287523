import { type Static, Type } from 'typebox'
import { addressSchema, providerSchema } from '../../events/index.ts'
import { nullable, timestamp } from '../../lib/json-schema.ts'

const attachment = Type.Object(
  {
    id: Type.String({ description: 'Identifies the attachment within its message.' }),
    filename: Type.String(),
    contentType: Type.String(),
    size: Type.Integer({ description: 'Bytes, as reported by the mail server; for imap the encoded size.' }),
    inline: Type.Boolean({ description: 'True when the attachment is displayed in the body.' }),
    contentId: nullable(Type.String({ description: 'The Content-ID by which the HTML refers to the attachment.' })),
  },
  { title: 'Attachment' },
)

/** A message as the API and events show it. */
export const messageSchema = Type.Object(
  {
    id: Type.String({ examples: ['msg_01k9zv3h5q8m2n4p6r7s8t9vwx'] }),
    accountId: Type.String(),
    provider: providerSchema,
    providerMessageId: Type.String({
      description:
        'For imap: EMAILID where the server supports it. Otherwise folder id, UIDVALIDITY and UID, which change when the message moves.',
    }),
    threadId: nullable(Type.String({ description: 'Shared by all messages of a conversation.' })),
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
    snippet: Type.String({ description: 'The beginning of the text.' }),
    labelIds: Type.Array(Type.String(), {
      description: 'The labels of the message; for imap and microsoft its folder.',
    }),
    folder: nullable(
      Type.String({
        description:
          'The folder of the message: its path for imap, otherwise its name. Null for gmail messages that have only labels, such as archived ones.',
      }),
    ),
    unread: Type.Boolean(),
    starred: Type.Boolean(),
    hasAttachments: Type.Boolean({ description: 'Inline attachments do not count.' }),
    attachments: Type.Array(attachment),
    size: Type.Integer({ description: 'Size in bytes.' }),
    error: nullable(
      Type.String({ description: 'Which part of the message could not be read or stored; null when there is none.' }),
    ),
    createdAt: timestamp('When the service stored the message.'),
    updatedAt: timestamp('When the stored message last changed.'),
  },
  { title: 'Message' },
)
export type Message = Static<typeof messageSchema>

export const messageBodySchema = Type.Object(
  { text: nullable(Type.String()), html: nullable(Type.String()) },
  { title: 'MessageBody' },
)

export const messageDetailSchema = Type.Object(
  {
    ...messageSchema.properties,
    body: messageBodySchema,
    headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  },
  { title: 'MessageDetail' },
)
