import { formatDay, parseDay } from './days.ts'

/** The day in a text that is no time, such as `20270602T2500`: `2027-06-02`. Undefined where there is none. */
export function dayInBrokenTime(text: string): string | undefined {
  const [, year = '', month = '', day = ''] = /^\s*"?(\d{4})[-/.]?(\d{1,2})[-/.]?(\d{1,2})(?!\d)/.exec(text) ?? []
  const number = parseDay(`${year}${month.padStart(2, '0')}${day.padStart(2, '0')}`)
  return number === undefined ? undefined : formatDay(number)
}
