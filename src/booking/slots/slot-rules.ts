import { DAY_MS, formatDay } from '../../platform/calendar/days.ts'
import { findZone, type Zone } from '../../platform/calendar/zone.ts'
import type { StoredSlot } from '../contract.ts'
import type { Availability, Experience } from '../experiences/experience.ts'

/** The settings that decide which times of an experience can be booked. */
export interface Rules extends Buffers {
  availability: Availability
  /** The zone of the open hours. Dates, days ahead and the daily limit are in this zone. */
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

/** Whether a host has as many bookings on a date as the experience permits. */
export const isDayFull = ({ perDay }: Pick<Rules, 'perDay'>, bookings = 0) => bookings >= perDay

/** Free time around a booking. */
export interface Buffers {
  beforeMs: number
  afterMs: number
}

const MINUTE_MS = 60_000
const DEFAULT_MINUTES = 30
const MIN_LENGTH_MS = 5 * MINUTE_MS
/** A range is at most this long, so no list has a longer slot. */
export const MAX_LENGTH_DAYS = 62
export const MAX_LENGTH_MS = MAX_LENGTH_DAYS * DAY_MS
const MAX_DAYS_AHEAD = 1095

export function readRules({ timezone, definition }: Experience): Rules {
  const availability = definition.availability ?? {}
  const minutes = (value = 0) => value * MINUTE_MS
  const { intervalMinutes } = availability
  return {
    availability,
    zone: zoneNamed(availability.timezone ?? timezone),
    beforeMs: minutes(availability.bufferBeforeMinutes),
    afterMs: minutes(availability.bufferAfterMinutes),
    noticeMs: minutes(availability.minimumNoticeMinutes),
    daysAhead: availability.maximumDaysAhead ?? MAX_DAYS_AHEAD,
    perDay: availability.maximumPerDay ?? Number.POSITIVE_INFINITY,
    stepMs: intervalMinutes === undefined ? undefined : toLengthMs(intervalMinutes),
    isRoundRobin: availability.assignment === 'round_robin' && definition.defaultAccountIds.length > 0,
  }
}

/** The accounts that are hosts; without any, the experience itself, so that its bookings cannot overlap. */
export function experienceHosts({ id, definition }: Experience): string[] {
  return definition.defaultAccountIds.length === 0 ? [id] : definition.defaultAccountIds
}

/** The length of a booking that names no end, in minutes. */
export function defaultMinutes({ durationMinutes, durations }: Availability): number {
  return durationMinutes ?? durations?.[0] ?? DEFAULT_MINUTES
}

/** More than 30,000 years. Sums with times stay exact. */
const MAX_SECONDS = 1e12

/** Milliseconds of a duration or an interval, rounded to whole seconds: calendars know no smaller unit. */
export function toLengthMs(minutes: number): number {
  return Math.min(Math.round(minutes * 60), MAX_SECONDS) * 1000
}

/** Which lengths can be booked, for an error message; undefined when this one can. */
export function otherLengths(availability: Availability, lengthMs: number): string | undefined {
  const { durationMinutes, durations = [] } = availability
  const allowed = [...durations, ...(durationMinutes === undefined ? [] : [durationMinutes])]
  if (allowed.length > 0) {
    const isAllowed = allowed.some((minutes) => toLengthMs(minutes) === lengthMs)
    return isAllowed ? undefined : `${[...new Set(allowed)].join(', ')} minutes`
  }
  return lengthMs >= MIN_LENGTH_MS && lengthMs % 1000 === 0 ? undefined : '5 minutes or more, in whole seconds'
}

/** The date of a time, as days since 1970. */
export function dayIn({ zone }: Pick<Rules, 'zone'>, ms: number): number {
  return Math.floor(zone.toLocal(ms) / DAY_MS)
}

/** The date by which `maximumPerDay` counts, as in the column `day`. */
export function formatSlotDay(rules: Pick<Rules, 'zone'>, { start }: Pick<StoredSlot, 'start'>): string {
  return formatDay(dayIn(rules, start))
}

/** Zones were checked when the experience was stored; earlier versions accepted other names of `Intl`, such as BST. */
export function zoneNamed(name: string): Zone {
  const zone = findZone(name) ?? findZone(new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone)
  if (zone === undefined) throw new Error(`This Node.js does not know the time zone ${name} of a stored experience.`)
  return zone
}
