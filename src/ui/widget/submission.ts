/** The requests of the later steps: the code, the booking, or its new time. */
import { useRef, useState } from 'preact/hooks'
import { type ApiError, asApiError, type Booking, type BookingRequest, type SchedulerApi } from './api.ts'
import type { Slot } from './days.ts'
import type { Flow, FlowDeps } from './flow.ts'

/** The values of the form. */
export interface Answers {
  name: string
  email: string
  responses: Record<string, unknown>
  website: string
}

export interface SentBooking {
  content: string
  key: string
  request: BookingRequest
}

export interface Submission {
  /** The answers of the last submit. */
  answers: Answers
  isSubmitting: boolean
  submit(answers?: Answers): void
  submitCode(code: string): void
  /** Asks for another code. */
  requestCode(): void
}

/** The application may take ten seconds to decide about a booking. */
const BOOKING_TIMEOUT_MS = 40_000
const NO_ANSWERS: Answers = { name: '', email: '', responses: {}, website: '' }

export function useSubmission({ api, experience, zone, locale, move, emit }: FlowDeps, flow: Flow): Submission {
  const { step } = flow
  const [answers, setAnswers] = useState(NO_ANSWERS)
  const [isSubmitting, setSubmitting] = useState(false)
  /** The verification of the latest code. */
  const verification = useRef<string | undefined>(undefined)

  async function send(slot: Slot, entered: Answers, code?: string): Promise<void> {
    setAnswers(entered)
    setSubmitting(true)
    flow.clearError()
    try {
      if (experience.bookingForm?.verifyEmail && move === undefined && code === undefined) {
        verification.current = await requestCode(api, entered)
        flow.go({ name: 'code', slot })
        return
      }
      const booking = move === undefined ? await book(slot, entered, code) : await moveTo(slot, move)
      emit('booked', { booking })
      flow.go({ name: 'done', booking })
    } catch (thrown) {
      const failure = asApiError(thrown)
      // Other fields are those of the form.
      if (step.name === 'code' && failure.code === 'validation_failed' && !isAboutCode(failure)) {
        flow.go({ name: 'form', slot })
      }
      flow.fail(failure)
    } finally {
      setSubmitting(false)
    }
  }

  /** The same answers again are the same request, so that a booking whose response was lost is not made twice. */
  function book(slot: Slot, entered: Answers, code: string | undefined): Promise<Booking> {
    const { sent, held } = flow
    const { name, email, responses, website } = entered
    const content = JSON.stringify([slot, entered, code, verification.current])
    if (sent.current?.content !== content) {
      const request = {
        slot,
        guest: { name, email, timezone: zone, locale },
        responses,
        ...(held !== undefined && { holdId: held.id }),
        ...(code !== undefined && { verificationCode: code }),
        ...(code !== undefined && verification.current !== undefined && { verificationId: verification.current }),
        ...(website !== '' && { website }),
      }
      sent.current = { content, key: randomKey(), request }
    }
    const { request: body, key } = sent.current
    return api.request('POST', `${api.path}/bookings`, { body, key, timeoutMs: BOOKING_TIMEOUT_MS })
  }

  /** Moves the booking whose page contains the widget. */
  function moveTo(slot: Slot, { bookingId, token }: NonNullable<FlowDeps['move']>): Promise<Booking> {
    return api.request('POST', `scheduler/bookings/${encodeURIComponent(bookingId)}/reschedule`, {
      body: { slot, token },
      timeoutMs: BOOKING_TIMEOUT_MS,
    })
  }

  return {
    answers,
    isSubmitting,
    submit: (entered = NO_ANSWERS) => step.name === 'form' && void send(step.slot, entered),
    submitCode: (code) => step.name === 'code' && void send(step.slot, answers, code),
    requestCode: () => step.name === 'code' && void send(step.slot, answers),
  }
}

/** Sends a code to the address of the guest. Returns the id of the verification. */
async function requestCode({ request, path }: SchedulerApi, { email, website }: Answers): Promise<string | undefined> {
  const body = { email, ...(website !== '' && { website }) }
  const { verificationId } = await request<{ verificationId?: string }>('POST', `${path}/verification`, { body })
  return verificationId
}

/** Whether the code is wrong or has expired. */
export const isAboutCode = ({ details }: ApiError) => details.some(({ path }) => path.endsWith('.verificationCode'))

/** `randomUUID` exists on secure pages only. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
