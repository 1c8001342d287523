import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable } from '../../platform/formats/json-schema.ts'

/** To, cc and bcc together. */
export const MAX_RECIPIENTS = 1000

/** A list of recipients in a request. */
export const recipientList = (description: string) =>
  Type.Array(Type.String({ examples: ['Ada Okafor <ada@example.com>'] }), { maxItems: MAX_RECIPIENTS, description })

/** How to send a message. */
export const sendOptions = {
  tracking: Type.Optional(
    Type.Boolean({
      description:
        'Track opens and clicks of an HTML message: insert the pixel, and lead its links through this service. Default: TRACKING_ENABLED.',
    }),
  ),
  sendAt: Type.Optional(
    nullable(Type.String({ description: 'Not before this time (RFC 3339), at most a year ahead. Default: now.' })),
  ),
}

const trackingResult = Type.Object(
  {
    id: Type.String({ description: 'For `GET /messages/tracking/{id}`.' }),
    token: Type.String({ description: 'Part of the addresses of the pixel and the links.' }),
    pixelUrl: Type.String({ description: 'A 1×1 image; loading it counts as an open.' }),
    snippet: Type.String({ description: 'The HTML of the pixel, for a body that you track yourself.' }),
    headers: Type.Record(Type.String(), Type.String(), { description: 'Header fields of a tracked message.' }),
    domain: Type.String({ description: 'The host of the pixel and the links.' }),
  },
  { title: 'TrackingResult' },
)
/** The tracking part of the result of sending or saving a message. */
export type TrackingResult = Static<typeof trackingResult>

/** Fields of the result of sending a message or saving a draft. */
export const sendResultFields = {
  success: Type.Boolean(),
  result: Type.Object({
    success: Type.Boolean(),
    messageId: Type.String({ description: 'The id that the message has, or will have in Sent.' }),
    tracking: trackingResult,
  }),
}

/**
 * scheduled, queued → sending → sent. A failure before the commit goes back to queued, until `giveUpAt`. failed: certainly not sent.
 * uncertain: the outcome of the last attempt is unknown, and the message is never sent again by itself.
 */
export const SEND_STATUSES = ['scheduled', 'queued', 'sending', 'sent', 'failed', 'uncertain', 'cancelled'] as const
export type SendStatus = (typeof SEND_STATUSES)[number]

export const sendStatus = Type.Enum([...SEND_STATUSES], {
  description:
    'scheduled: waits for sendAt. uncertain: the connection broke during the transfer; the service looks for the message in Sent and never sends it again by itself.',
})

/** The result of a request that sends a message. */
export const sendResult = Type.Object(
  { ...sendResultFields, outboxId: Type.String(), status: sendStatus },
  { title: 'SendResult' },
)
export type SendResult = Static<typeof sendResult>
