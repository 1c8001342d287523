import { didYouMean } from '../../platform/errors/did-you-mean.ts'
import { isoTime, parseTime } from '../../platform/time/time.ts'
import { UsageError } from '../command.ts'

/** The value of an option that must be one of the words, undefined without the option. Throws `UsageError` for another one. */
export function parseWord<Word extends string>(
  name: string,
  value: string | undefined,
  words: readonly Word[],
): Word | undefined {
  return value === undefined ? undefined : requireWord(name, value, words)
}

/** As `parseWord`, for a value that is given. */
export function requireWord<Word extends string>(name: string, value: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === value)
  if (found !== undefined) return found
  throw new UsageError(`--${name} must be one of ${words.join(', ')}.${didYouMean(value, words)}`)
}

const AGO_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A past time as `2h`, a date (its beginning in UTC) or a time. Throws `UsageError` for another text. */
export function parseSince(name: string, text: string, nowMs: number): string {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? []
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
  const ms = count === undefined ? parseTime(time) : nowMs - Number(count) * (AGO_MS[unit] ?? 0)
  if (ms === undefined) throw new UsageError(`--${name} must be such as 2h, 7d, 2026-01-31 or 2026-01-31T08:00:00Z.`)
  return isoTime(ms)
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['min', 60_000],
] as const

/** How long ago or how far ahead a time is, such as `3 hours ago`, as the rows of a list show it. */
export function relativeTime(time: string | null, nowMs: number): string {
  if (time === null) return 'never'
  const ms = Date.parse(time) - nowMs
  const [unit, size] = UNITS.find(([, unitMs]) => Math.abs(ms) >= unitMs) ?? ['s', 1000]
  const count = Math.round(Math.abs(ms) / size)
  const amount = `${count} ${unit}${count !== 1 && (unit === 'day' || unit === 'hour') ? 's' : ''}`
  return ms > 0 ? `in ${amount}` : `${amount} ago`
}
