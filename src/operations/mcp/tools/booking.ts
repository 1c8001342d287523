import * as Type from 'typebox'
import type { Booking, Experience, GuestBooking, List, SlotList } from '../../../ui/generated/api-objects.ts'
import { shortText } from '../clean-text.ts'
import { apiPath } from '../rest-api.ts'
import { tool } from '../tool.ts'
import { CONFIRMATION_TOKEN, CURSOR, LIMIT, TIME, TIME_ZONE } from './arguments.ts'
import { CONFIRMATION_FACTS, confirmationNeeded } from './confirmation.ts'
import { PAGE_FACTS, pageFacts, pageSummary } from './pages.ts'

const MAX_SLOTS = 100
const SLUG = Type.String({ minLength: 3, maxLength: 64, description: 'The slug of a booking page.' })

const field = Type.Object({
  name: Type.String(),
  label: Type.String(),
  type: Type.String(),
  required: Type.Boolean(),
})

const listBookingPages = tool({
  name: 'list_booking_pages',
  title: 'List booking pages',
  description: 'Lists the booking pages with the fields of their forms.',
  access: 'read',
  input: { limit: LIMIT, cursor: CURSOR },
  facts: PAGE_FACTS,
  untrusted: {
    pages: Type.Array(
      Type.Object({
        slug: Type.String(),
        name: Type.String(),
        description: Type.String(),
        timeZone: Type.String(),
        isActive: Type.Boolean(),
        durationMinutes: Type.Optional(Type.Number({ description: 'Length of a slot.' })),
        bookingUrl: Type.String(),
        fields: Type.Array(field),
      }),
    ),
  },
  async run({ limit, cursor }, { api }) {
    const found = await api.get<List<'experiences', Experience>>('/scheduler/experiences', { limit, cursor })
    const pages = found.experiences.map(viewPage)
    return {
      summary: pageSummary('booking page', pages.length, found.pagination),
      facts: pageFacts(pages.length, found.pagination),
      untrusted: { pages },
    }
  },
})

function viewPage(experience: Experience) {
  const { slug, name, description, timezone, isActive, availability, bookingUrl, bookingForm } = experience
  const durationMinutes = availability?.durationMinutes
  return {
    slug,
    name: shortText(name, 200),
    description: shortText(description, 500),
    timeZone: timezone,
    isActive,
    ...(durationMinutes !== undefined && { durationMinutes }),
    bookingUrl,
    fields: (bookingForm?.fields ?? []).map((entry) => ({
      name: entry.name,
      label: shortText(entry.label, 200),
      type: entry.type,
      required: entry.required === true,
    })),
  }
}

const listBookingSlots = tool({
  name: 'list_booking_slots',
  title: 'List free slots of a booking page',
  description: `Lists the slots that can be booked, at most ${MAX_SLOTS}. Times are UTC.`,
  access: 'read',
  input: {
    slug: SLUG,
    start: TIME('The first time.'),
    end: TIME('Exclusive, at most 62 days later.'),
    durationMinutes: Type.Number({ minimum: 5, maximum: 1440, description: 'Length of a slot.' }),
    timeZone: TIME_ZONE,
  },
  facts: { more: Type.Boolean({ description: 'True when there are more slots than are returned.' }) },
  untrusted: {
    slots: Type.Array(
      Type.Object({
        start: Type.String(),
        end: Type.String(),
        slotToken: Type.Optional(Type.String({ description: 'Pass it to book_slot unchanged.' })),
      }),
    ),
  },
  async run({ slug, start, end, durationMinutes, timeZone }, { api }) {
    const path = apiPath`/scheduler/experiences/${slug}/availability`
    const found = await api.send<SlotList>('POST', path, {
      body: { range: { start, end }, durationMinutes, timezone: timeZone },
    })
    const slots = found.slots.slice(0, MAX_SLOTS).map((slot) => ({
      start: slot.start,
      end: slot.end,
      ...(slot.token !== undefined && { slotToken: slot.token }),
    }))
    const more = found.slots.length > slots.length
    return {
      summary: `${slots.length} slots${more ? ` of ${found.slots.length}; ask for a shorter range to see the others` : ''}.`,
      facts: { more },
      untrusted: { slots },
    }
  },
})

const bookSlot = tool({
  name: 'book_slot',
  title: 'Book a slot',
  description:
    'Books a slot for a guest, in two calls with the same arguments. The guest and the host usually get mail. The first call books nothing and returns confirmationToken. Call again with confirmationToken after the user has agreed.',
  access: 'write',
  isDestructive: true,
  input: {
    slug: SLUG,
    start: TIME('start of a slot from list_booking_slots.'),
    end: Type.Optional(TIME('end of the slot.')),
    slotToken: Type.Optional(Type.String({ maxLength: 4096, description: 'slotToken of the slot, if it has one.' })),
    guestName: Type.String({ minLength: 1, maxLength: 200 }),
    guestEmail: Type.String({ format: 'email', maxLength: 320 }),
    guestTimeZone: TIME_ZONE,
    responses: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'Answers of the form, by the name of the field.' }),
    ),
    confirmationToken: CONFIRMATION_TOKEN,
  },
  facts: { ...CONFIRMATION_FACTS, bookingId: Type.Optional(Type.String()) },
  untrusted: {
    page: Type.Optional(Type.String()),
    request: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'What the second call books.' })),
    booking: Type.Optional(
      Type.Object({
        start: Type.String(),
        end: Type.String(),
        guest: Type.String(),
        reason: Type.Optional(Type.String({ description: 'Why it was rejected.' })),
        joinUrl: Type.Optional(Type.String()),
      }),
    ),
  },
  async run({ confirmationToken, ...input }, { api, confirmations }) {
    const { slug, start, end, slotToken, guestName, guestEmail, guestTimeZone, responses } = input
    if (confirmationToken === undefined) {
      const page = await api.get<Pick<Experience, 'name'>>(apiPath`/scheduler/experiences/${slug}`)
      return confirmationNeeded('book_slot', {
        confirmation: confirmations.create('book_slot', input),
        what: 'the slot and the guest',
        repeat: 'the same arguments and confirmationToken',
        untrusted: { page: shortText(page.name, 200), request: { slug, start, end, guestName, guestEmail, responses } },
      })
    }
    const idempotencyKey = confirmations.redeem(confirmationToken, 'book_slot', input)
    const booking = await api.send<Booking | GuestBooking>('POST', apiPath`/scheduler/experiences/${slug}/bookings`, {
      body: {
        slot: { start, end, token: slotToken },
        guest: { name: guestName, email: guestEmail, timezone: guestTimeZone },
        responses,
      },
      headers: { 'idempotency-key': idempotencyKey },
    })
    const { id, status, slot, guest, reason, joinUrl } = booking
    return {
      summary: `The booking is ${status}.`,
      facts: { status, bookingId: id },
      untrusted: {
        booking: {
          start: slot.start,
          end: slot.end,
          guest: shortText(`${guest.name} <${guest.email}>`, 520),
          ...(reason !== null && { reason: shortText(reason, 500) }),
          ...(joinUrl !== null && { joinUrl: shortText(joinUrl, 2000) }),
        },
      },
    }
  },
})

export const bookingTools = [listBookingPages, listBookingSlots, bookSlot]
