import { type Static, Type } from 'typebox'
import { nullable, timestamp } from '../../infra/http/index.ts'
import { entry } from './entry.ts'
import { ACCOUNT } from './parts.ts'

const freeForm = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description })

const slot = Type.Object(
  {
    start: timestamp(),
    end: timestamp(),
    timezone: Type.String({ description: 'IANA name.' }),
    participants: Type.Array(Type.Unknown(), { description: 'As the availability callback gave them.' }),
    metadata: freeForm('As the availability callback gave it.'),
  },
  { title: 'Slot' },
)

const guest = Type.Object(
  { email: Type.String(), name: Type.String(), timezone: Type.Optional(Type.String()) },
  { title: 'BookingGuest', additionalProperties: true },
)

/** A booking as events carry it: without the signed links, which are the guest's. */
const bookingFields = {
  id: Type.String(),
  experienceSlug: Type.String(),
  status: Type.Enum(['pending', 'confirmed', 'rejected', 'cancelled', 'rescheduled']),
  slot,
  guest,
  attendees: Type.Array(freeForm('As the booking request gave it.')),
  responses: freeForm('Answers of the booking form.'),
  metadata: freeForm("The application's own."),
  eventId: nullable(Type.String({ description: 'The event in the calendar, once it is written.' })),
  joinUrl: nullable(Type.String({ description: 'Of the video conference.' })),
  createdAt: timestamp(),
  updatedAt: timestamp(),
}

const booking = Type.Object(bookingFields, { title: 'BookingEventData' })
const reason = nullable(Type.String({ description: 'For people.' }))
const rejected = Type.Object({ ...bookingFields, reason }, { title: 'BookingRejectedData' })
const rescheduled = Type.Object({ ...bookingFields, previousSlot: slot }, { title: 'BookingRescheduledData' })
const cancelled = Type.Object(
  {
    ...bookingFields,
    cancelledBy: Type.Enum(['guest', 'host', 'api'], { description: 'host: the event was deleted in the calendar.' }),
    reason,
  },
  { title: 'BookingCancelledData' },
)
const reminder = Type.Object(
  {
    ...bookingFields,
    minutesBefore: Type.Integer({ minimum: 0, description: 'How long before the start it was due.' }),
  },
  { title: 'BookingReminderData' },
)

const MORNING = {
  start: '2026-11-25T09:00:00.000Z',
  end: '2026-11-25T09:30:00.000Z',
  timezone: 'Europe/Berlin',
  participants: [ACCOUNT.accountId],
  metadata: {},
}

const PENDING: Static<typeof booking> = {
  id: 'bkg_01k9zz6h8k1n3q5s7v9x2z4b6d',
  experienceSlug: 'intro-call',
  status: 'pending',
  slot: MORNING,
  guest: { email: 'lin@northwind.example', name: 'Lin Duarte', timezone: 'America/Sao_Paulo' },
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

const of = <Data>(data: Data, version: number) => ({ ...ACCOUNT, objectId: PENDING.id, version, data })

export const bookingEvents = {
  'booking.created': entry('A guest booked a slot; it is blocked and not confirmed yet.', booking, of(PENDING, 1)),
  'booking.confirmed': entry('A booking is confirmed.', booking, of(CONFIRMED, 2)),
  'booking.rejected': entry(
    'A booking did not come about: the application refused it or did not answer.',
    rejected,
    of({ ...PENDING, status: 'rejected', reason: 'The booking callback answered 500.' }, 2),
  ),
  'booking.rescheduled': entry(
    'A booking was moved to another slot.',
    rescheduled,
    of(
      {
        ...CONFIRMED,
        slot: { ...MORNING, start: '2026-11-26T13:00:00.000Z', end: '2026-11-26T13:30:00.000Z' },
        updatedAt: '2026-11-21T12:00:44.310Z',
        previousSlot: MORNING,
      },
      3,
    ),
  ),
  'booking.cancelled': entry(
    'A booking was cancelled and its slot is free again.',
    cancelled,
    of({ ...CONFIRMED, status: 'cancelled', cancelledBy: 'guest', reason: 'I am ill, sorry.' }, 4),
  ),
  'booking.reminder': entry('A booking is about to begin.', reminder, of({ ...CONFIRMED, minutesBefore: 60 }, 2)),
}
