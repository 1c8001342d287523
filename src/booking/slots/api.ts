import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { MAX_LENGTH_DAYS } from './slot-rules.ts'

export const MAX_DAYS = MAX_LENGTH_DAYS

const freeForm = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description })
const zone = (description: string) => Type.String({ maxLength: 64, description, examples: ['Europe/Berlin'] })

export const availabilityBody = Type.Object(
  {
    range: Type.Object({
      start: Type.String({
        maxLength: 64,
        description: 'RFC 3339 with an offset.',
        examples: ['2026-11-23T00:00:00+01:00'],
      }),
      end: Type.String({
        maxLength: 64,
        description: `RFC 3339 with an offset, at most ${MAX_DAYS} days after start. Exclusive.`,
        examples: ['2026-11-28T00:00:00+01:00'],
      }),
      timezone: Type.Optional(zone('IANA name, as timezone below.')),
    }),
    durationMinutes: Type.Number({
      minimum: 5,
      description: 'Length of a slot. Rounded to whole seconds. Longer than the range: no slots.',
      examples: [30],
    }),
    intervalMinutes: Type.Optional(
      Type.Number({
        minimum: 5,
        description: 'Between the starts of slots. Rounded to whole seconds. Default: the duration.',
      }),
    ),
    timezone: Type.Optional(zone('IANA name: of the guest, to show slots in. Default: that of the experience.')),
    attendees: Type.Optional(
      Type.Array(
        Type.Object(
          {
            id: Type.Optional(Type.String({ maxLength: 200 })),
            email: Type.Optional(Type.String({ maxLength: 320 })),
            displayName: Type.Optional(Type.String({ maxLength: 200 })),
          },
          { additionalProperties: true },
        ),
        { maxItems: 50, description: 'Sent to the availability callback.' },
      ),
    ),
    bookingFormResponse: Type.Optional(
      freeForm("The guest's answers so far, by the name of the field. Routing depends on them."),
    ),
    constraints: Type.Optional(freeForm('Sent to the availability callback.')),
    metadata: Type.Optional(freeForm('Sent to the callbacks.')),
  },
  { title: 'SlotSearch' },
)
export type AvailabilityBody = Static<typeof availabilityBody>

const listedSlot = Type.Object(
  {
    start: timestamp(),
    end: timestamp('Exclusive.'),
    timezone: Type.String({ description: 'IANA name.' }),
    participants: Type.Array(Type.Unknown(), {
      description: 'Ids of accounts, or what the availability callback returned.',
    }),
    metadata: freeForm('As returned by the availability callback.'),
    token: Type.Optional(
      Type.String({ description: 'Proves that the availability callback returned this slot. Send it back unchanged.' }),
    ),
  },
  { title: 'ListedSlot', description: 'Send it as the `slot` of a booking.' },
)

export const availabilitySchema = Type.Object(
  {
    experience: Type.Object(
      { slug: Type.String(), name: Type.String(), timezone: Type.String() },
      { description: "To book at. Another one, when the guest's answers lead there." },
    ),
    generatedAt: timestamp('When the slots were found.'),
    expiresAt: nullable(timestamp('When to ask again. Null: not known.')),
    timezone: Type.String({ description: 'IANA name, to show the slots in. Their times are UTC.' }),
    slots: Type.Array(listedSlot, { description: 'Sorted and unique.' }),
    redirectUrl: Type.Optional(
      Type.String({ description: "The guest's answers lead to this page; there are no slots here." }),
    ),
  },
  { title: 'SlotList' },
)
export type AvailabilityView = Static<typeof availabilitySchema>
