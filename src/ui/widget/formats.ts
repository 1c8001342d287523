import { zoneLabel } from '../../platform/calendar/zone-label.ts'
import { type Day, dayIn, type Slot, type Window } from './days.ts'

/** Dates, times and durations as the locale writes them. Times are those of `timeZone`. */
export interface Formats {
  /** `Tuesday, 24 November`. */
  day(day: Day): string
  /** `November 2026`. */
  month(day: Day): string
  /** `Tue`. */
  weekday(day: Day): string
  /** `24 Nov`. */
  shortDay(day: Day): string
  /** `23 – 29 Nov 2026`. */
  week(window: Window): string
  /** `9:00 AM`, each with its zone if two slots of the list have the same wall clock, on the day that clocks go back. */
  times(slots: readonly Slot[]): string[]
  /** `Tuesday, 24 November 2026`. */
  fullDay(slot: Slot): string
  /** `9:00 – 9:30 AM`. */
  timeRange(slot: Slot): string
  /** `30 minutes`. */
  minutes(count: number): string
  /** `30 min`. */
  shortMinutes(count: number): string
  /** `12h`. */
  hours(count: number): string
  /** `Europe/Berlin`. */
  zone: string
}

/** 12 or 24 hours on the clock. */
export type Clock = 12 | 24

/** The clock that the locale uses. */
export function usualClock(locale: string): Clock {
  const { hourCycle } = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions()
  return hourCycle === 'h11' || hourCycle === 'h12' ? 12 : 24
}

/** `clock`: default that of the locale. */
export function formats(locale: string, timeZone: string, clock?: Clock): Formats {
  const cycle = clock === undefined ? {} : ({ hourCycle: clock === 12 ? 'h12' : 'h23' } as const)
  const utc = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
  const inZone = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, { ...options, timeZone })
  const day = utc({ weekday: 'long', day: 'numeric', month: 'long' })
  const month = utc({ month: 'long', year: 'numeric' })
  const weekday = utc({ weekday: 'short' })
  const shortDay = utc({ day: 'numeric', month: 'short' })
  const week = utc({ day: 'numeric', month: 'short', year: 'numeric' })
  const time = inZone({ timeStyle: 'short', ...cycle })
  const timeWithZone = inZone({ hour: 'numeric', minute: '2-digit', timeZoneName: 'short', ...cycle })
  const fullDay = inZone({ dateStyle: 'full' })
  const dayTime = inZone({ hour: 'numeric', minute: '2-digit', ...cycle })
  const dayAndTime = inZone({ day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit', ...cycle })
  const unit = { style: 'unit', unit: 'minute' } as const
  const minutes = new Intl.NumberFormat(locale, { ...unit, unitDisplay: 'long' })
  const shortMinutes = new Intl.NumberFormat(locale, { ...unit, unitDisplay: 'short' })
  const hours = new Intl.NumberFormat(locale, { style: 'unit', unit: 'hour', unitDisplay: 'narrow' })
  const find = dayIn(timeZone)
  return {
    day: (value) => day.format(new Date(value)),
    month: (value) => month.format(new Date(value)),
    weekday: (value) => weekday.format(new Date(value)),
    shortDay: (value) => shortDay.format(new Date(value)),
    week: ({ from, to }) => week.formatRange(new Date(from), new Date(to)),
    times(slots) {
      const short = slots.map(({ start }) => time.format(new Date(start)))
      return slots.map(({ start }, index) => {
        const text = short[index] ?? ''
        return short.indexOf(text) === short.lastIndexOf(text) ? text : timeWithZone.format(new Date(start))
      })
    },
    fullDay: ({ start }) => fullDay.format(new Date(start)),
    timeRange: ({ start, end }) =>
      (find(start) === find(end) ? dayTime : dayAndTime).formatRange(new Date(start), new Date(end)),
    minutes: (count) => minutes.format(count),
    shortMinutes: (count) => shortMinutes.format(count),
    hours: (count) => hours.format(count),
    zone: zoneLabel(timeZone),
  }
}

/** `Tuesday, 24 November 2026, 9:00 – 9:30 AM`. */
export const formatTime = ({ fullDay, timeRange }: Formats, slot: Slot) => `${fullDay(slot)}, ${timeRange(slot)}`

/** The name if the browser knows the zone. */
export function knownZone(name: string | null | undefined): string | undefined {
  if (name == null || name === '') return undefined
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return name
  } catch {
    return undefined
  }
}
