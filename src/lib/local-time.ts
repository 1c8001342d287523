/** By zone: making a formatter takes a hundred times longer than using it. Names are matched in any case, hence the limit. */
const formatters = new Map<string, Intl.DateTimeFormat | undefined>()
const MAX_FORMATTERS = 2000

/** Whether it is the name of an IANA zone. Offsets such as `+01:00` are not. */
export function isTimeZone(name: string): boolean {
  return formatterOf(name) !== undefined
}

/** What a clock in the zone shows: `2026-11-20T09:00:00`. Throws a RangeError for an unknown zone. */
export function localTime(ms: number, timeZone: string): string {
  const formatter = formatterOf(timeZone)
  if (formatter === undefined) throw new RangeError('unknown time zone')
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {}
  for (const { type, value } of formatter.formatToParts(ms)) parts[type] = value
  const { year = '', month, day, hour, minute, second } = parts
  return `${year.padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}`
}

function formatterOf(name: string): Intl.DateTimeFormat | undefined {
  if (formatters.has(name)) return formatters.get(name)
  if (formatters.size >= MAX_FORMATTERS) formatters.clear()
  const formatter = newFormatter(name)
  formatters.set(name, formatter)
  return formatter
}

function newFormatter(timeZone: string): Intl.DateTimeFormat | undefined {
  if (!/^[a-z]/i.test(timeZone) || timeZone.length > 100) return undefined
  try {
    return new Intl.DateTimeFormat('en-US', {
      ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
      ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    })
  } catch {
    return undefined
  }
}
