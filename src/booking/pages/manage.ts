import type { FastifyRequest } from 'fastify'
import * as Type from 'typebox'
import { AppError } from '../../platform/errors/app-error.ts'
import { type App, clientBlock } from '../../platform/http/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { bookingQuery, type ManagedBooking, managePage } from '../../ui/booking/index.ts'
import { HARDENED } from '../../ui/hosted/index.ts'
import { bookedSlot, conflict, isBooked, publicReason, readSubmission } from '../bookings/booking.ts'
import { linkSubject } from '../bookings/link-limits.ts'
import { CALENDAR_FILE, type LinkRole, type Links } from '../bookings/links.ts'
import type { Experience } from '../experiences/experience.ts'
import type { BookingRow } from '../tables.ts'
import { calendarFile } from '../tasks/calendar-file.ts'
import type { BookingPages } from './pages.ts'

interface ManagePageDeps {
  pages: BookingPages
  clock: Clock
  bookings: {
    /** Throws not_found for a wrong token. */
    byLink(id: string, token: string): Promise<{ row: BookingRow; role: LinkRole; isReader: boolean }>
    cancel(id: string, by: LinkRole, reason: string | null, client: string): Promise<BookingRow>
    confirmAddress(id: string, client: string): Promise<BookingRow>
  }
  experiences: { findById(id: string): Promise<Experience | undefined> }
  links: Links
  publicUrl: string
}

const MINUTE_MS = 60_000
/** Requests with the right token per booking, others per client. */
const VIEWS = { limit: 120, windowMs: 10 * MINUTE_MS }
/** Far beyond the wrong tokens of one client, so that a guest behind the same router gets through. */
const FLOOD = { limit: 1200, windowMs: 10 * MINUTE_MS }
const CHANGES = { limit: 20, windowMs: 10 * MINUTE_MS }

const params = Type.Object({
  slug: Type.String({ minLength: 1, maxLength: 64 }),
  bookingId: Type.String({ minLength: 1, maxLength: 64 }),
})
const token = Type.String({ minLength: 1, maxLength: 200 })
const query = Type.Object({
  token,
  action: Type.Optional(Type.String({ maxLength: 20 })),
  locale: Type.Optional(Type.String({ maxLength: 35 })),
})
const formQuery = Type.Pick(query, ['locale'])
const body = Type.Object({ token, reason: Type.Optional(Type.String()) })
const MAX_REASON = 1000

const ACTIONS = ['cancel', 'reschedule', 'confirm'] as const

const PATH = '/book/:slug/bookings/:bookingId'

/** The page of one booking, for the holder of its link. Opening it changes nothing, because scanners of messages open links. */
export function managePageRoutes(app: App, deps: ManagePageDeps): void {
  const { pages, clock, bookings, experiences, links, publicUrl } = deps
  const limitSubject = ({ params, ip }: FastifyRequest, source: unknown) =>
    linkSubject(bookings, { bookingId: Object(params).bookingId, token: Object(source).token, ip })
  const viewLimits = {
    name: 'managed-bookings',
    address: FLOOD,
    subject: { ...VIEWS, of: (request: FastifyRequest) => limitSubject(request, request.query) },
  }
  const changeLimits = {
    name: 'changed-bookings',
    address: FLOOD,
    subject: { ...CHANGES, of: (request: FastifyRequest) => limitSubject(request, request.body) },
  }

  app.get(
    PATH,
    {
      ...pages.route,
      config: { access: 'public', rateLimit: viewLimits },
      schema: { hide: true, params, querystring: query },
    },
    async (request, reply) => {
      const { token: linkToken, action } = request.query
      const { row, role, isReader } = await find(request.params, linkToken)
      const booking = await shown(row, role, isReader)
      const page = { booking, token: linkToken, locale: request.query.locale }
      return pages.render(request, reply, (context) =>
        managePage(context, { ...page, action: ACTIONS.find((name) => name === action) }),
      )
    },
  )

  app.get(
    `${PATH}/${CALENDAR_FILE}`,
    {
      ...pages.route,
      config: { access: 'public', rateLimit: viewLimits },
      schema: { hide: true, params, querystring: Type.Pick(query, ['token']) },
    },
    async (request, reply) => {
      const { row, role } = await find(request.params, request.query.token)
      if (!isBooked(row)) throw conflict('Only a confirmed booking has a calendar file.')
      const title = (await experiences.findById(row.experienceId))?.name ?? row.experienceSlug
      const file = calendarFile({ booking: row, title, links: links.of(row, role), publicUrl })
      return reply
        .headers({ ...HARDENED, 'content-disposition': `attachment; filename="${CALENDAR_FILE}"` })
        .type('text/calendar; charset=utf-8')
        .serializer((body: string) => body)
        .send(file)
    },
  )

  app.post(
    PATH,
    {
      ...pages.route,
      config: { access: 'public', form: true, rateLimit: changeLimits },
      schema: { hide: true, params, querystring: formQuery, body },
    },
    async (request, reply) => {
      const { token: linkToken } = request.body
      const { locale } = request.query
      const { row, role, isReader } = await find(request.params, linkToken)
      // Browsers count a line break as one character, and send two.
      const reason = (request.body.reason ?? '').replaceAll('\r\n', '\n').trim()
      if (reason.length > MAX_REASON) {
        const booking = await shown(row, role, isReader)
        const page = { booking, token: linkToken, locale, action: 'cancel' as const, longReason: reason }
        return pages.render(request, reply, (context) => managePage(context, page), { status: 400 })
      }
      await bookings.cancel(row.id, role, reason || null, clientBlock(request.ip))
      // A page that is reloaded does not post again.
      return reply
        .code(303)
        .header('location', `${row.id}?${bookingQuery({ token: linkToken, locale })}`)
        .send()
    },
  )

  app.post(
    `${PATH}/confirm`,
    {
      ...pages.route,
      config: { access: 'public', form: true, rateLimit: changeLimits },
      schema: { hide: true, params, querystring: formQuery, body: Type.Object({ token }) },
    },
    async (request, reply) => {
      const { token: linkToken } = request.body
      const { locale } = request.query
      const { row, isReader } = await find(request.params, linkToken)
      // Who booked has a link too, but not the one of the message.
      if (!isReader) throw new AppError('not_found')
      await bookings.confirmAddress(row.id, clientBlock(request.ip))
      return reply
        .code(303)
        .header('location', `../${row.id}?${bookingQuery({ token: linkToken, action: 'confirm', locale })}`)
        .send()
    },
  )

  async function find({ slug, bookingId }: { slug: string; bookingId: string }, linkToken: string) {
    const found = await bookings.byLink(bookingId, linkToken)
    if (found.row.experienceSlug !== slug) throw new AppError('not_found')
    return found
  }

  async function shown(row: BookingRow, role: LinkRole, isReader: boolean): Promise<ManagedBooking> {
    const experience = await experiences.findById(row.experienceId)
    const slot = bookedSlot(row)
    const { guest } = readSubmission(row)
    return {
      id: row.id,
      slug: row.experienceSlug,
      name: experience?.name ?? row.experienceSlug,
      state: bookingState(row, clock.now()),
      reason: publicReason(row),
      joinUrl: row.joinUrl,
      startMs: row.startMs,
      endMs: row.endMs,
      calendarFile: CALENDAR_FILE,
      timezone: (role === 'guest' ? guest.timezone : undefined) ?? slot.timezone,
      isBookable: experience?.isActive === true,
      address: row.verifiedBy !== null ? 'confirmed' : isReader ? 'asked' : 'unknown',
    }
  }
}

function bookingState(row: BookingRow, nowMs: number): ManagedBooking['state'] {
  if (!isBooked(row))
    return row.status === 'pending' ? 'pending' : row.status === 'cancelled' ? 'cancelled' : 'rejected'
  return row.endMs <= nowMs ? 'past' : 'confirmed'
}
