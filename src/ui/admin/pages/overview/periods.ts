const HOUR_MS = 3_600_000
const DAYS = 7
const HOURS = 25

/** The starts of the last seven days of the viewer's time zone, today included. */
export function dayStarts(now: Date): number[] {
  return Array.from({ length: DAYS }, (_, index) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - (DAYS - 1 - index)).getTime(),
  )
}

/** The starts of the last 24 hours and of the current one. */
export function hourStarts(nowMs: number): number[] {
  const current = Math.floor(nowMs / HOUR_MS) * HOUR_MS
  return Array.from({ length: HOURS }, (_, index) => current - (HOURS - 1 - index) * HOUR_MS)
}
