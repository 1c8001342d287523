import { didYouMean } from '../../platform/errors/did-you-mean.ts'
import { UsageError } from '../command.ts'

/** The value of an option that must be one of the words. Throws `UsageError` for another one. */
export function requireWord(name: string, value: string | undefined, words: readonly string[]): string | undefined {
  if (value === undefined || words.includes(value)) return value
  throw new UsageError(`--${name} must be one of ${words.join(', ')}.${didYouMean(value, words)}`)
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
