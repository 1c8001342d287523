import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { listSchema, pageQuery } from '../../platform/http/index.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { RemoteAddress } from '../../providers/contract/index.ts'
import { attachmentSchema, attachmentView, type MessageRow, parseFields, toDraftId } from '../messages/index.ts'
import { attachmentList, recipientList, sendOptions, sendResultFields } from '../outgoing/index.ts'

const BODY = 'Plain text, or HTML with `isHtml`.'
const IS_HTML = 'True when the body is HTML.'

const FROM =
  "The sender, as for `POST /accounts/{accountId}/messages/send`: the account's address, or another one that it may send from."

const fields = {
  to: recipientList('The recipients.'),
  cc: recipientList('Copies.'),
  bcc: recipientList('Copies that other recipients do not see.'),
  subject: Type.String({ maxLength: 5000 }),
  body: Type.String({ description: BODY }),
  isHtml: Type.Boolean({ description: IS_HTML }),
}

export const draftSchema = Type.Object(
  {
    id: Type.String({ examples: ['drf_01k9zwa1d3f5h7k9n1q3s5v7x9'] }),
    accountId: Type.String(),
    messageId: Type.String({ description: 'The message that is the draft, in the Drafts folder.' }),
    from: nullable(
      Type.String({ description: 'The sender. Null: the draft names none, and is sent from the account.' }),
    ),
    ...fields,
    attachments: Type.Array(attachmentSchema, {
      description:
        'Download them with the messageId: `GET /accounts/{accountId}/messages/{messageId}/attachments/{id}`.',
    }),
    providerDraftId: Type.String({
      description:
        'The id of the draft at Gmail or Graph; for imap its Message-ID. It stays the same when the draft is edited.',
    }),
    version: Type.Integer({ description: 'Increases with every change. Send it as `If-Match` with a PUT.' }),
    createdAt: timestamp('When the service stored the draft.'),
    updatedAt: timestamp('When the draft last changed.'),
  },
  { title: 'Draft' },
)
export type Draft = Static<typeof draftSchema>

export const draftList = listSchema('drafts', draftSchema)
export const draftQuery = Type.Object(pageQuery)

/** The body of a request that saves a new draft. */
export const createBody = Type.Object(
  {
    from: Type.Optional(Type.String({ description: FROM })),
    to: fields.to,
    cc: Type.Optional(fields.cc),
    bcc: Type.Optional(fields.bcc),
    subject: Type.String({ minLength: 1, maxLength: 5000 }),
    body: Type.String({ minLength: 1, description: BODY }),
    isHtml: Type.Optional(Type.Boolean({ default: false, description: IS_HTML })),
    attachments: Type.Optional(attachmentList),
  },
  { title: 'NewDraft' },
)
export type CreateBody = Static<typeof createBody>

export const createBodyWithAccount = Type.Object({
  accountId: Type.String({ minLength: 1, description: 'An account id, or its customUserId.' }),
  ...createBody.properties,
})

export const updateBody = Type.Optional(
  Type.Partial(Type.Object({ from: Type.String({ description: FROM }), ...fields, attachments: attachmentList }), {
    title: 'DraftChanges',
    description:
      'Absent fields keep their value, and so does everything of the message that has no field here; a list replaces the stored one. To keep an attachment, name it by the `messageId` of the draft and its `attachmentId`. Images that the HTML body shows stay, unless an attachment has their `contentId`.',
  }),
)
export type UpdateBody = Partial<CreateBody>

export const sendDraftBody = Type.Optional(Type.Object(sendOptions, { title: 'SendDraft' }))
export type SendDraftBody = { tracking?: boolean; sendAt?: string | null }

/** The result of saving a draft. */
export const saveResult = Type.Object(
  {
    ...sendResultFields,
    result: Type.Object({
      ...sendResultFields.result.properties,
      draftId: Type.String({ description: 'The draft.' }),
      providerMessageId: Type.String({ description: "The provider's id of the message." }),
    }),
  },
  { title: 'DraftSaveResult' },
)

interface DraftBodyView {
  text: string | null
  html: string | null
}

export function draftView(row: MessageRow, providerDraftId: string | null, { text, html }: DraftBodyView): Draft {
  const { from, to, cc, bcc, messageId, attachments } = parseFields(row.fields)
  return {
    id: toDraftId(row.id),
    accountId: row.accountId,
    messageId: row.id,
    from: from === null ? null : addressText(from),
    to: to.map(addressText),
    cc: cc.map(addressText),
    bcc: bcc.map(addressText),
    subject: row.subject,
    body: html ?? text ?? '',
    isHtml: html !== null,
    attachments: attachments.map(attachmentView),
    // Messages with a location have ids that change with each edit.
    providerDraftId: providerDraftId ?? (row.uidValidity === null ? null : messageId) ?? row.providerMessageId,
    version: row.version,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

/** An address as a request may send it. */
function addressText({ name, email }: RemoteAddress): string {
  if (name === '') return email
  const needsQuotes = /[()<>[\]:;@\\,"]/.test(name)
  return `${needsQuotes ? `"${name.replace(/["\\]/g, '\\$&')}"` : name} <${email}>`
}
