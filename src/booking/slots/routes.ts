import type { FastifyReply } from 'fastify'
import { findZone } from '../../platform/calendar/zone.ts'
import { type ErrorDetail, invalidFields } from '../../platform/errors/app-error.ts'
import { cleanJson } from '../../platform/formats/text.ts'
import type { App } from '../../platform/http/index.ts'
import { isoTime, parseTime, TIME_PROBLEM } from '../../platform/time/time.ts'
import type { SlotFinder, SlotList, SlotRequest } from '../contract.ts'
import { experienceParams } from '../experiences/api.ts'
import type { Experience } from '../experiences/experience.ts'
import { originReader } from '../experiences/routes.ts'
import type { Experiences } from '../experiences/service.ts'
import { type AvailabilityBody, type AvailabilityView, availabilityBody, availabilitySchema, MAX_DAYS } from './api.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

export function listingRoutes(app: App, deps: { experiences: Experiences; finder: SlotFinder }): void {
  const { experiences, finder } = deps

  app.post(
    '/scheduler/experiences/:slug/availability',
    {
      config: {
        access: 'open:read',
        cors: originReader(experiences),
        rateLimit: {
          name: 'availability',
          address: { limit: 120, windowMs: MINUTE_MS },
          // Each request may be one to the application, or to several calendars. Far from what a few clients can reach, so that they
          // do not close the page for others.
          subject: {
            limit: 2400,
            windowMs: MINUTE_MS,
            of: ({ params, caller }) => (caller === undefined ? Object(params).slug : undefined),
          },
        },
      },
      schema: {
        tags: ['Scheduler'],
        operationId: 'listSlots',
        errors: [502, 504],
        summary: 'List slots',
        description:
          'The slots of an active experience within a range, from its availability callback, or without one from its open hours and the calendars of its hosts. Needs no key. Pages of `allowedOrigins` may request it.',
        params: experienceParams,
        body: availabilityBody,
        response: { 200: availabilitySchema },
      },
    },
    async ({ params: { slug }, body, id }, reply) => {
      const experience = await experiences.getActive(slug)
      const request = { ...parseRequest(body), requestId: id }
      return view(experience, await finder.list(experience, request, abortedWith(reply)))
    },
  )
}

/** Throws validation_failed. */
function parseRequest(body: AvailabilityBody): SlotRequest {
  const errors: ErrorDetail[] = []
  const time = (name: 'start' | 'end') => {
    const ms = parseTime(body.range[name])
    if (ms !== undefined) return ms
    errors.push({ path: `body.range.${name}`, message: TIME_PROBLEM })
    return Number.NaN
  }
  const range = { from: time('start'), to: time('end') }
  if (range.to <= range.from) errors.push({ path: 'body.range.end', message: 'must be later than start' })
  if (range.to - range.from > MAX_DAYS * DAY_MS) {
    errors.push({ path: 'body.range.end', message: `must be at most ${MAX_DAYS} days after start` })
  }
  for (const [path, name] of [
    ['body.range.timezone', body.range.timezone],
    ['body.timezone', body.timezone],
  ]) {
    if (path === undefined || name === undefined || findZone(name) !== undefined) continue
    errors.push({ path, message: 'must be the IANA name of a time zone, such as Europe/Berlin' })
  }
  if (errors.length > 0) throw invalidFields(errors)
  const { durationMinutes, intervalMinutes, attendees, bookingFormResponse, constraints, metadata } = body
  const timezone = body.timezone ?? body.range.timezone
  const selection = { attendees, bookingFormResponse, constraints, metadata }
  return {
    range,
    durationMinutes,
    ...(intervalMinutes !== undefined && { intervalMinutes }),
    ...(timezone !== undefined && { timezone }),
    ...JSON.parse(cleanJson(selection)),
  }
}

function view(experience: Experience, list: SlotList): AvailabilityView {
  const { slug, name, timezone } = list.experience ?? experience
  return {
    experience: { slug, name, timezone },
    generatedAt: list.generatedAt,
    expiresAt: list.expiresAt,
    timezone: list.timezone,
    slots: list.slots.map(({ start, end, ...slot }) => ({ start: isoTime(start), end: isoTime(end), ...slot })),
    ...(list.redirectUrl !== undefined && { redirectUrl: list.redirectUrl }),
  }
}

/** Ends remote requests when the client disconnects before the response. */
function abortedWith({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort(new Error('The client disconnected.'))
  })
  return controller.signal
}
