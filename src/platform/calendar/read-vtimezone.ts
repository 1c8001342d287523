import { type Component, properties, property, readText } from './components.ts'
import { civilDate, DAY_MS, formatLocal, parseLocal, toDay } from './days.ts'
import { offsetText, textLine } from './formatting.ts'
import { parseRule, type Rule } from './rule.ts'
import { generateStarts, type Steps } from './rule-starts.ts'
import type { ReadOffset } from './zone-data/clock.ts'

/** A zone that the time zone database does not have, as a VTIMEZONE describes it (RFC 5545, 3.6.5). */
export interface OwnZone {
  tzid: string
  observances: Observance[]
}

/** Changes to one offset. Offsets are what is added to UTC, in seconds. */
interface Observance {
  /** Wall clocks at which it begins, in the offset before: `2000-10-29T03:00:00`. The first one is that of the rule. */
  onsets: string[]
  before: number
  offset: number
  /** The value of an RRULE. */
  rule: string | null
}

const MAX_OBSERVANCES = 50
const MAX_ONSETS = 200
const MAX_TZID = 200
const MAX_RULE = 200
const MAX_YEARS = 200
/** Limits all rules together, for a year and for the time until they end. A day of a rule costs one. */
const MAX_STEPS = 10_000

/** Undefined for a VTIMEZONE without offsets. */
export function readOwnZone(described: Component): OwnZone | undefined {
  let left = MAX_ONSETS
  const observances = described.components.slice(0, MAX_OBSERVANCES).flatMap((component): Observance[] => {
    const before = parseOffset(property(component, 'TZOFFSETFROM')?.value)
    const offset = parseOffset(property(component, 'TZOFFSETTO')?.value)
    const dates = properties(component, 'RDATE', MAX_ONSETS).flatMap(({ value }) => value.split(',', MAX_ONSETS))
    const texts = [property(component, 'DTSTART')?.value ?? '', ...dates].slice(0, left)
    const onsets = texts.flatMap((text) => parseLocal(text.trim()) ?? []).map(formatLocal)
    if (offset === undefined || onsets.length === 0) return []
    left -= onsets.length
    const rule = property(component, 'RRULE')?.value.trim() ?? ''
    return [
      {
        onsets,
        before: before ?? offset,
        offset,
        rule: rule.length > MAX_RULE || parseRule(rule) === undefined ? null : rule,
      },
    ]
  })
  return observances.length === 0
    ? undefined
    : { tzid: readText(described, 'TZID').trim().slice(0, MAX_TZID), observances }
}

/** The text stored where other zones have a name. It begins with `{`, which no name does. */
export function ownZoneText(zone: OwnZone): string {
  return JSON.stringify(zone)
}

export function isOwnZone(text: string): boolean {
  return text.startsWith('{')
}

/** Undefined for a name. */
export function parseOwnZone(text: string): OwnZone | undefined {
  return isOwnZone(text) ? JSON.parse(text) : undefined
}

/** The VTIMEZONE that describes it. */
export function describeOwnZone({ tzid, observances }: OwnZone): Component {
  return {
    name: 'VTIMEZONE',
    lines: [textLine('TZID', tzid)],
    components: observances.map(({ onsets: [start = '', ...others], before, offset, rule }) => ({
      name: offset > before ? 'DAYLIGHT' : 'STANDARD',
      lines: [
        `DTSTART:${compact(start)}`,
        `TZOFFSETFROM:${offsetText(before * 1000)}`,
        `TZOFFSETTO:${offsetText(offset * 1000)}`,
        ...(rule === null ? [] : [`RRULE:${rule}`]),
        ...(others.length === 0 ? [] : [`RDATE:${others.map(compact).join(',')}`]),
      ],
      components: [],
    })),
  }
}

function compact(dateTime: string): string {
  return dateTime.replaceAll(/[-:]/g, '')
}

/** From this instant on, wall clocks are `offset` ahead of UTC. In milliseconds. */
interface Change {
  at: number
  before: number
  offset: number
}

interface Repeated extends Omit<Change, 'at'> {
  rule: Rule
  /** The first one, as a wall clock. */
  start: number
}

/** Reads the offsets of a zone. Before its first change, the offset is the one that this change ends. */
export function ownOffsets(zone: OwnZone): ReadOffset {
  const clock = new OwnClock(zone)
  return (utcMs) => clock.offsetAt(utcMs)
}

class OwnClock {
  /** In order. Without those of rules that go on for ever, which are computed by year. */
  readonly #fixed: readonly Change[]
  readonly #repeated: readonly Repeated[]
  readonly #years = new Map<number, readonly Change[]>()

  constructor({ observances }: OwnZone) {
    const fixed: Change[] = []
    const repeated: Repeated[] = []
    const steps = { left: MAX_STEPS }
    for (const { onsets, before, offset, rule: text } of observances) {
      const offsets = { before: before * 1000, offset: offset * 1000 }
      const [start = 0, ...others] = onsets.map((onset) => parseLocal(onset) ?? 0)
      fixed.push(...[start, ...others].map((local) => changeAt(local, offsets)))
      const rule = text === null ? undefined : parseRule(text)
      if (rule === undefined) continue
      const onset = { ...offsets, rule, start }
      if (rule.count === undefined) repeated.push(onset)
      fixed.push(...findLastChanges(onset, steps))
    }
    this.#fixed = fixed.sort(byTime)
    this.#repeated = repeated
  }

  offsetAt(utcMs: number): number {
    const fixed = lastBefore(this.#fixed, utcMs)
    const repeated = this.#repeatedBefore(utcMs)
    const isLater = repeated !== undefined && (fixed === undefined || repeated.at >= fixed.at)
    return (isLater ? repeated : fixed)?.offset ?? this.#fixed[0]?.before ?? 0
  }

  /** Rules of zones repeat each year. At the end of one, clocks may show the next already. */
  #repeatedBefore(utcMs: number): Change | undefined {
    const { year } = civilDate(Math.floor((utcMs + DAY_MS) / DAY_MS))
    for (const each of [year, year - 1, year - 2]) {
      const found = lastBefore(this.#changesIn(each), utcMs)
      if (found !== undefined) return found
    }
    return undefined
  }

  #changesIn(year: number): readonly Change[] {
    const cached = this.#years.get(year)
    if (cached !== undefined) return cached
    const steps = { left: MAX_STEPS }
    const range = { from: toDay(year, 1, 1) * DAY_MS, to: toDay(year + 1, 1, 1) * DAY_MS }
    const changes = this.#repeated.flatMap((each) => findChanges(each, range, steps)).sort(byTime)
    if (this.#years.size >= MAX_YEARS) this.#years.clear()
    this.#years.set(year, changes)
    return changes
  }
}

function changeAt(localMs: number, { before, offset }: Omit<Change, 'at'>): Change {
  return { at: localMs - before, before, offset }
}

function lastBefore(changes: readonly Change[], utcMs: number): Change | undefined {
  return changes.findLast(({ at }) => at <= utcMs)
}

function byTime(left: Change, right: Change): number {
  return left.at - right.at
}

function findChanges(repeated: Repeated, { from, to }: { from: number; to: number }, steps: Steps): Change[] {
  const { rule, start } = repeated
  const starts = generateStarts(rule, start, { from, to: Math.min(to, lastLocal(repeated) + 1) }, steps)
  return takeFirst(starts).map((localMs) => changeAt(localMs, repeated))
}

/** The last changes of a rule that ends; they stay in effect. */
function findLastChanges(repeated: Repeated, steps: Steps): Change[] {
  if (repeated.rule.count !== undefined) {
    return findChanges(repeated, { from: repeated.start, to: Number.POSITIVE_INFINITY }, steps)
  }
  const last = lastLocal(repeated)
  if (last === Number.POSITIVE_INFINITY) return []
  return findChanges(repeated, { from: last - 2 * 366 * DAY_MS, to: last + 1 }, steps).slice(-1)
}

function takeFirst(starts: Iterable<number>): number[] {
  const first: number[] = []
  for (const start of starts) {
    first.push(start)
    if (first.length === MAX_ONSETS) break
  }
  return first
}

/** The wall clock of UNTIL, which is in UTC. Infinite without one. */
function lastLocal({ rule: { until }, before }: Repeated): number {
  if (until === undefined) return Number.POSITIVE_INFINITY
  return until.isUtc ? until.ms + before : until.ms
}

/** `-0500`, `+053000` */
function parseOffset(text: string | undefined): number | undefined {
  const [, sign, hours, minutes, seconds = '0'] = /^([+-])(\d{2})(\d{2})(\d{2})?$/.exec(text?.trim() ?? '') ?? []
  if (hours === undefined || minutes === undefined || Number(hours) > 23) return undefined
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  return sign === '-' ? 0 - total : total
}
