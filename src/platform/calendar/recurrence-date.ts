import { DAY_MS, parseDay, parseLocal } from './days.ts'

/** One value of an RDATE or EXDATE line: a date, a time, or a period from a time on. */
export interface RecurrenceDate {
  isDate: boolean
  /** A wall clock in milliseconds, as if it were UTC. */
  localMs: number
  /** Otherwise the time is in the zone of the line, or of the series. */
  isUtc: boolean
  /** The end of a period as it is written: a time or a duration. */
  end: string | undefined
}

/**
 * Reads one of the values between the commas, for the instances of a series (`calendars/instances/recurrence.ts`), for those of a
 * calendar object (`providers/caldav/events/series.ts`) and for the report of unreadable lines. The form decides, not VALUE: programs
 * forget it. Undefined for any other form.
 */
export function parseRecurrenceDate(text: string): RecurrenceDate | undefined {
  const [start = '', end] = text.split('/', 2).map((part) => part.trim())
  const day = parseDay(start)
  if (day !== undefined) return { isDate: true, localMs: day * DAY_MS, isUtc: false, end }
  const localMs = parseLocal(start.replace(/z$/i, ''))
  return localMs === undefined ? undefined : { isDate: false, localMs, isUtc: /z$/i.test(start), end }
}
