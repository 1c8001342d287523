import type { Static } from 'typebox'
import * as Type from 'typebox'
import { addressSchema, providerSchema } from '../../../events/index.ts'
import { timestamp } from '../../../platform/formats/json-schema.ts'
import { pagination } from '../../../platform/http/index.ts'
import { messageSchema } from '../api.ts'

/** A conversation: the stored messages with one `threadId`. */
export const threadSchema = Type.Object(
  {
    id: Type.String({ examples: ['thr_4f1c9a7be2d05368'], description: 'The threadId of its messages.' }),
    accountId: Type.String(),
    provider: providerSchema,
    subject: Type.String({ description: 'Of its newest message.' }),
    snippet: Type.String({ description: 'Of its newest message.' }),
    participants: Type.Array(addressSchema, {
      description: 'Senders and recipients of its newest 20 messages, each once, newest first.',
    }),
    messageCount: Type.Integer(),
    unreadCount: Type.Integer(),
    starred: Type.Boolean({ description: 'True when one of its messages is starred.' }),
    hasAttachments: Type.Boolean({
      description: 'True when one of its messages has an attachment that is not inline.',
    }),
    labelIds: Type.Array(Type.String(), { description: 'The labels of its messages, each once.' }),
    firstMessageAt: timestamp('When the mail server received its oldest stored message.'),
    lastMessageAt: timestamp('When the mail server received its newest message.'),
  },
  { title: 'Thread' },
)
export type Thread = Static<typeof threadSchema>

export const threadDetailSchema = Type.Object(
  { ...threadSchema.properties, messages: Type.Array(messageSchema), pagination },
  { title: 'ThreadDetail' },
)
export type ThreadDetail = Static<typeof threadDetailSchema>
