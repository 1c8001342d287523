/** The steps from a chosen slot to a booking: hold, form, code, confirmation. */
import { useEffect, useRef, useState } from 'preact/hooks'
import {
  type ApiError,
  asApiError,
  type Booking,
  type BookingRequest,
  type Experience,
  type Hold,
  isAboutCode,
  type Move,
  type SchedulerApi,
} from './api.ts'
import type { Slot } from './days.ts'
import type { Values } from './fields.ts'

export type Step =
  | { name: 'choose' }
  | { name: 'form'; slot: Slot }
  | { name: 'code'; slot: Slot }
  | { name: 'done'; booking: Booking }
  | { name: 'redirect'; url: string }

/** Dispatches a DOM event. False if a listener has prevented its default action. */
export type Emit = (name: 'ready' | 'slot-selected' | 'booked' | 'error' | 'redirect', detail: object) => boolean

/** The values of the form. */
export interface Answers {
  name: string
  email: string
  responses: Record<string, unknown>
  website: string
}

/** The API keeps a slot for five minutes. Measured from the response, because the clock of the visitor may be wrong. */
const HOLD_MS = 295_000

const NO_ANSWERS: Answers = { name: '', email: '', responses: {}, website: '' }

export interface FlowDeps {
  api: SchedulerApi
  experience: Experience
  zone: string
  /** BCP 47. */
  locale: string
  /** The booking to reschedule. */
  move: Move | undefined
  emit: Emit
}

export interface Flow {
  step: Step
  /** Values of the form that the visitor changed. */
  entered: Values
  setEntered(values: Values): void
  /** The answers of the last submit. */
  answers: Answers
  /** The error of the last request of this step. */
  error: ApiError | undefined
  /** The slot that is being reserved. */
  pending: Slot | undefined
  isSubmitting: boolean
  /** The slot that is reserved for this visitor, which lists do not contain. */
  held: Slot | undefined
  holdEnded: boolean
  select(slot: Slot): void
  submit(answers?: Answers): void
  submitCode(code: string): void
  /** Asks for another code. */
  requestCode(): void
  /** To the step before. */
  back(): void
  redirect(url: string): void
  /** An error of the list of slots. */
  report(error: ApiError): void
}

export function useFlow({ api, experience, zone, locale, move, emit }: FlowDeps): Flow {
  const [step, setStep] = useState<Step>({ name: 'choose' })
  const [entered, setEntered] = useState<Values>({})
  const [answers, setAnswers] = useState(NO_ANSWERS)
  const [error, setError] = useState<ApiError>()
  const [pending, setPending] = useState<Slot>()
  const [isSubmitting, setSubmitting] = useState(false)
  const [hold, setHold] = useState<Hold>()
  const [holdEnded, setHoldEnded] = useState(false)
  const sent = useRef<Sent | undefined>(undefined)
  /** The verification of the latest code. */
  const verification = useRef<string | undefined>(undefined)

  useEffect(() => {
    if (hold === undefined) return
    const timer = setTimeout(() => {
      setHold(undefined)
      setHoldEnded(true)
    }, HOLD_MS)
    return () => clearTimeout(timer)
  }, [hold])

  function go(next: Step): void {
    setError(undefined)
    setStep(next)
  }

  /** Developers read the console, visitors a sentence. */
  function report({ code, message }: ApiError): void {
    if (code === 'generated_at_required') {
      console.error(`<posthorn-scheduler experience-slug="${experience.slug}">: ${message}`)
    }
    emit('error', { code, message })
  }

  function redirect(url: string): void {
    const target = webAddress(url)
    if (target === undefined) return
    go({ name: 'redirect', url: target })
    if (emit('redirect', { url: target })) location.assign(target)
  }

  function fail(thrown: unknown): void {
    const failure = asApiError(thrown)
    report(failure)
    if (failure.code === 'redirected' && failure.redirectUrl !== undefined) redirect(failure.redirectUrl)
    else {
      // Other fields are those of the form.
      if (step.name === 'code' && failure.code === 'validation_failed' && !isAboutCode(failure)) {
        setStep({ name: 'form', slot: step.slot })
      }
      if (failure.code === 'slot_unavailable') {
        setHold(undefined)
        setStep({ name: 'choose' })
      }
      setError(failure)
    }
  }

  async function reserve(slot: Slot): Promise<void> {
    setHoldEnded(false)
    emit('slot-selected', { slot })
    if (move !== undefined || hold?.slot.start === slot.start) {
      go({ name: 'form', slot })
      return
    }
    setPending(slot)
    setError(undefined)
    try {
      const reserved = await api.hold(slot)
      setHold({ ...reserved, slot })
      go({ name: 'form', slot })
    } catch (thrown) {
      const { code } = asApiError(thrown)
      // The time is free, but not kept for the visitor meanwhile.
      if (code === 'hold_unavailable' || code === 'rate_limited') {
        setHold(undefined)
        go({ name: 'form', slot })
      } else fail(thrown)
    } finally {
      setPending(undefined)
    }
  }

  async function send(slot: Slot, entered: Answers, code?: string): Promise<void> {
    setAnswers(entered)
    setSubmitting(true)
    setError(undefined)
    try {
      if (experience.bookingForm?.verifyEmail && move === undefined && code === undefined) {
        await requestCode(entered)
        go({ name: 'code', slot })
        return
      }
      const booking = move !== undefined ? await api.move(move, slot) : await book(slot, entered, code)
      emit('booked', { booking })
      go({ name: 'done', booking })
    } catch (thrown) {
      fail(thrown)
    } finally {
      setSubmitting(false)
    }
  }

  async function requestCode({ email, website }: Answers): Promise<void> {
    const { verificationId } = await api.verify({ email, ...(website !== '' && { website }) })
    verification.current = verificationId
  }

  /** The same answers again are the same request, so that a booking whose response was lost is not made twice. */
  async function book(slot: Slot, entered: Answers, code: string | undefined): Promise<Booking> {
    const { name, email, responses, website } = entered
    const content = JSON.stringify([slot, entered, code, verification.current])
    if (sent.current?.content !== content) {
      const request = {
        slot,
        guest: { name, email, timezone: zone, locale },
        responses,
        ...(hold !== undefined && { holdId: hold.id }),
        ...(code !== undefined && { verificationCode: code }),
        ...(code !== undefined && verification.current !== undefined && { verificationId: verification.current }),
        ...(website !== '' && { website }),
      }
      sent.current = { content, key: randomKey(), request }
    }
    return api.book(sent.current.request, sent.current.key)
  }

  return {
    step,
    entered,
    setEntered,
    answers,
    error,
    pending,
    isSubmitting,
    holdEnded,
    redirect,
    report,
    held: hold?.slot,
    select: (slot) => void reserve(slot),
    submit: (entered = NO_ANSWERS) => step.name === 'form' && void send(step.slot, entered),
    submitCode: (code) => step.name === 'code' && void send(step.slot, answers, code),
    requestCode: () => step.name === 'code' && void send(step.slot, answers),
    back: () => go(step.name === 'code' ? { name: 'form', slot: step.slot } : { name: 'choose' }),
  }
}

interface Sent {
  content: string
  key: string
  request: BookingRequest
}

function webAddress(url: string): string | undefined {
  try {
    const { protocol, href } = new URL(url)
    return protocol === 'https:' || protocol === 'http:' ? href : undefined
  } catch {
    return undefined
  }
}

/** `randomUUID` exists on secure pages only. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
