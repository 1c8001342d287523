import type { Sealer } from '../../platform/crypto/seal.ts'
import type { SealedColumn } from '../../platform/secrets/index.ts'
import type { ExperienceRow } from '../tables.ts'

/** Free-form members that an application stores and gets back. */
export type Members = Record<string, unknown>

/** In the order of their numbers, 0 to 6. */
export const DAY_NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const

/** When hosts can be booked. Unknown members are kept. */
export interface Availability extends Members {
  /** IANA name; default: that of the experience. */
  timezone?: string
  openHours?: OpenHours[]
  overrides?: Override[]
  bufferBeforeMinutes?: number
  bufferAfterMinutes?: number
  minimumNoticeMinutes?: number
  maximumDaysAhead?: number
  maximumPerDay?: number
  /** Between the starts of slots. Lists may choose a multiple. Default: lists choose any, and use the duration if they choose none. */
  intervalMinutes?: number
  /** Default 30. */
  durationMinutes?: number
  /** The durations that a guest can choose from, in minutes. */
  durations?: number[]
  assignment?: 'collective' | 'round_robin'
  /** The source of busy times for a booking: the providers, or only stored calendars. Default live. */
  checkCalendars?: 'live' | 'stored'
  /** How long the application may take after its callback answered `pending`; default 1440. */
  decisionMinutes?: number
  /** In minutes before the start; default [1440, 60]. */
  reminders?: number[]
  /** Bookings get a link to a video conference. */
  conference?: boolean
  /** By account id; default 1. */
  weights?: Record<string, number>
}

/** Wall clocks as `HH:MM`; the end may be `24:00`, and one that is not after the start is on the next day. */
export interface OpenHours extends Members {
  /** 0 or `sunday` to 6 or `saturday`. */
  days: (number | string)[]
  start: string
  end: string
  timezone?: string
}

/** Replaces the open hours of a date. */
export interface Override extends Members {
  /** `YYYY-MM-DD`. */
  date: string
  start?: string
  end?: string
  closed?: boolean
}

/** An endpoint of the application. Header values and the secret are stored sealed. */
export interface CallbackEndpoint extends Members {
  url: string
  /** Default POST. */
  method?: 'POST' | 'PUT' | 'PATCH'
}

export interface FormField extends Members {
  name: string
  label: string
  type: 'text' | 'email' | 'phone' | 'textarea' | 'select' | 'multiselect' | 'checkbox'
  required?: boolean
  placeholder?: string
  options?: { value: string; label: string }[]
}

export interface BookingForm extends Members {
  title?: string
  description?: string
  submitButtonLabel?: string
  fields?: FormField[]
  /** A guest must enter a code that is sent to the address. */
  verifyEmail?: boolean
  /** The first rule that matches applies. */
  routing?: RoutingRule[]
}

/** Chooses hosts, another experience or a page by the answer to one field: `equals` or `in`. */
export interface RoutingRule extends Members {
  when: { field: string; equals?: string | boolean; in?: (string | boolean)[] }
  accountIds?: string[]
  slug?: string
  redirectUrl?: string
}

export const CALLBACKS = ['availability', 'booking', 'routing'] as const
export type CallbackName = (typeof CALLBACKS)[number]

/** The stored members of an experience that are not columns. */
export interface Definition {
  defaultAccountIds: string[]
  metadata: Members
  availability: Availability | null
  bookingForm: BookingForm | null
  ui: Members | null
  /** Origins of pages that may embed the booking page and read the public endpoints. */
  allowedOrigins: string[]
  endpoints: { [name in CallbackName]: CallbackEndpoint | null }
}

export interface ExperienceSecrets {
  /** Signs the callbacks whose endpoint has no secret of its own. */
  callbackSecret: string
  endpoints: { [name in CallbackName]?: { headers: Record<string, string>; secret: string | null } }
}

/** An experience in memory, with its secrets decrypted. */
export interface Experience {
  id: string
  slug: string
  name: string
  description: string
  timezone: string
  isActive: boolean
  definition: Definition
  secrets: ExperienceSecrets
  createdAt: number
  updatedAt: number
}

/** The seal context of the secrets of an experience. */
export const experienceContext = (id: string) => `experience:${id}`

export const SEALED_EXPERIENCES: SealedColumn = {
  table: 'experiences',
  key: 'id',
  column: 'secrets',
  sealContext: experienceContext,
}

export function openExperience(row: ExperienceRow, sealer: Sealer): Experience {
  return {
    ...row,
    isActive: row.isActive === 1,
    definition: JSON.parse(row.definition),
    secrets: JSON.parse(sealer.open(row.secrets, experienceContext(row.id))),
  }
}

/** The address of the booking page. */
export const bookingUrl = (publicUrl: string, slug: string) => `${publicUrl}/book/${slug}`
