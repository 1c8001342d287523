import { DAY_MS, formatDay } from '../../../lib/calendar/days.ts'
import { type Zone, zoneOf } from '../../../lib/calendar/zone.ts'
import type { StoredSlot } from '../contract.ts'
import type { Availability, Experience } from '../experiences/experience.ts'

/** The settings that decide which times of an experience can be booked. */
export interface Rules extends Buffers {
  availability: Availability
  /** Of the open hours: dates, days ahead and the daily limit are in this zone. */
  zone: Zone
  /** From now until the start of the first slot. */
  noticeMs: number
  /** The last date is this many days after today. */
  daysAhead: number
  /** Bookings of the experience per host and date. */
  perDay: number
  /** Between the starts of slots. Undefined: the request decides. */
  stepMs: number | undefined
  isRoundRobin: boolean
}

/** Free time around a booking. */
export interface Buffers {
  beforeMs: number
  afterMs: number
}

const MINUTE_MS = 60_000
const DEFAULT_MINUTES = 30
const MIN_MINUTES = 5
const MAX_MINUTES = 1440
const MAX_DAYS_AHEAD = 1095

export function rulesOf({ timezone, definition }: Experience): Rules {
  const availability = definition.availability ?? {}
  const minutes = (value = 0) => value * MINUTE_MS
  return {
    availability,
    zone: zoneNamed(availability.timezone ?? timezone),
    beforeMs: minutes(availability.bufferBeforeMinutes),
    afterMs: minutes(availability.bufferAfterMinutes),
    noticeMs: minutes(availability.minimumNoticeMinutes),
    daysAhead: availability.maximumDaysAhead ?? MAX_DAYS_AHEAD,
    perDay: availability.maximumPerDay ?? Number.POSITIVE_INFINITY,
    stepMs: availability.intervalMinutes === undefined ? undefined : minutes(availability.intervalMinutes),
    isRoundRobin: availability.assignment === 'round_robin' && definition.defaultAccountIds.length > 0,
  }
}

/** The accounts that are hosts; without any, the experience itself, so that its bookings cannot overlap. */
export function hostsOf({ id, definition }: Experience): string[] {
  return definition.defaultAccountIds.length === 0 ? [id] : definition.defaultAccountIds
}

/** The length of a booking that names no end, in minutes. */
export function defaultMinutes({ durationMinutes, durations }: Availability): number {
  return durationMinutes ?? durations?.[0] ?? DEFAULT_MINUTES
}

/** Which lengths can be booked, for an error message; undefined when this one can. */
export function otherMinutes(availability: Availability, minutes: number): string | undefined {
  const { durationMinutes, durations = [] } = availability
  const allowed = [...durations, ...(durationMinutes === undefined ? [] : [durationMinutes])]
  if (allowed.length > 0) return allowed.includes(minutes) ? undefined : [...new Set(allowed)].join(', ')
  const isAllowed = Number.isInteger(minutes) && minutes >= MIN_MINUTES && minutes <= MAX_MINUTES
  return isAllowed ? undefined : `${MIN_MINUTES} to ${MAX_MINUTES}`
}

/** The date of a time, as days since 1970. */
export function dayIn({ zone }: Pick<Rules, 'zone'>, ms: number): number {
  return Math.floor(zone.toLocal(ms) / DAY_MS)
}

/** The date by which `maximumPerDay` counts, as in the column `day`. */
export function dateOf(rules: Pick<Rules, 'zone'>, { start }: Pick<StoredSlot, 'start'>): string {
  return formatDay(dayIn(rules, start))
}

/** Zones were checked when the experience was stored. */
export function zoneNamed(name: string): Zone {
  const zone = zoneOf(name)
  if (zone === undefined) throw new Error(`This Node.js does not know the time zone ${name} of a stored experience.`)
  return zone
}
