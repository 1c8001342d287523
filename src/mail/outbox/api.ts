import type { Static } from 'typebox'
import * as Type from 'typebox'
import { addressSchema } from '../../events/index.ts'
import { documented, nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { listSchema, pageQuery } from '../../platform/http/index.ts'
import { isoTime, isoTimeOrNull } from '../../platform/time/time.ts'
import type { RefusedRecipient } from '../../providers/contract/index.ts'
import type { BouncedRecipient } from '../bounces/index.ts'
import { attachmentList, recipientList, SEND_STATUSES, sendOptions, sendStatus } from '../outgoing/index.ts'
import type { Envelope, OutboxRow } from './tables.ts'

/** The body of a request that sends a message. */
export const sendBody = Type.Object(
  {
    to: Type.Optional(
      recipientList(
        'Required, except for a reply: default the sender of the message, or its recipients when the account sent it.',
      ),
    ),
    cc: Type.Optional(recipientList('Copies.')),
    bcc: Type.Optional(recipientList('Copies that other recipients do not see.')),
    replyTo: Type.Optional(recipientList('Where replies go. Default: the address of the account.')),
    from: Type.Optional(
      Type.String({
        description:
          "The sender, with or without a name: `Ada Okafor <ada@example.com>`. The account's address; for gmail also an address that the user verified there (Send mail as); for microsoft also an alias, or a mailbox for which the user has Send As or Send on Behalf. Default: the account's address.",
      }),
    ),
    subject: Type.Optional(
      Type.String({ maxLength: 5000, description: 'Required, except for a reply or a forward: default Re: or Fwd:.' }),
    ),
    body: Type.Optional(Type.String({ description: 'Required, except for a forward.' })),
    isHtml: Type.Optional(Type.Boolean({ default: false, description: 'True when the body is HTML.' })),
    attachments: Type.Optional(attachmentList),
    replyToMessageId: Type.Optional(nullable(Type.String({ description: 'Sends a reply to this message.' }))),
    forwardMessageId: Type.Optional(
      nullable(Type.String({ description: 'Attaches this message, unchanged (message/rfc822).' })),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 8000 }), {
        description: 'Further header fields. For microsoft accounts, their names must begin with X-.',
      }),
    ),
    ...sendOptions,
  },
  {
    title: 'SendMessage',
    description: 'A new message, a reply to one, or a message with another one attached.',
    ...documented({
      anyOf: [
        { required: ['to', 'subject', 'body'] },
        { properties: { replyToMessageId: { type: 'string' } }, required: ['replyToMessageId', 'body'] },
        { properties: { forwardMessageId: { type: 'string' } }, required: ['forwardMessageId', 'to'] },
      ],
    }),
  },
)
export type SendBody = Static<typeof sendBody>

const refusedSchema = Type.Object(
  {
    email: Type.String(),
    code: nullable(Type.Integer({ description: 'The reply code of the mail server.' })),
    diagnostic: Type.String({ description: 'The words of the mail server.' }),
  },
  { title: 'RefusedRecipient' },
)

const bouncedSchema = Type.Object(
  {
    email: Type.String(),
    kind: Type.Enum(['permanent', 'temporary'], { description: 'temporary: a mail server keeps retrying.' }),
    status: nullable(Type.String({ description: 'Enhanced status code (RFC 3463).', examples: ['5.1.1'] })),
    diagnostic: nullable(Type.String({ description: 'The words of the mail server.' })),
    reportMessageId: Type.String({ description: 'The delivery report.' }),
    bouncedAt: timestamp(),
  },
  { title: 'BouncedRecipient' },
)

const outboxError = Type.Object({
  reason: Type.Enum(['rejected', 'auth_expired', 'unavailable', 'uncertain']),
  message: Type.String(),
})
export type OutboxError = Static<typeof outboxError>

const copyErrorSchema = Type.Object(
  {
    message: Type.String(),
    nextAttemptAt: nullable(timestamp('When the service tries again. Null: it has given up.')),
  },
  { description: 'Why the copy of the sent message could not be saved in Sent.' },
)

export const outboxSchema = Type.Object(
  {
    id: Type.String(),
    accountId: Type.String(),
    messageId: Type.String({ description: 'The id that the message has or will have in Sent.' }),
    draftId: nullable(Type.String()),
    status: sendStatus,
    from: addressSchema,
    to: Type.Array(addressSchema),
    cc: Type.Array(addressSchema),
    bcc: Type.Array(addressSchema),
    subject: Type.String(),
    size: Type.Integer({ description: 'Bytes.' }),
    refused: Type.Array(refusedSchema, {
      description:
        'Recipients that the mail server refused. Those that it refused for now get the message later, while `nextAttemptAt` is set.',
    }),
    bounced: Type.Array(bouncedSchema, {
      description:
        'What delivery reports say, oldest first. A report may name addresses to which the message was forwarded.',
    }),
    error: nullable(outboxError),
    copyError: nullable(copyErrorSchema),
    attempts: Type.Integer(),
    sendAt: nullable(timestamp()),
    nextAttemptAt: nullable(
      timestamp(
        'When the service tries to send it, or to send it again to recipients that were refused for now. Null: never.',
      ),
    ),
    sentAt: nullable(timestamp()),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'OutboxMessage' },
)
export type OutboxView = Static<typeof outboxSchema>

export const outboxList = listSchema('messages', outboxSchema)

export const outboxQuery = Type.Object({
  ...pageQuery,
  accountId: Type.Optional(Type.String({ description: 'Only messages of this account.' })),
  status: Type.Optional(Type.Enum([...SEND_STATUSES], { description: 'Only messages in this state.' })),
})
export type OutboxQuery = Static<typeof outboxQuery>

export const outboxParams = Type.Object({
  outboxId: Type.String({ minLength: 1, description: '`outboxId` of the response that accepted the message.' }),
})

export const resolveBody = Type.Object({
  as: Type.Enum(['sent', 'retry', 'discard'], {
    description:
      'sent: it was sent. retry: send it again, although the first one may have arrived. discard: give it up.',
  }),
})

export function outboxView(row: OutboxRow, bounced: readonly BouncedRecipient[] = []): OutboxView {
  const waits = row.status === 'scheduled' || row.status === 'queued' || row.remaining === 'recipients'
  return {
    id: row.id,
    accountId: row.accountId,
    messageId: row.messageId,
    draftId: row.draftId,
    status: row.status,
    ...readEnvelope(row),
    subject: row.subject,
    size: row.sizeBytes,
    refused: readRefused(row),
    bounced: bounced.map((recipient) => ({ ...recipient, bouncedAt: isoTime(recipient.bouncedAt) })),
    error: row.error === null ? null : (JSON.parse(row.error) as OutboxError),
    copyError: copyErrorView(row),
    attempts: row.attempts,
    sendAt: isoTimeOrNull(row.sendAt),
    nextAttemptAt: isoTimeOrNull(waits ? row.dueAt : null),
    sentAt: isoTimeOrNull(row.sentAt),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

function copyErrorView({ copyError, remaining, dueAt }: OutboxRow): OutboxView['copyError'] {
  if (copyError === null) return null
  return { message: copyError, nextAttemptAt: isoTimeOrNull(remaining === 'copy' ? dueAt : null) }
}

/** Only `accept` writes it, so its shape is known. */
export function readEnvelope(row: Pick<OutboxRow, 'envelope'>): Envelope {
  return JSON.parse(row.envelope)
}

export function readRefused(row: Pick<OutboxRow, 'refused'>): RefusedRecipient[] {
  return JSON.parse(row.refused)
}
