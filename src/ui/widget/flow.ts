/** The steps of a booking, and the slot that is kept for the visitor. `submission.ts` has the requests of the later steps. */
import { useEffect, useRef, useState } from 'preact/hooks'
import {
  type ApiError,
  asApiError,
  type Booking,
  type Experience,
  type Hold,
  type Move,
  type SchedulerApi,
} from './api.ts'
import type { Slot } from './days.ts'
import type { Values } from './fields.ts'
import type { SentBooking } from './submission.ts'

export type Step =
  | { name: 'choose' }
  | { name: 'form'; slot: Slot }
  | { name: 'code'; slot: Slot }
  | { name: 'done'; booking: Booking }
  | { name: 'redirect'; url: string }

/** Dispatches a DOM event. False if a listener has prevented its default action. */
export type Emit = (name: 'ready' | 'slot-selected' | 'booked' | 'error' | 'redirect', detail: object) => boolean

/** The API keeps a slot for five minutes. Measured from the response, because the clock of the visitor may be wrong. */
const HOLD_MS = 295_000

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
  /** The last request to book. It outlives the later steps, which end when the visitor chooses again. */
  sent: { current: SentBooking | undefined }
  /** The error of the last request of this step. */
  error: ApiError | undefined
  /** The slot that is being reserved. */
  pending: Slot | undefined
  /** The slot that is reserved for this visitor, which lists do not contain. */
  held: Hold | undefined
  holdEnded: boolean
  select(slot: Slot): void
  /** To another step, without the error of this one. */
  go(step: Step): void
  clearError(): void
  /** Shows why a request failed, where the visitor can do something about it. */
  fail(thrown: unknown): void
  redirect(url: string): void
  /** An error of the list of slots. */
  report(error: ApiError): void
}

export function useFlow({ api, experience, move, emit }: FlowDeps): Flow {
  const [step, setStep] = useState<Step>({ name: 'choose' })
  const [entered, setEntered] = useState<Values>({})
  const [error, setError] = useState<ApiError>()
  const [pending, setPending] = useState<Slot>()
  const [hold, setHold] = useState<Hold>()
  const [holdEnded, setHoldEnded] = useState(false)
  const sent = useRef<SentBooking | undefined>(undefined)

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

  return {
    step,
    entered,
    setEntered,
    sent,
    error,
    pending,
    held: hold,
    holdEnded,
    select: (slot) => void reserve(slot),
    go,
    clearError: () => setError(undefined),
    fail,
    redirect,
    report,
  }
}

function webAddress(url: string): string | undefined {
  try {
    const { protocol, href } = new URL(url)
    return protocol === 'https:' || protocol === 'http:' ? href : undefined
  } catch {
    return undefined
  }
}
