import { civilDate, DAY_MS, toDay } from './days.ts'
import { ownOffsets, parseOwnZone } from './read-vtimezone.ts'
import type { ReadOffset } from './zone-data/clock.ts'
import { spelledZone, zoneDatabase } from './zone-data/database.ts'

/** The UTC offsets of a zone. Wall clocks are milliseconds as if they were UTC. */
export interface Zone {
  /** As IANA spells it; of another zone its `ownZoneText`. */
  readonly name: string
  toLocal(utcMs: number): number
  /** The offset to add to UTC. Does not compute the changes of the year, as the other methods do. */
  readOffset(utcMs: number): number
  /**
   * A local time that a clock change skips is read with the offset before the change; one that occurs twice is the first of
   * the two (RFC 5545, 3.3.5).
   */
  toUtc(localMs: number): number
  /** The smallest and largest wall clock that may belong to these times, whatever clock change is near. */
  localRange(fromMs: number, toMs: number): { from: number; to: number }
  /** The clock changes of some years, in order. */
  changes(fromYear: number, toYear: number): ClockChange[]
}

/** Offsets are what is added to UTC. */
export interface ClockChange {
  atMs: number
  beforeMs: number
  afterMs: number
}

/** From one clock change to the next, within a year. */
interface Segment {
  from: number
  until: number
  offset: number
}

/** No two changes that cancel each other are closer: the shortest summer time of the time zone database lasted 3 weeks. */
const SAMPLE_MS = 10 * DAY_MS
const MAX_YEARS = 300
const MAX_ZONES = 300

/** By the name as it is spelled. A cache of constants, limited in size. */
const zones = new Map<string, Zone>()

export const UTC: Zone = {
  name: 'UTC',
  toLocal: (utcMs) => utcMs,
  readOffset: () => 0,
  toUtc: (localMs) => localMs,
  localRange: (from, to) => ({ from, to }),
  changes: () => [],
}

/** The case of the name does not matter. Undefined unless it is in the time zone database. */
export function findZone(text: string): Zone | undefined {
  const name = text === 'UTC' ? text : spelledZone(text)
  if (name === undefined || name === 'UTC') return name === undefined ? undefined : UTC
  const cached = zones.get(name)
  if (cached !== undefined) return cached
  const read = zoneDatabase().read(name)
  return read === undefined ? undefined : remembered(name, read)
}

/** The zone of a stored time: by its name, or by the text of a zone that an event brought with it. */
export function storedZone(text: string): Zone | undefined {
  const own = zones.get(text) === undefined ? parseOwnZone(text) : undefined
  return own === undefined ? (zones.get(text) ?? findZone(text)) : remembered(text, ownOffsets(own))
}

function remembered(name: string, read: ReadOffset): Zone {
  const zone = new MeasuredZone(name, read)
  const oldest = zones.size >= MAX_ZONES ? zones.keys().next().value : undefined
  if (oldest !== undefined) zones.delete(oldest)
  zones.set(name, zone)
  return zone
}

/** As `toUtc` of the zone, for a single time: does not compute the changes of its year. */
export function toInstant(zone: Zone, localMs: number): number {
  const before = zone.readOffset(localMs - DAY_MS)
  const first = localMs - before
  const now = zone.readOffset(first)
  const second = localMs - now
  return now !== before && zone.readOffset(second) === now ? second : first
}

/** A zone of which the offset at any instant can be read. Those of a year are computed once, because a series has thousands of instances. */
class MeasuredZone implements Zone {
  readonly name: string
  readonly #read: ReadOffset
  readonly #years = new Map<number, Segment[]>()
  #latest: Segment = { from: 0, until: 0, offset: 0 }

  constructor(name: string, read: ReadOffset) {
    this.name = name
    this.#read = read
  }

  toLocal(utcMs: number): number {
    return utcMs + this.#offsetAt(utcMs)
  }

  readOffset(utcMs: number): number {
    return this.#read(utcMs)
  }

  toUtc(localMs: number): number {
    // No zone is more than 16 hours from UTC, so this is the offset before any change that is near.
    const before = this.#offsetAt(localMs - DAY_MS)
    const first = localMs - before
    const now = this.#offsetAt(first)
    if (now === before) return first
    const second = localMs - now
    return this.#offsetAt(second) === now ? second : first
  }

  localRange(fromMs: number, toMs: number): { from: number; to: number } {
    const near = (ms: number) => [-1, 0, 1].map((days) => this.#offsetAt(ms + days * DAY_MS))
    return { from: fromMs + Math.min(...near(fromMs)), to: toMs + Math.max(...near(toMs)) }
  }

  changes(fromYear: number, toYear: number): ClockChange[] {
    const changes: ClockChange[] = []
    let previous: Segment | undefined
    for (let year = fromYear; year <= toYear; year += 1) {
      for (const segment of this.#getYear(year)) {
        if (previous !== undefined && segment.offset !== previous.offset) {
          changes.push({ atMs: segment.from, beforeMs: previous.offset, afterMs: segment.offset })
        }
        previous = segment
      }
    }
    return changes
  }

  #offsetAt(utcMs: number): number {
    if (utcMs < this.#latest.from || utcMs >= this.#latest.until) this.#latest = this.#segmentAt(utcMs)
    return this.#latest.offset
  }

  #segmentAt(utcMs: number): Segment {
    const { year } = civilDate(Math.floor(utcMs / DAY_MS))
    const found = this.#getYear(year).find(({ until }) => utcMs < until)
    return found ?? { from: utcMs, until: utcMs + 1, offset: this.#read(utcMs) }
  }

  #getYear(year: number): Segment[] {
    let segments = this.#years.get(year)
    if (segments === undefined) {
      segments = this.#findSegments(year)
      if (this.#years.size >= MAX_YEARS) this.#years.clear()
      this.#years.set(year, segments)
    }
    return segments
  }

  #findSegments(year: number): Segment[] {
    const end = toDay(year + 1, 1, 1) * DAY_MS
    const segments: Segment[] = []
    let from = toDay(year, 1, 1) * DAY_MS
    let offset = this.#read(from)
    for (let atMs = from; atMs < end; atMs += SAMPLE_MS) {
      const nextMs = Math.min(atMs + SAMPLE_MS, end)
      const next = this.#read(nextMs)
      if (next === offset) continue
      const until = this.#changeBetween(atMs, nextMs, offset)
      segments.push({ from, until, offset })
      from = until
      offset = next
    }
    segments.push({ from, until: end, offset })
    return segments
  }

  /** The first second with another offset. */
  #changeBetween(fromMs: number, toMs: number, offset: number): number {
    let [same, other] = [fromMs, toMs]
    while (other - same > 1000) {
      const middle = same + Math.floor((other - same) / 2000) * 1000
      if (this.#read(middle) === offset) same = middle
      else other = middle
    }
    return other
  }
}
