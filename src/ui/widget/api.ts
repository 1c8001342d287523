import type { Slot } from './days.ts'
import type { BookingForm } from './fields.ts'

/** An experience as the public endpoints return it. */
export interface Experience {
  slug: string
  name: string
  description?: string
  timezone: string
  bookingForm?: BookingForm | null
  ui?: Ui | null
  durationMinutes?: number
  durations?: number[]
  /** Null: it depends on the hosts that an endpoint names. */
  sendsMessages?: boolean | null
}

/** Free-form, so every member is checked where it is used. */
interface Ui {
  theme?: unknown
  layout?: unknown
  copy?: unknown
  host?: unknown
}

export interface SlotList {
  generatedAt: string
  expiresAt?: string | null
  slots: Slot[]
  redirectUrl?: string
}

export interface Hold {
  id: string
  slot: Slot
  expiresAt: string
}

export interface Guest {
  name: string
  email: string
  timezone: string
  /** BCP 47: the language of messages. */
  locale: string
}

/** The members of an object that an application wrote; none if it is something else. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** A text that is not empty. */
export function textIn(members: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = members[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** `ui.copy` can replace the name. */
export const chooseTitle = ({ ui, name }: Experience) => textIn(asRecord(ui?.copy), 'title') ?? name

export interface BookingRequest {
  slot: Slot
  guest: Guest
  responses: Record<string, unknown>
  holdId?: string
  verificationCode?: string
  verificationId?: string
  /** A field that people do not see. */
  website?: string
}

export interface Booking {
  id: string
  status: string
  slot: Slot
  joinUrl?: string | null
  guest?: { email?: string }
  links?: { reschedule?: string; cancel?: string; calendar?: string }
  /** The guest gets a message with a link that confirms the address. */
  needsConfirmation?: boolean
  /** Whether the guest gets messages. */
  sendsMessages?: boolean
}

/** A request that failed. `code` is that of the API, or `network`, `timeout`, `generated_at_required`, `invalid_response`. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly details: readonly Detail[]
  readonly redirectUrl: string | undefined

  constructor(code: string, message: string, status = 0, body?: ErrorResponse) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.details = body?.error?.details ?? []
    this.redirectUrl = body?.redirectUrl ?? body?.error?.redirectUrl
  }
}

export const asApiError = (thrown: unknown) =>
  thrown instanceof ApiError ? thrown : new ApiError('unexpected', String(thrown))

/** A problem with one value. `code` is absent for values that no guest enters. */
export interface Detail {
  path: string
  code?: string
}

interface ErrorResponse {
  error?: {
    code?: string
    message?: string
    details?: Detail[]
    redirectUrl?: string
  }
  redirectUrl?: string
}

export interface SchedulerApi {
  experience(signal: AbortSignal): Promise<Experience>
  /** Throws `generated_at_required` for a response without it, be it that of the service or of the application behind it. */
  slots(request: SlotRequest, signal: AbortSignal): Promise<SlotList>
  hold(slot: Slot): Promise<Hold>
  /** Any other request. `url` is relative to the base URL. Throws `ApiError`. */
  request<Result>(method: string, url: string, options?: RequestOptions): Promise<Result>
  /** The path of the experience. */
  path: string
}

export interface SlotRequest {
  range: { start: string; end: string; timezone: string }
  durationMinutes: number
  timezone: string
}

/** A booking to reschedule, with the token of its link. */
export interface Move {
  bookingId: string
  token: string
}

const TIMEOUT_MS = 20_000

/** `baseUrl` ends with a slash. */
export function schedulerApi(baseUrl: string, slug: string): SchedulerApi {
  const path = `scheduler/experiences/${encodeURIComponent(slug)}`

  async function request<Result>(method: string, url: string, options: RequestOptions = {}): Promise<Result> {
    const controller = new AbortController()
    const abort = () => controller.abort()
    options.signal?.addEventListener('abort', abort)
    const timer = setTimeout(abort, options.timeoutMs ?? TIMEOUT_MS)
    try {
      const response = await fetch(new URL(url, baseUrl), {
        method,
        credentials: 'omit',
        cache: 'no-store',
        signal: controller.signal,
        headers: {
          accept: 'application/json',
          ...(options.body !== undefined && { 'content-type': 'application/json' }),
          ...(options.key !== undefined && { 'idempotency-key': options.key }),
        },
        ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
      })
      // A proxy may respond with a page.
      if (!response.ok) throw refusal(response.status, (await response.json().catch(() => ({}))) as ErrorResponse)
      return (await response.json()) as Result
    } catch (error) {
      if (error instanceof ApiError || options.signal?.aborted) throw error
      throw new ApiError(controller.signal.aborted ? 'timeout' : 'network', String(error))
    } finally {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', abort)
    }
  }

  return {
    experience: (signal) => request('GET', path, { signal }),
    async slots(body, signal) {
      const list = await request<Partial<SlotList>>('POST', `${path}/availability`, { body, signal })
      if (typeof list.generatedAt !== 'string' || Number.isNaN(Date.parse(list.generatedAt))) {
        throw new ApiError('generated_at_required', 'generatedAt is required')
      }
      if (!Array.isArray(list.slots)) throw new ApiError('invalid_response', 'slots is required')
      return list as SlotList
    },
    hold: (slot) => request('POST', `${path}/holds`, { body: { slot } }),
    request,
    path,
  }
}

export interface RequestOptions {
  body?: unknown
  signal?: AbortSignal
  key?: string
  timeoutMs?: number
}

function refusal(status: number, body: ErrorResponse): ApiError {
  const { code = 'invalid_response', message = `status ${status}`, details = [] } = body?.error ?? {}
  // The service passes on what the application's response lacks.
  const isGeneratedAt = code === 'callback_failed' && details.some(({ path }) => path.endsWith('.generatedAt'))
  return new ApiError(isGeneratedAt ? 'generated_at_required' : code, message, status, body)
}
