import { type Component, properties, property } from '../../lib/calendar/components.ts'
import { DAY_MS, parseLocal } from '../../lib/calendar/days.ts'
import { parseRule } from '../../lib/calendar/rule.ts'
import { startsOf } from '../../lib/calendar/rule-starts.ts'
import { WINDOWS_ZONES } from '../../lib/calendar/windows-zones.ts'
import { zoneOf } from '../../lib/calendar/zone.ts'
import { ianaZone } from '../../lib/calendar/zone-names.ts'
import { sha256 } from '../../lib/sha256.ts'

/** A zone of an object: an IANA zone, or offsets of its own where none is like it. */
export interface ObjectZone {
  /** IANA. Null: read in the zone of the calendar. */
  name: string | null
  /** Of a zone without a name: what a wall clock is in UTC. */
  toUtc: ((localMs: number) => number) | undefined
}

/** From this instant on, wall clocks are `offsetMs` ahead of UTC. */
interface Change {
  fromMs: number
  beforeMs: number
  offsetMs: number
}

const NONE: ObjectZone = { name: null, toUtc: undefined }
/** Of zones that are alike, the one that most people live in; then each zone of Windows, where most such descriptions come from. */
const COMPARED = new Set([
  ...['UTC', 'Europe/Berlin', 'Europe/London', 'America/New_York', 'America/Chicago', 'America/Denver'],
  'America/Phoenix',
  ...['America/Los_Angeles', 'Asia/Kolkata', 'Asia/Shanghai', 'Asia/Tokyo', 'Australia/Sydney', 'America/Sao_Paulo'],
  ...WINDOWS_ZONES.values(),
])
const SAMPLE_MS = 11 * DAY_MS
const COMPARED_MS = 2 * 365 * DAY_MS
const MAX_CHANGES = 200
const MAX_OBSERVANCES = 50
const MAX_STEPS = 5000
/** Of TZIDs in one calendar. Finding out that one is no zone of the world takes 0.05 ms. */
const MAX_NAMES = 300
/** Descriptions that are compared with the zones of the world for one calendar; it takes some milliseconds each. */
const MAX_COMPARED = 40

/** A VTIMEZONE, and what identifies its content. */
interface Description {
  component: Component
  digest: string
}

/** Resolves the TZIDs of the objects of one calendar. */
export class ObjectZones {
  readonly #names = new Map<string, string | undefined>()
  readonly #compared = new Map<string, ObjectZone>()
  /** By TZID, for each object that is being read. */
  readonly #described = new WeakMap<Component, ReadonlyMap<string, Description>>()

  /** `nearMs` is when the event starts, roughly: rules of zones change over the years. */
  resolve(tzid: string, calendar: Component, nearMs: number): ObjectZone {
    const named = this.#nameOf(tzid)
    if (named !== undefined) return { name: named, toUtc: undefined }
    const described = this.#descriptionsIn(calendar).get(tzid)
    if (described === undefined) return NONE
    const key = `${Math.round(nearMs / COMPARED_MS)} ${described.digest}`
    const known = this.#compared.get(key)
    if (known !== undefined) return known
    if (this.#compared.size >= MAX_COMPARED) return NONE
    const zone = zoneOfDescription(described.component, nearMs)
    this.#compared.set(key, zone)
    return zone
  }

  #nameOf(tzid: string): string | undefined {
    if (this.#names.has(tzid) || this.#names.size >= MAX_NAMES) return this.#names.get(tzid)
    const name = ianaZone(tzid)
    this.#names.set(tzid, name)
    return name
  }

  /** An object may have as many zones as events, so they are found once. */
  #descriptionsIn(calendar: Component): ReadonlyMap<string, Description> {
    const known = this.#described.get(calendar)
    if (known !== undefined) return known
    const found = new Map<string, Description>()
    for (const component of calendar.components) {
      const tzid = component.name === 'VTIMEZONE' ? property(component, 'TZID')?.value.trim() : undefined
      if (tzid === undefined || found.has(tzid)) continue
      found.set(tzid, { component, digest: sha256(JSON.stringify(component), 'base64url') })
    }
    this.#described.set(calendar, found)
    return found
  }
}

/** The IANA zone that a VTIMEZONE names or describes. */
export function zoneOfDescription(described: Component, nearMs: number): ObjectZone {
  const tzid = property(described, 'TZID')?.value ?? ''
  const named = ianaZone(tzid) ?? ianaZone(property(described, 'X-LIC-LOCATION')?.value ?? '')
  if (named !== undefined) return { name: named, toUtc: undefined }
  const changes = changesOf(described, nearMs)
  if (changes.length === 0) return NONE
  const samples: { ms: number; offsetMs: number }[] = []
  for (let ms = nearMs; ms < nearMs + COMPARED_MS; ms += SAMPLE_MS)
    samples.push({ ms, offsetMs: offsetAt(changes, ms) })
  for (const name of COMPARED) {
    const zone = zoneOf(name)
    // Most zones differ in the first one, which is cheap to read.
    const [first] = samples
    if (zone === undefined || first === undefined || zone.readOffset(first.ms) !== first.offsetMs) continue
    if (samples.every(({ ms, offsetMs }) => zone.toLocal(ms) - ms === offsetMs)) {
      return { name, toUtc: undefined }
    }
  }
  return { name: null, toUtc: (localMs) => utcOf(changes, localMs) }
}

/** The changes of the years that are compared, in order. */
function changesOf(described: Component, nearMs: number): Change[] {
  const changes: Change[] = []
  const steps = { left: MAX_STEPS }
  const range = { from: nearMs - COMPARED_MS, to: nearMs + 2 * COMPARED_MS }
  for (const observance of described.components.slice(0, MAX_OBSERVANCES)) {
    const start = parseLocal(property(observance, 'DTSTART')?.value ?? '')
    const beforeMs = offsetOf(property(observance, 'TZOFFSETFROM')?.value)
    const offsetMs = offsetOf(property(observance, 'TZOFFSETTO')?.value)
    if (start === undefined || beforeMs === undefined || offsetMs === undefined) continue
    const starts = [start]
    for (const { value } of properties(observance, 'RDATE', MAX_CHANGES)) {
      starts.push(...value.split(',', MAX_CHANGES).flatMap((each) => parseLocal(each) ?? []))
    }
    const rule = parseRule(property(observance, 'RRULE')?.value ?? '')
    // The year 1601 of Windows is before any date that matters; its rule began long ago.
    if (rule !== undefined) starts.push(...startsOf(rule, start, range, steps))
    changes.push(...starts.slice(0, MAX_CHANGES).map((ms) => ({ fromMs: ms - beforeMs, beforeMs, offsetMs })))
  }
  return changes.sort((left, right) => left.fromMs - right.fromMs)
}

function offsetAt(changes: readonly Change[], ms: number): number {
  const latest = changes.findLast(({ fromMs }) => fromMs <= ms)
  return latest?.offsetMs ?? changes[0]?.beforeMs ?? 0
}

/** As `Zone.toUtc` does. */
function utcOf(changes: readonly Change[], localMs: number): number {
  const first = localMs - offsetAt(changes, localMs - DAY_MS)
  const now = offsetAt(changes, first)
  const second = localMs - now
  return localMs - first !== now && offsetAt(changes, second) === now ? second : first
}

/** `-0500`, `+053000` */
function offsetOf(text: string | undefined): number | undefined {
  const [, sign, hours, minutes, seconds = '0'] = /^([+-])(\d{2})(\d{2})(\d{2})?$/.exec(text?.trim() ?? '') ?? []
  if (hours === undefined || minutes === undefined || Number(hours) > 23) return undefined
  const ms = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -ms : ms
}
