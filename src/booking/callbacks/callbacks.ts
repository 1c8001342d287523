import { AppError, type ErrorDetail } from '../../platform/errors/app-error.ts'
import type { Ids } from '../../platform/ids.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { BookingDecision, BookingRequest, Callbacks, Slot, SlotRequest } from '../contract.ts'
import type { CallbackName, Experience, Members } from '../experiences/experience.ts'
import { type CallbackDeps, type CallbackFailure, type CallbackRequest, logFailure, sendCallback } from './request.ts'
import {
  type AvailabilityAnswer,
  BadAnswer,
  badStatus,
  parseAvailability,
  parseDecision,
  parseRoute,
  type Route,
  reasonIn,
} from './response-checks.ts'

export interface RouteRequest {
  responses: Members
  /** Null while the guest only looks for a slot. */
  guest: Members | null
  metadata: Members
  requestId: string | undefined
}

/** Every request to the application. Each failure writes a log line that names the experience. */
export interface ApplicationCallbacks extends Callbacks {
  /** Requires an availability endpoint. Throws `callback_failed` and `callback_timeout`. */
  findSlots(experience: Experience, request: SlotRequest, signal: AbortSignal): Promise<AvailabilityAnswer>
  /** Undefined without a routing endpoint, and when it leads nowhere else. Throws `callback_failed` and `callback_timeout`. */
  route(experience: Experience, request: RouteRequest, signal: AbortSignal): Promise<Route | undefined>
}

/** A response that cannot be used. */
interface Failure extends Omit<CallbackFailure, 'kind'> {
  /** The problem. Its path is `callback.booking`, or the member of the response (`callback.booking.joinUrl`). */
  detail: ErrorDetail
}

/** The widget says in the console that it is required. */
const PUBLIC_PATH = 'callback.availability.generatedAt'

export function applicationCallbacks(deps: CallbackDeps & { ids: Ids }): ApplicationCallbacks {
  const { ids } = deps

  /** Returns what `parse` makes of the response, undefined without an endpoint. */
  async function ask<T>(
    request: CallbackRequest,
    parse: (status: number, body: unknown) => T | Promise<T>,
  ): Promise<{ value: T } | { failure: Failure } | undefined> {
    const response = await sendCallback(request, deps)
    if (response === undefined) return undefined
    const fail = (code: Failure['code'], { message: reason, path, problem }: BadAnswer) => {
      logFailure(deps, request, reason)
      const parent = `callback.${request.name}`
      const detail = { path: path === '' ? parent : `${parent}.${path}`, message: problem }
      return { failure: { code, reason, detail } }
    }
    if (response.kind === 'failed') return fail(response.code, new BadAnswer('', response.reason))
    try {
      return { value: await parse(response.status, response.body) }
    } catch (error) {
      if (!(error instanceof BadAnswer)) throw error
      return fail('callback_failed', error)
    }
  }

  /** The same, or throws why there is no value. Callers with a key get the details, guests only that `generatedAt` is required. */
  async function askOrThrow<T>(request: CallbackRequest, parse: (status: number, body: unknown) => T | Promise<T>) {
    const asked = await ask(request, (status, body) => {
      if (status >= 300 || (request.name === 'availability' && status !== 200)) throw badStatus(status)
      return parse(status, body)
    })
    if (asked === undefined) return undefined
    if ('value' in asked) return asked.value
    const { code, reason, detail } = asked.failure
    throw detail.path === PUBLIC_PATH
      ? new AppError(code, { message: reason, details: [detail] })
      : new AppError(code, { privateDetails: [detail] })
  }

  const common = (name: CallbackName, experience: Experience, requestId: string | undefined, signal: AbortSignal) => ({
    name,
    experience,
    requestId,
    signal,
    id: ids('req'),
  })

  return {
    async findSlots(experience, request, signal) {
      const { requestId, range, timezone = experience.timezone, ...rest } = request
      const limits = { start: isoTime(range.from), end: isoTime(range.to), timezone }
      const response = await askOrThrow(
        { ...common('availability', experience, requestId, signal), request: { range: limits, timezone, ...rest } },
        (_status, body) => parseAvailability(body, timezone),
      )
      if (response === undefined) throw new Error(`The experience ${experience.slug} has no availability endpoint.`)
      return response
    },

    route: (experience, { requestId, ...request }, signal) =>
      askOrThrow({ ...common('routing', experience, requestId, signal), request }, (_status, body) => parseRoute(body)),

    async book(experience, request, signal) {
      const { requestId } = request
      const asked = await ask<BookingDecision>(
        {
          ...common('booking', experience, requestId, signal),
          id: webhookId(request),
          request: bookingPayload(request),
        },
        (status, body) => (status === 409 ? { kind: 'refused', reason: reasonIn(body) } : parseDecision(body)),
      )
      if (asked === undefined) return undefined
      return 'value' in asked ? asked.value : { kind: 'failed', ...asked.failure }
    },
  }
}

/** Equal when a booking, or one move of it, is asked about again. */
function webhookId({ bookingId, slot, previousSlot }: BookingRequest): string {
  return previousSlot === undefined ? bookingId : `${bookingId}-${previousSlot.start}-${slot.start}`
}

function bookingPayload({ requestId: _requestId, slot, previousSlot, ...request }: BookingRequest) {
  return {
    ...request,
    slot: slotPayload(slot),
    ...(previousSlot !== undefined && { previousSlot: slotPayload(previousSlot) }),
  }
}

function slotPayload({ start, end, timezone, participants, metadata }: Slot) {
  return { start: isoTime(start), end: isoTime(end), timezone, participants, metadata }
}
