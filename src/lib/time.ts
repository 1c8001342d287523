/** `2026-01-31T08:00:00.000Z`, the only form of times in responses and events. */
export function isoTime(ms: number): string {
  // The rows of a transaction have the same times.
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() }
  return last.text
}

let last = { ms: Number.NaN, text: '' }

/** For nullable columns. */
export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

/** Milliseconds of an RFC 3339 time with an offset; undefined for any other text. */
export function parseTime(text: string): number | undefined {
  if (!RFC_3339.test(text)) return undefined
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}
