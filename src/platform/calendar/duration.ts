import { DAY_MS } from './days.ts'

const DURATION = /^([+-])?P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,8})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$/i

/** Milliseconds of a DURATION of RFC 5545, such as `PT1H30M` or `-P1D`, with days of 24 hours. */
export function parseDuration(text: string): number | undefined {
  const [matched, sign, ...parts] = DURATION.exec(text.trim()) ?? []
  if (matched === undefined || parts.every((part) => part === undefined)) return undefined
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0))
  const ms = (weeks * 7 + days) * DAY_MS + (hours * 3600 + minutes * 60 + seconds) * 1000
  return sign === '-' ? -ms : ms
}
