import type { Static } from 'typebox'
import * as Type from 'typebox'
import { documented, documentedDefault, nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { listSchema, pageQuery } from '../../platform/http/index.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { BookingRow } from '../tables.ts'
import { BOOKING_STATUSES, bookedHosts, bookingFields, publicReason, slotView } from './booking.ts'
import { bookingProperties, freeForm, slotSchema } from './events.ts'
import type { BookingLinks } from './links.ts'

const slotBody = Type.Object(
  {
    start: Type.String({ maxLength: 64, examples: ['2026-11-25T09:00:00.000Z'] }),
    end: Type.Optional(
      Type.String({ maxLength: 64, description: 'Default: `availability.durationMinutes` after the start.' }),
    ),
    timezone: Type.Optional(Type.String({ maxLength: 100, description: 'IANA name, to show the slot in.' })),
    token: Type.Optional(
      Type.String({ maxLength: 4096, description: 'As listed. Proves participants and metadata of the slot.' }),
    ),
    participants: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 100 })),
    metadata: Type.Optional(freeForm('As listed.')),
  },
  { title: 'SlotChoice', description: 'A listed slot as it is, or its start. A booking needs it, or a `holdId`.' },
)
export type SlotBody = Static<typeof slotBody>

const guestBody = Type.Object(
  {
    email: Type.String({ maxLength: 320 }),
    name: Type.Optional(Type.String({ maxLength: 200 })),
    timezone: Type.Optional(Type.String({ maxLength: 100, description: 'IANA name. Messages show times in it.' })),
    locale: Type.Optional(Type.String({ maxLength: 35, description: 'Language of messages, such as en or pt-BR.' })),
  },
  { title: 'BookingGuestInput', description: 'Further members are kept.', additionalProperties: true },
)

export const bookingBody = Type.Object(
  {
    slot: Type.Optional(slotBody),
    holdId: Type.Optional(Type.String({ maxLength: 64, description: 'Books the slot of this hold.' })),
    guest: guestBody,
    attendees: Type.Optional(
      Type.Array(freeForm('`email`, `displayName` and further members.'), {
        maxItems: 10,
        description:
          'Other people who take part. Those with an address get the invitation, once the guest is verified.',
      }),
    ),
    responses: Type.Optional(freeForm('Answers in the booking form, by the name of the field.')),
    metadata: Type.Optional(freeForm('Kept with the booking.')),
    verificationCode: Type.Optional(
      Type.String({ maxLength: 32, description: 'The code that was sent to the guest, where the form asks for one.' }),
    ),
    verificationId: Type.Optional(
      Type.String({ maxLength: 64, description: 'Of the response to the request for the code.' }),
    ),
    website: Type.Optional(Type.String({ maxLength: 2000, description: 'Must be empty: only programs fill it in.' })),
  },
  {
    title: 'NewBooking',
    description: 'Either `slot` or `holdId` is required.',
    ...documented({ anyOf: [{ required: ['slot'] }, { required: ['holdId'] }] }),
  },
)
export type BookingBody = Static<typeof bookingBody>

export const holdBody = Type.Object({ slot: slotBody }, { title: 'NewHold' })
export const holdSchema = Type.Object(
  { id: Type.String(), slot: slotSchema, expiresAt: timestamp('Until then nobody else can book the slot.') },
  { title: 'Hold' },
)

const links = Type.Object(
  {
    reschedule: Type.String(),
    cancel: Type.String(),
    calendar: Type.String({ description: 'The booking as an iCalendar file. 409 unless it is confirmed.' }),
  },
  { title: 'BookingLinks', description: 'For the guest: a person who has a link can use it.' },
)

const publicProperties = {
  ...bookingProperties,
  reason: nullable(
    Type.String({
      description: 'Why it was rejected or cancelled. Guests get it only if a person or the application wrote it.',
    }),
  ),
  cancelledBy: nullable(Type.Enum(['guest', 'host', 'api'])),
  needsConfirmation: Type.Boolean({
    description: 'Whether the guest gets a message with a link that confirms the address.',
  }),
  sendsMessages: Type.Boolean({
    description:
      'Whether the guest gets messages about the booking. They are sent from the account of a host: false without hosts.',
  }),
  links,
}
/** The booking as a guest sees it. */
export const guestBookingSchema = Type.Object(publicProperties, { title: 'GuestBooking' })

export const bookingSchema = Type.Object(
  {
    ...publicProperties,
    calendar: Type.Object(
      {
        state: Type.Enum(['none', 'pending', 'written', 'failing', 'failed'], {
          description:
            'Whether the calendars of the hosts show the booking. none: no host has a calendar. failing: the service tries again. failed: it has given up, and rejected the booking.',
        }),
        error: nullable(Type.String()),
      },
      { title: 'BookingCalendar' },
    ),
    version: Type.Integer(),
  },
  { title: 'Booking' },
)
type BookingView = Static<typeof bookingSchema>

export const bookingList = listSchema('bookings', bookingSchema)

export const bookingQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(Type.Enum([...BOOKING_STATUSES], { description: 'Only bookings in this state.' })),
  experienceSlug: Type.Optional(Type.String({ maxLength: 64, description: 'Only bookings of this experience.' })),
  accountId: Type.Optional(Type.String({ maxLength: 64, description: 'The id of an account that is a host.' })),
  guestEmail: Type.Optional(
    Type.String({ maxLength: 320, description: 'Only bookings of the guest with this address.' }),
  ),
  from: Type.Optional(
    Type.String({ maxLength: 64, description: 'Bookings that start at this time or later (RFC 3339).' }),
  ),
  to: Type.Optional(Type.String({ maxLength: 64, description: 'Bookings that start before this time (RFC 3339).' })),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By start.', ...documentedDefault('desc') })),
})
export type BookingQuery = Static<typeof bookingQuery>

export const bookingParams = Type.Object({
  bookingId: Type.String({ minLength: 1, maxLength: 64, description: 'The id of the booking.' }),
})

export const updateBody = Type.Object(
  {
    status: Type.Optional(
      Type.Enum(['confirmed', 'rejected'], {
        description: 'Decides about a booking that your callback answered with `pending`. 409 for any other one.',
      }),
    ),
    reason: Type.Optional(Type.String({ maxLength: 500, description: 'Only with rejected: the guest reads it.' })),
    joinUrl: Type.Optional(
      Type.String({ maxLength: 2048, description: 'Only with confirmed: the link to the meeting.' }),
    ),
    eventId: Type.Optional(Type.String({ maxLength: 1024, description: 'Only with confirmed: your id of the event.' })),
    metadata: Type.Optional(freeForm('Replaces the stored members.')),
    guest: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String({ maxLength: 200 })),
          timezone: Type.Optional(Type.String({ maxLength: 100 })),
          locale: Type.Optional(Type.String({ maxLength: 35 })),
        },
        {
          description:
            'Given members replace the stored ones. The address cannot be changed: the links were sent to it.',
          additionalProperties: true,
        },
      ),
    ),
  },
  { title: 'BookingChanges', description: 'Use cancel and reschedule for other states and the time.' },
)
export type UpdateBody = Static<typeof updateBody>

const token = Type.Optional(
  Type.String({ maxLength: 200, description: 'The `token` of a link of the booking, instead of an API key.' }),
)
export const cancelBody = Type.Object(
  {
    reason: Type.Optional(Type.String({ maxLength: 1000, description: 'The other side reads it.' })),
    token,
  },
  { title: 'CancelBooking' },
)
export const rescheduleBody = Type.Object({ slot: slotBody, token }, { title: 'RescheduleBooking' })

export function guestBookingView(row: BookingRow, own: BookingLinks): Static<typeof guestBookingSchema> {
  const sendsMessages = bookedHosts(row).length > 0
  return {
    ...bookingFields(row),
    reason: publicReason(row),
    cancelledBy: row.cancelledBy,
    needsConfirmation: row.verifiedBy === null && sendsMessages,
    sendsMessages,
    links: own,
  }
}

export function bookingView(row: BookingRow, own: BookingLinks): BookingView {
  const calendar = { state: row.calendarState, error: row.calendarError }
  return { ...guestBookingView(row, own), reason: row.reason, calendar, version: row.version }
}

export function holdView({
  id,
  slot,
  expiresAt,
}: {
  id: string
  slot: Parameters<typeof slotView>[0]
  expiresAt: number
}) {
  return { id, slot: slotView(slot), expiresAt: isoTime(expiresAt) }
}
