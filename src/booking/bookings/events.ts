import type { Static } from 'typebox'
import * as Type from 'typebox'
import { declareEvent, type EventOf, EXAMPLE_ACCOUNT } from '../../events/index.ts'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import type { BookingRow } from '../tables.ts'
import { BOOKING_STATUSES, bookingFields } from './booking.ts'

export const freeForm = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description })

export const slotSchema = Type.Object(
  {
    start: timestamp(),
    end: timestamp(),
    timezone: Type.String({ description: 'IANA name.' }),
    participants: Type.Array(Type.Unknown(), { description: 'As returned by the availability callback.' }),
    metadata: freeForm('As returned by the availability callback.'),
  },
  { title: 'BookedSlot' },
)

const guestSchema = Type.Object(
  { email: Type.String(), name: Type.String(), timezone: Type.Optional(Type.String()) },
  { title: 'BookingGuest', additionalProperties: true },
)

/** A booking as events carry it: without the signed links, which belong to the guest. */
export const bookingProperties = {
  id: Type.String(),
  experienceSlug: Type.String(),
  status: Type.Enum([...BOOKING_STATUSES]),
  slot: slotSchema,
  guest: guestSchema,
  guestVerified: Type.Boolean({
    description:
      'Whether the guest proved to read the mail of the address, or the application knows the guest. Until then attendees get no messages.',
  }),
  attendees: Type.Array(freeForm('As sent in the booking request.')),
  responses: freeForm('Answers of the guest in the booking form.'),
  metadata: freeForm('Set by the application.'),
  eventId: nullable(Type.String({ description: 'The calendar event, once it exists.' })),
  joinUrl: nullable(Type.String({ description: 'Link to the video conference.' })),
  createdAt: timestamp(),
  updatedAt: timestamp(),
}

const booking = Type.Object(bookingProperties, { title: 'BookingEventData' })
const reason = nullable(Type.String({ description: 'Human-readable.' }))
const rejected = Type.Object({ ...bookingProperties, reason }, { title: 'BookingRejectedData' })
const rescheduled = Type.Object({ ...bookingProperties, previousSlot: slotSchema }, { title: 'BookingRescheduledData' })
const cancelled = Type.Object(
  {
    ...bookingProperties,
    cancelledBy: Type.Enum(['guest', 'host', 'api'], {
      description: 'host: somebody deleted the event in the calendar.',
    }),
    reason,
  },
  { title: 'BookingCancelledData' },
)
const reminder = Type.Object(
  {
    ...bookingProperties,
    minutesBefore: Type.Integer({ minimum: 0, description: 'Minutes between the reminder and the start.' }),
  },
  { title: 'BookingReminderData' },
)

const mailLimited = Type.Object(
  {
    experienceSlug: Type.String(),
    limit: Type.Enum(['experience', 'client', 'account', 'address'], {
      description:
        'The budget that was used up: that of the experience, of one client, of the account of a host, or of one recipient.',
    }),
    messages: Type.Integer({ description: 'How many messages the budget allows.' }),
    windowHours: Type.Integer(),
  },
  { title: 'BookingMailLimitedData' },
)

const MORNING = {
  start: '2026-11-25T09:00:00.000Z',
  end: '2026-11-25T09:30:00.000Z',
  timezone: 'Europe/Berlin',
  participants: [EXAMPLE_ACCOUNT.accountId],
  metadata: {},
}

const PENDING: Static<typeof booking> = {
  id: 'bkg_01k9zz6h8k1n3q5s7v9x2z4b6d',
  experienceSlug: 'intro-call',
  status: 'pending',
  slot: MORNING,
  guest: { email: 'lin@northwind.example', name: 'Lin Duarte', timezone: 'America/Sao_Paulo' },
  guestVerified: true,
  attendees: [],
  responses: { topic: 'Payment terms' },
  metadata: { campaign: 'autumn' },
  eventId: null,
  joinUrl: null,
  createdAt: '2026-11-20T08:30:00.000Z',
  updatedAt: '2026-11-20T08:30:00.000Z',
}

const CONFIRMED: Static<typeof booking> = {
  ...PENDING,
  status: 'confirmed',
  eventId: 'cev_01k9zz6m2p4r6t8v1x3z5b7d9f',
  joinUrl: 'https://meet.example/abc-defg-hij',
  updatedAt: '2026-11-20T08:30:01.205Z',
}

const of = <Data>(data: Data, version: number) => ({ ...EXAMPLE_ACCOUNT, objectId: PENDING.id, version, data })

export const bookingEvents = {
  'booking.created': declareEvent(
    'A guest booked a slot. The slot is blocked but not confirmed yet.',
    booking,
    of(PENDING, 1),
  ),
  'booking.confirmed': declareEvent('A booking was confirmed.', booking, of(CONFIRMED, 2)),
  'booking.rejected': declareEvent(
    'A booking failed: the application rejected it or did not respond, or a calendar did not take it.',
    rejected,
    of({ ...PENDING, status: 'rejected', reason: 'The endpoint returned 500.' }, 2),
  ),
  'booking.rescheduled': declareEvent(
    'A booking was moved to another slot.',
    rescheduled,
    of(
      {
        ...CONFIRMED,
        status: 'rescheduled',
        slot: { ...MORNING, start: '2026-11-26T13:00:00.000Z', end: '2026-11-26T13:30:00.000Z' },
        updatedAt: '2026-11-21T12:00:44.310Z',
        previousSlot: MORNING,
      },
      3,
    ),
  ),
  'booking.cancelled': declareEvent(
    'A booking was cancelled. Its slot is free again.',
    cancelled,
    of({ ...CONFIRMED, status: 'cancelled', cancelledBy: 'guest', reason: 'I am ill, sorry.' }, 4),
  ),
  'booking.mail_limited': declareEvent(
    'Requests for bookings or codes are refused, because too many messages would go to addresses that nobody has verified. At most once in 24 hours per experience.',
    mailLimited,
    {
      accountId: null,
      provider: null,
      objectId: 'exp_01k9zz6f4h6j8m1p3r5t7v9x2z',
      version: 1,
      data: { experienceSlug: PENDING.experienceSlug, limit: 'client', messages: 10, windowHours: 24 },
    },
  ),
  'booking.reminder': declareEvent('A booking starts soon.', reminder, of({ ...CONFIRMED, minutesBefore: 60 }, 3)),
}

/** The account of the event: the first host. */
export interface EventAccount {
  accountId: string | null
  provider: ProviderName | null
}

/** The parts of an event that do not depend on its type. */
export function buildEvent(row: BookingRow, account: EventAccount) {
  return { ...account, objectId: row.id, version: row.version, data: bookingFields(row) }
}

/** An event about one booking. */
export type BookingEvent = EventOf<typeof bookingEvents, Exclude<keyof typeof bookingEvents, 'booking.mail_limited'>>
