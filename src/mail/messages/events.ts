import type { Static } from 'typebox'
import * as Type from 'typebox'
import { declareEvent, EXAMPLE_ACCOUNT } from '../../events/index.ts'
import { messageBodySchema, messageSchema } from './api.ts'

/** A message as its events carry it. */
const messageData = {
  ...messageSchema.properties,
  body: Type.Optional(
    Type.Object(messageBodySchema.properties, {
      description: 'Only for new messages, with the setting `webhooks.includeBodies`.',
    }),
  ),
  truncated: Type.Optional(
    Type.Boolean({ description: 'True when the body was omitted or lists were shortened to stay below 256 KB.' }),
  ),
}

const messageEventData = Type.Object(messageData, { title: 'MessageEventData' })
const draftEventData = Type.Object(
  { ...messageData, draftId: Type.String({ description: 'Id of the draft in this API, whichever program wrote it.' }) },
  { title: 'DraftEventData' },
)
export type MessageEventData = Static<typeof messageEventData> | Static<typeof draftEventData>

const INVOICE: Static<typeof messageEventData> = {
  id: 'msg_01k9zw5e7t1v3x5z7b9d1f3h5k',
  accountId: EXAMPLE_ACCOUNT.accountId,
  provider: EXAMPLE_ACCOUNT.provider,
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
  draftId: 'drf_01k9zwa1d3f5h7k9n1q3s5v7x9',
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
  ...EXAMPLE_ACCOUNT,
  objectId: data.id,
  version,
  data,
})

export const messageEvents = {
  'message.received': declareEvent(
    'A new message arrived in any folder except Sent, Drafts, Trash and Junk.',
    messageEventData,
    of(INVOICE, 1),
  ),
  'message.sent': declareEvent(
    'A message was added to Sent, by this API or another client.',
    messageEventData,
    of(REPLY, 1),
  ),
  'message.updated': declareEvent(
    'A message was read, starred, labelled or moved.',
    messageEventData,
    of({ ...INVOICE, unread: false, updatedAt: '2026-11-20T08:04:19.507Z' }, 2),
  ),
  'message.deleted': declareEvent(
    'A message was deleted from the mailbox. `data` holds its last known state. When another program deletes a message of an IMAP mailbox, the event follows ten seconds later, in case the program moves it.',
    messageEventData,
    of({ ...INVOICE, unread: false, updatedAt: '2026-11-20T08:04:19.507Z' }, 3),
  ),
}

export const draftEvents = {
  'draft.created': declareEvent(
    'A draft was added to Drafts, by this API or another client.',
    draftEventData,
    of(DRAFT, 1),
  ),
  'draft.updated': declareEvent(
    'A draft was changed.',
    draftEventData,
    of(
      {
        ...DRAFT,
        snippet: 'Thank you, it will be paid this week.',
        updatedAt: '2026-11-20T08:09:12.018Z',
      },
      2,
    ),
  ),
  'draft.deleted': declareEvent(
    'A draft was deleted or sent. `data` holds its last known state.',
    draftEventData,
    of({ ...DRAFT, updatedAt: '2026-11-20T08:09:12.018Z' }, 3),
  ),
}
