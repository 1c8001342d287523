import { parseContentLine } from './content-line.ts'
import { parseRecurrenceDate } from './recurrence-date.ts'
import { readRule } from './rule.ts'

/** Describes, in sentences, the recurrence lines of a series that make no sense. The other lines count. */
export function describeUnreadableRecurrence(lines: readonly string[]): string[] {
  return lines.flatMap((text) => {
    const { name, value = '' } = parseContentLine(text) ?? {}
    if (name === 'RRULE' || name === 'EXRULE') {
      return readRule(value).isWhole ? [] : [`${quoted(name, value)} has parts that make no sense.`]
    }
    if (name === 'RDATE' || name === 'EXDATE') {
      const values = value.split(',', MAX_DATES)
      const areReadable = values.every((each) => parseRecurrenceDate(each) !== undefined)
      return areReadable ? [] : [`${quoted(name, value)} has values that are no times.`]
    }
    return [`${quoted('The line', text)} is no recurrence.`]
  })
}

/** Limits the dates of one line. No real series has more. */
const MAX_DATES = 2000
/** Characters of a value that are shown to the operator. */
const MAX_QUOTED = 40

/** A property as a sentence names it. */
export function quoted(name: string, value: string): string {
  const text = [...value.slice(0, MAX_QUOTED + 1)]
  return `${name} "${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED).join('')}…` : value}"`
}
