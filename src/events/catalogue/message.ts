import { type Static, Type } from 'typebox'
import { nullable, timestamp } from '../../infra/http/index.ts'
import { entry } from './entry.ts'
import { ACCOUNT, address, provider } from './parts.ts'

const attachment = Type.Object(
  {
    id: Type.String({ description: 'Names the attachment within its message.' }),
    filename: Type.String(),
    contentType: Type.String(),
    size: Type.Integer({ description: 'Bytes, as the mail server says; encoded size for imap.' }),
    inline: Type.Boolean({ description: 'Shown within the text.' }),
    contentId: nullable(Type.String({ description: 'By which the HTML names it.' })),
  },
  { title: 'Attachment' },
)

const messageFields = {
  id: Type.String({ examples: ['msg_01k9zv3h5q8m2n4p6r7s8t9vwx'] }),
  accountId: Type.String(),
  provider,
  providerMessageId: Type.String({
    description:
      'For imap EMAILID where the server has it, else folder id, UIDVALIDITY and UID: changes when the message is moved.',
  }),
  threadId: nullable(Type.String({ description: 'The same for all messages of a conversation.' })),
  messageId: nullable(Type.String({ description: 'The Message-ID header.' })),
  inReplyTo: nullable(Type.String({ description: 'The In-Reply-To header.' })),
  references: Type.Array(Type.String(), { description: 'Of the References header, the oldest first.' }),
  subject: Type.String(),
  from: nullable(address),
  to: Type.Array(address),
  cc: Type.Array(address),
  bcc: Type.Array(address),
  replyTo: Type.Array(address),
  date: nullable(timestamp('The Date header; null when missing or unreadable.')),
  receivedAt: timestamp('When the mail server took it.'),
  snippet: Type.String({ description: 'The first words of the text.' }),
  labelIds: Type.Array(Type.String(), { description: 'The labels it has; for imap and microsoft its folder.' }),
  folder: nullable(
    Type.String({
      description:
        'The folder it stands in: the path for imap, else the name. Null for mail of gmail that has only labels, such as archived mail.',
    }),
  ),
  unread: Type.Boolean(),
  starred: Type.Boolean(),
  hasAttachments: Type.Boolean({ description: 'Inline ones do not count.' }),
  attachments: Type.Array(attachment),
  size: Type.Integer({ description: 'Bytes.' }),
  error: nullable(
    Type.String({ description: 'What of the message could not be read or stored; null when all could.' }),
  ),
  createdAt: timestamp('When it was stored here.'),
  updatedAt: timestamp('When it last changed here.'),
}

/** A message as the API and events show it. */
export const messageSchema = Type.Object(messageFields, { title: 'Message' })

const bodyFields = { text: nullable(Type.String()), html: nullable(Type.String()) }
export const messageBodySchema = Type.Object(bodyFields, { title: 'MessageBody' })

/** A message as its events carry it. */
const messageData = {
  ...messageFields,
  body: Type.Optional(
    Type.Object(bodyFields, { description: 'Only of new messages, with the setting `webhooks.includeBodies`.' }),
  ),
  truncated: Type.Optional(
    Type.Boolean({ description: 'True when the body or ends of lists were left out to stay below 256 KB.' }),
  ),
}

const messageEventData = Type.Object(messageData, { title: 'MessageEventData' })
const draftEventData = Type.Object(
  {
    ...messageData,
    draftId: Type.Optional(
      Type.String({ description: 'The draft of this API; absent for one only seen in the mailbox.' }),
    ),
  },
  { title: 'DraftEventData' },
)

const INVOICE: Static<typeof messageEventData> = {
  id: 'msg_01k9zw5e7t1v3x5z7b9d1f3h5k',
  accountId: ACCOUNT.accountId,
  provider: ACCOUNT.provider,
  providerMessageId: 'lbl_01k9zv3j1c3e5g7j9m1p3r5t7v.1731916800.4711',
  threadId: 'thr_4f1c9a7be2d05368',
  messageId: '<invoice-2026-0815@billing.example.com>',
  inReplyTo: null,
  references: [],
  subject: 'Invoice 2026-0815',
  from: { name: 'Northwind Billing', email: 'billing@northwind.example' },
  to: [{ name: 'Ada Okafor', email: 'ada@acme.example' }],
  cc: [],
  bcc: [],
  replyTo: [{ name: 'Accounts receivable', email: 'ar@northwind.example' }],
  date: '2026-11-20T07:59:57.000Z',
  receivedAt: '2026-11-20T07:59:58.000Z',
  snippet: 'Hello Ada, please find attached our invoice for November.',
  labelIds: ['lbl_01k9zv3j1c3e5g7j9m1p3r5t7v'],
  folder: 'INBOX',
  unread: true,
  starred: false,
  hasAttachments: true,
  attachments: [
    {
      id: '2',
      filename: 'invoice-2026-0815.pdf',
      contentType: 'application/pdf',
      size: 48213,
      inline: false,
      contentId: null,
    },
  ],
  size: 51877,
  error: null,
  createdAt: '2026-11-20T07:59:58.214Z',
  updatedAt: '2026-11-20T07:59:58.214Z',
}

const REPLY: Static<typeof messageEventData> = {
  ...INVOICE,
  id: 'msg_01k9zw8r2c4e6g8j1m3p5r7t9v',
  providerMessageId: 'lbl_01k9zv3j8q1s3v5x7z9b1d3f5h.1731916800.302',
  messageId: '<b7d0c1e4-5a2f@acme.example>',
  inReplyTo: '<invoice-2026-0815@billing.example.com>',
  references: ['<invoice-2026-0815@billing.example.com>'],
  subject: 'Re: Invoice 2026-0815',
  from: { name: 'Ada Okafor', email: 'ada@acme.example' },
  to: [{ name: 'Accounts receivable', email: 'ar@northwind.example' }],
  replyTo: [],
  date: '2026-11-20T08:11:02.000Z',
  receivedAt: '2026-11-20T08:11:03.000Z',
  snippet: 'Thank you, it will be paid this week.',
  labelIds: ['lbl_01k9zv3j8q1s3v5x7z9b1d3f5h'],
  folder: 'Sent',
  unread: false,
  hasAttachments: false,
  attachments: [],
  size: 2304,
  createdAt: '2026-11-20T08:11:03.402Z',
  updatedAt: '2026-11-20T08:11:03.402Z',
}

const DRAFT: Static<typeof draftEventData> = {
  ...REPLY,
  id: 'msg_01k9zwa1d3f5h7k9n1q3s5v7x9',
  providerMessageId: 'lbl_01k9zv3jf2h4k6n8q1s3v5x7z9.1731916800.18',
  messageId: '<draft-6a1e@acme.example>',
  receivedAt: '2026-11-20T08:05:41.000Z',
  snippet: 'Thank you, it will be',
  labelIds: ['lbl_01k9zv3jf2h4k6n8q1s3v5x7z9'],
  folder: 'Drafts',
  createdAt: '2026-11-20T08:05:41.733Z',
  updatedAt: '2026-11-20T08:05:41.733Z',
}

const of = <Data extends { id: string }>(data: Data, version: number) => ({
  ...ACCOUNT,
  objectId: data.id,
  version,
  data,
})

export const messageEvents = {
  'message.received': entry(
    'New mail arrived in any folder but Sent, Drafts, Trash and Junk.',
    messageEventData,
    of(INVOICE, 1),
  ),
  'message.sent': entry('A message appeared in Sent, whoever sent it.', messageEventData, of(REPLY, 1)),
  'message.updated': entry(
    'A message was read, starred, labelled or moved.',
    messageEventData,
    of({ ...INVOICE, unread: false, updatedAt: '2026-11-20T08:04:19.507Z' }, 2),
  ),
  'message.deleted': entry(
    'A message is gone from the mailbox; `data` is what was last known of it.',
    messageEventData,
    of({ ...INVOICE, unread: false, updatedAt: '2026-11-20T08:04:19.507Z' }, 3),
  ),
}

export const draftEvents = {
  'draft.created': entry('A draft appeared in Drafts, written here or elsewhere.', draftEventData, of(DRAFT, 1)),
  'draft.updated': entry(
    'A draft was changed.',
    draftEventData,
    of(
      {
        ...DRAFT,
        draftId: 'drf_01k9zwb2f4h6k8n1q3s5v7x9z2',
        snippet: 'Thank you, it will be paid this week.',
        updatedAt: '2026-11-20T08:09:12.018Z',
      },
      2,
    ),
  ),
  'draft.deleted': entry(
    'A draft was deleted or sent; `data` is what was last known of it.',
    draftEventData,
    of({ ...DRAFT, draftId: 'drf_01k9zwb2f4h6k8n1q3s5v7x9z2', updatedAt: '2026-11-20T08:09:12.018Z' }, 3),
  ),
}
