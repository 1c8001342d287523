import { parseContentLine } from '../../platform/calendar/content-line.ts'
import { parseRule } from '../../platform/calendar/rule.ts'
import { findZone } from '../../platform/calendar/zone.ts'
import type { ErrorDetail } from '../../platform/errors/app-error.ts'
import type { EventTime } from '../../providers/contract/index.ts'
import { parseRecurrence } from '../instances/recurrence.ts'
import { placedTime } from '../instances/times.ts'

/** The limit for all lines together. */
const MAX_DATES = 500
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Checks recurrence lines strictly: what one provider ignores or reads in its own way would give each another series. */
export function checkRecurrence(
  lines: readonly string[],
  start: EventTime,
  calendarZone: string | null,
  errors: ErrorDetail[],
): void {
  const isAllDay = 'date' in start
  const { zone } = placedTime(start, calendarZone)
  let [rules, dates, added] = [0, 0, 0]
  for (const [index, text] of lines.entries()) {
    const path = `body.recurrence.${index}`
    const fail = (message: string) => errors.push({ path, message })
    const line = CONTROL.test(text) || !text.isWellFormed() ? undefined : parseContentLine(text)
    if (line?.name === 'RRULE') {
      rules += 1
      const problem = line.parameters.size > 0 ? 'must not have parameters' : problemOfRule(line.value, isAllDay)
      if (rules > 1) fail('is a second RRULE. Send one')
      else if (problem !== undefined) fail(problem)
    } else if (line?.name === 'RDATE' || line?.name === 'EXDATE') {
      const count = line.value.split(',').length
      dates += count
      if (line.name === 'RDATE') added += count
      const zoneName = line.parameters.get('TZID')
      const parsed = parseRecurrence([text], zone)
      const found = [...parsed.added, ...parsed.excluded]
      if (zoneName !== undefined && findZone(zoneName) === undefined) fail('must have the IANA name of a zone as TZID')
      else if (line.value.includes('/')) fail('must not contain periods')
      else if (found.length !== count || found.some(({ isDate }) => isDate !== isAllDay)) {
        fail(
          isAllDay
            ? 'must contain dates, such as EXDATE;VALUE=DATE:20260131'
            : 'must contain times, such as EXDATE:20260131T080000Z or EXDATE;TZID=Europe/Berlin:20260131T090000',
        )
      }
    } else {
      fail('must be an RRULE, RDATE or EXDATE line, such as RRULE:FREQ=WEEKLY;COUNT=10')
    }
  }
  if (dates > MAX_DATES) errors.push({ path: 'body.recurrence', message: `must not have more than ${MAX_DATES} dates` })
  if (lines.length > 0 && rules + added === 0) {
    errors.push({ path: 'body.recurrence', message: 'must have an RRULE or RDATE line. Send [] for a single event' })
  }
}

function problemOfRule(value: string, isAllDay: boolean): string | undefined {
  const rule = parseRule(value)
  const until = /(?:^|;)UNTIL=([^;]*)/i.exec(value)?.[1]
  if (rule === undefined) return 'must be a rule of RFC 5545, such as RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10'
  if (rule.frequency === 'SECONDLY' || rule.frequency === 'MINUTELY') return 'must repeat at most every hour'
  if (rule.count !== undefined && until !== undefined) return 'must not have both COUNT and UNTIL'
  if (until === undefined) return undefined
  if (isAllDay) return /^\d{8}$/.test(until) ? undefined : 'must have a date as UNTIL, such as UNTIL=20260131'
  return /^\d{8}T\d{6}Z$/i.test(until) ? undefined : 'must have a time in UTC as UNTIL, such as UNTIL=20260131T080000Z'
}
