import type { FastifyRequest } from 'fastify'
import * as Type from 'typebox'
import { AppError } from '../../platform/errors/app-error.ts'
import { type AllowedOrigins, type App, clientBlock, type Idempotency } from '../../platform/http/index.ts'
import type { BookingRow } from '../tables.ts'
import {
  bookingBody,
  bookingList,
  bookingParams,
  bookingQuery,
  bookingSchema,
  bookingView,
  cancelBody,
  guestBookingSchema,
  guestBookingView,
  holdBody,
  holdSchema,
  holdView,
  rescheduleBody,
  updateBody,
} from './api.ts'
import { linkSubject } from './link-limits.ts'
import type { Actor } from './links.ts'
import type { Bookings } from './service.ts'

interface BookingRouteDeps {
  bookings: Bookings
  idempotency: Idempotency
  /** Origins of the pages that may use the public routes of the experience in the path. */
  allowedOrigins: AllowedOrigins
}

const tags = ['Scheduler']
const slugParams = Type.Object({
  slug: Type.String({ minLength: 1, maxLength: 64, description: 'The slug of the experience.' }),
})
const keyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({ description: 'A repeated request gets the booking that the first one made.' }),
  ),
})
const MINUTE_MS = 60_000
const requestedSlug = ({ caller, params }: FastifyRequest) =>
  caller === undefined ? String(Object(params).slug) : undefined
/** For guests. Requests with a key are not counted. The limits per experience are far from what a few clients can reach. */
const LIMITS = {
  hold: {
    name: 'booking-holds',
    address: { limit: 30, windowMs: 10 * MINUTE_MS },
    subject: { limit: 1500, windowMs: 10 * MINUTE_MS, of: requestedSlug },
  },
  book: {
    name: 'bookings',
    address: { limit: 60, windowMs: 10 * MINUTE_MS },
    subject: { limit: 3000, windowMs: 10 * MINUTE_MS, of: requestedSlug },
  },
}
/** Requests with the right token per booking, others per client. */
const CHANGES = { limit: 20, windowMs: 10 * MINUTE_MS }

export function bookingRoutes(app: App, { bookings, idempotency, allowedOrigins }: BookingRouteDeps): void {
  const { links } = bookings
  const full = (row: BookingRow) => bookingView(row, links.of(row))
  const changeLimits = {
    name: 'booking-changes',
    // Far beyond the wrong tokens of one client, so that a guest behind the same router gets through.
    address: { limit: 600, windowMs: 10 * MINUTE_MS },
    subject: {
      ...CHANGES,
      of: ({ caller, params, body, ip }: FastifyRequest) =>
        caller === undefined
          ? linkSubject(bookings, { bookingId: Object(params).bookingId, token: Object(body).token, ip })
          : undefined,
    },
  }

  app.post(
    '/scheduler/experiences/:slug/holds',
    {
      config: { access: 'open:write', cors: allowedOrigins, rateLimit: LIMITS.hold },
      schema: {
        tags,
        operationId: 'createHold',
        errors: [409, 502, 504],
        summary: 'Hold a slot',
        description: 'Keeps the slot for five minutes, while the guest fills in the form. Book it with `holdId`.',
        params: slugParams,
        body: holdBody,
        response: { 200: holdSchema },
      },
    },
    async ({ params, body, caller, ip, id: requestId }) => {
      const client = caller === undefined ? clientBlock(ip) : undefined
      return holdView(await bookings.hold(params.slug, body.slot, { requestId, client }))
    },
  )

  app.post(
    '/scheduler/experiences/:slug/bookings',
    {
      config: { access: 'open:write', cors: allowedOrigins, rateLimit: LIMITS.book },
      schema: {
        tags,
        operationId: 'createBooking',
        errors: [409, 422, 502, 504],
        summary: 'Book a slot',
        description:
          'Asks the booking callback, which decides, then confirms the booking. Calendars and messages follow in the background. 409 slot_unavailable when the slot is taken or was refused; 409 redirected when the routing leads elsewhere.',
        params: slugParams,
        headers: keyHeader,
        body: bookingBody,
        response: { 201: Type.Union([bookingSchema, guestBookingSchema]) },
      },
    },
    async ({ params, body, headers, caller, ip, id: requestId }, reply) => {
      const isKeyed = caller !== undefined
      const key = headers['idempotency-key']
      const { row, isRepeated } = await bookings.create(params.slug, body, {
        key,
        requestId,
        isKeyed,
        client: isKeyed ? undefined : clientBlock(ip),
      })
      if (isRepeated) reply.header('idempotent-replayed', 'true')
      reply.code(201)
      return isKeyed ? full(row) : guestBookingView(row, links.of(row))
    },
  )

  app.get(
    '/scheduler/bookings',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'listBookings',
        summary: 'List bookings by start',
        querystring: bookingQuery,
        response: { 200: bookingList },
      },
    },
    async ({ query }) => {
      const { items, pagination } = await bookings.list(query)
      return { bookings: items.map(full), pagination }
    },
  )

  app.get(
    '/scheduler/bookings/:bookingId',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getBooking',
        summary: 'Get a booking',
        params: bookingParams,
        response: { 200: bookingSchema },
      },
    },
    async ({ params }) => full(await bookings.get(params.bookingId)),
  )

  app.patch(
    '/scheduler/bookings/:bookingId',
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        operationId: 'updateBooking',
        errors: [409],
        summary: 'Update a booking',
        description: 'Changes metadata and guest. Sends no messages and no events; the calendars show a new name.',
        params: bookingParams,
        body: updateBody,
        response: { 200: bookingSchema },
      },
    },
    async ({ params, body }) => full(await bookings.update(params.bookingId, body)),
  )

  app.post(
    '/scheduler/bookings/:bookingId/cancel',
    {
      config: { access: 'open:write', rateLimit: changeLimits },
      schema: {
        tags,
        operationId: 'cancelBooking',
        errors: [409],
        summary: 'Cancel a booking',
        description: 'With an API key, or the `token` of a link. Cancelling again changes nothing.',
        params: bookingParams,
        body: cancelBody,
        response: { 200: Type.Union([bookingSchema, guestBookingSchema]) },
      },
    },
    idempotency.writing(async ({ params, body, caller, ip }) => {
      const by = await getActor(params.bookingId, body.token, caller)
      const row = await bookings.cancel(params.bookingId, by, body.reason || null, clientBlock(ip))
      return async () => viewFor(by, row)
    }),
  )

  app.post(
    '/scheduler/bookings/:bookingId/reschedule',
    {
      config: { access: 'open:write', rateLimit: changeLimits },
      schema: {
        tags,
        operationId: 'rescheduleBooking',
        errors: [409, 502, 504],
        summary: 'Move a booking to another slot',
        description:
          'With an API key, or the `token` of a link. Asks the booking callback with `previousSlot`; a refusal leaves the booking as it was.',
        params: bookingParams,
        body: rescheduleBody,
        response: { 200: Type.Union([bookingSchema, guestBookingSchema]) },
      },
    },
    idempotency.writing(async ({ params, body, caller, ip, id: requestId }) => {
      const by = await getActor(params.bookingId, body.token, caller)
      const row = await bookings.reschedule(params.bookingId, body.slot, { requestId, by, client: clientBlock(ip) })
      return async () => viewFor(by, row)
    }),
  )

  async function getActor(id: string, token: string | undefined, caller: object | undefined): Promise<Actor> {
    if (caller !== undefined) return 'api'
    if (token !== undefined) return (await bookings.byLink(id, token)).role
    throw new AppError('unauthorized', {
      message: 'Send an API key, or the token of a link of the booking.',
      headers: { 'www-authenticate': 'Bearer' },
    })
  }

  function viewFor(by: Actor, row: BookingRow) {
    return by === 'api' ? full(row) : guestBookingView(row, links.of(row, by))
  }
}
