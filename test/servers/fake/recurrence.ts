import { createRequire } from 'node:module'
import { DateTime } from 'luxon'

// Its ES module has no `exports` entry, so Node would load it without its named exports.
const { RRule, RRuleSet } = createRequire(import.meta.url)('rrule') as typeof import('rrule')

export interface Recurring {
  /** Local: `2026-11-20T09:00:00`, or `2026-11-20` for an all-day event. */
  start: string
  zone: string
  /** RRULE, RDATE and EXDATE lines. */
  lines: readonly string[]
}

/**
 * The local starts of a series' instances between two times, oldest first, both included; the first
 * `limit` of them. Expanded by `rrule`, independently of the
 * service. Local times are computed as if they were UTC.
 */
export function localStarts(
  { start, zone, lines }: Recurring,
  fromMs: number,
  toMs: number,
  limit = Number.POSITIVE_INFINITY,
): string[] {
  const isAllDay = start.length === 10
  const set = new RRuleSet()
  for (const line of lines) {
    const [head = '', value = ''] = line.split(/:(.*)/s)
    const name = head.split(';')[0]?.toUpperCase()
    if (name === 'RRULE') {
      const local = value.replace(/UNTIL=([\dTZ]+)/, (_, until: string) => `UNTIL=${basic(toLocal(until, zone))}Z`)
      set.rrule(new RRule({ ...RRule.parseString(local), dtstart: pseudo(start) }))
    }
    if (name !== 'EXDATE' && name !== 'RDATE') continue
    const dates = value.split(',').map((text) => pseudo(toLocal(text, /TZID=([^;:]+)/.exec(head)?.[1] ?? zone, zone)))
    for (const date of dates) name === 'EXDATE' ? set.exdate(date) : set.rdate(date)
  }
  // The start is an instance, even where the rule does not produce it.
  if (!lines.some((line) => line.startsWith('EXDATE') && set.exdates().some((date) => +date === +pseudo(start)))) {
    set.rdate(pseudo(start))
  }
  const bound = (ms: number) => pseudo(DateTime.fromMillis(ms, { zone }).toFormat(LOCAL))
  return set
    .between(bound(fromMs), bound(toMs), true, (_, count) => count < limit)
    .map((date) => date.toISOString().slice(0, isAllDay ? 10 : 19))
}

/** When a local time or date occurs, in ms; the first time, if a clock change repeats it. Luxon alone would choose by today's offset. */
export function toInstant(local: string, zone: string): number {
  const at = DateTime.fromISO(local, { zone })
  return (at.getPossibleOffsets()[0] ?? at).toMillis()
}

export const LOCAL = "yyyy-MM-dd'T'HH:mm:ss"

function pseudo(local: string): Date {
  return new Date(`${local.slice(0, 10)}T${local.slice(11, 19) || '00:00:00'}Z`)
}

/** A value of RFC 5545 as a local time of `zone`; its own zone is `from` unless it ends in Z. */
function toLocal(value: string, from: string, zone = from): string {
  const date = `${value.slice(0, 4)}-${value.slice(4, 6)}-${value.slice(6, 8)}`
  if (value.length === 8) return `${date}T00:00:00`
  const local = `${date}T${value.slice(9, 11)}:${value.slice(11, 13)}:${value.slice(13, 15)}`
  return DateTime.fromISO(local, { zone: value.endsWith('Z') ? 'utc' : from })
    .setZone(zone)
    .toFormat(LOCAL)
}

function basic(local: string): string {
  return local.replace(/[-:]/g, '')
}
