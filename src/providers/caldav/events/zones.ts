import { type Component, property, readText } from '../../../platform/calendar/components.ts'
import { civilDate, DAY_MS } from '../../../platform/calendar/days.ts'
import { WINDOWS_ZONES } from '../../../platform/calendar/generated/windows-zones.ts'
import { type OwnZone, ownOffsets, ownZoneText, readOwnZone } from '../../../platform/calendar/read-vtimezone.ts'
import { type ClockChange, findZone, type Zone } from '../../../platform/calendar/zone.ts'
import { ianaZone, regionZone } from '../../../platform/calendar/zone-names.ts'

/** Lists the most populous of similar zones first, then each zone of Windows, where most such descriptions come from. */
const COMPARED = new Set([
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'America/Chicago',
  'America/Denver',
  'America/Phoenix',
  'America/Los_Angeles',
  'Asia/Kolkata',
  'Asia/Shanghai',
  'Asia/Tokyo',
  'Australia/Sydney',
  'America/Sao_Paulo',
  ...WINDOWS_ZONES.values(),
])
const SAMPLE_MS = 11 * DAY_MS
const COMPARED_MS = 2 * 365 * DAY_MS
/** Limits the TZIDs of one calendar. Finding out that one is no zone of the world takes 0.05 ms. */
const MAX_NAMES = 300
/** Descriptions that are compared with the zones of the world for one calendar; it takes some milliseconds each. Others are kept as they are. */
const MAX_COMPARED = 40
/** In one object. */
const MAX_DESCRIBED = 100

/** A VTIMEZONE that was read. */
interface Description {
  /** The region that libical writes beside a name of its own. */
  region: string | undefined
  own: OwnZone
  /** The text stored where no zone of IANA is like it. */
  text: string
}

/** Resolves the TZIDs of the objects of one calendar. */
export class ObjectZones {
  readonly #regions = new Map<string, string | undefined>()
  /** The zone that is like a description, from some time on; null: none. */
  readonly #compared = new Map<string, { name: string | null; fromMs: number }>()
  /** By TZID, for each object that is being read. */
  readonly #described = new WeakMap<Component, ReadonlyMap<string, Description>>()

  /**
   * The zone of a time, as `EventTime` has it. The name of a region counts more than the object's description, because rules of zones change.
   * Other names (`EST`, `GMT-0500`, `Customized Time Zone`) mean what the object describes. `nearMs` is when the event starts, roughly.
   */
  resolve(tzid: string, calendar: Component, nearMs: number): string | null {
    const name = unescaped(tzid)
    const region = this.#findRegion(name)
    if (region !== undefined) return region
    const described = this.#descriptionsIn(calendar).get(name)
    if (described !== undefined) return described.region ?? this.#zoneLike(described, nearMs) ?? described.text
    return ianaZone(name) ?? offsetZone(name) ?? null
  }

  #zoneLike({ own, text }: Description, nearMs: number): string | null {
    const period = Math.round(nearMs / COMPARED_MS)
    const key = `${period} ${text}`
    const cached = this.#compared.get(key)
    if (cached !== undefined && (cached.name === null || nearMs >= cached.fromMs)) return cached.name
    if (cached === undefined && this.#compared.size >= MAX_COMPARED) return null
    // A zone that was like the description from a later event on may differ before it.
    const fromMs = cached === undefined ? nearMs : (period - 0.5) * COMPARED_MS
    const name = zoneLike(own, fromMs) ?? null
    this.#compared.set(key, { name, fromMs })
    return name
  }

  #findRegion(name: string): string | undefined {
    if (this.#regions.has(name) || this.#regions.size >= MAX_NAMES) return this.#regions.get(name)
    const region = regionZone(name)
    this.#regions.set(name, region)
    return region
  }

  /** An object may have as many zones as events, so they are found once. */
  #descriptionsIn(calendar: Component): ReadonlyMap<string, Description> {
    const cached = this.#described.get(calendar)
    if (cached !== undefined) return cached
    const found = new Map<string, Description>()
    for (const component of calendar.components) {
      if (component.name !== 'VTIMEZONE' || found.size >= MAX_DESCRIBED) continue
      const own = readOwnZone(component)
      if (own !== undefined && own.tzid !== '' && !found.has(own.tzid)) {
        found.set(own.tzid, { region: readLocationZone(component), own, text: ownZoneText(own) })
      }
    }
    this.#described.set(calendar, found)
    return found
  }
}

/** `UTC+05:30`, which IANA has no zone for. */
function offsetZone(tzid: string): string | undefined {
  const [, sign, hours, minutes] = /^(?:utc|gmt)?\s?([+-])(\d{2}):?(\d{2})$/i.exec(tzid) ?? []
  if (hours === undefined) return undefined
  const seconds = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60 : 60)
  return ownZoneText({
    tzid,
    observances: [{ onsets: ['1970-01-01T00:00:00'], before: seconds, offset: seconds, rule: null }],
  })
}

/** TZID is a TEXT, and programs escape it in parameters, too. */
function unescaped(tzid: string): string {
  return tzid.replaceAll(/\\([\\;,])/g, '$1').trim()
}

function readLocationZone(described: Component): string | undefined {
  return regionZone(property(described, 'X-LIC-LOCATION')?.value ?? '')
}

/** The zone that a VTIMEZONE names or describes. Undefined where it does neither. */
export function zoneOfDescription(described: Component, nearMs: number): string | undefined {
  const tzid = readText(described, 'TZID')
  const region = regionZone(tzid) ?? readLocationZone(described)
  if (region !== undefined) return region
  const own = readOwnZone(described)
  if (own === undefined) return ianaZone(tzid)
  return zoneLike(own, nearMs) ?? ownZoneText(own)
}

/** The zone of IANA that has the same offsets in the years around, and changes its clocks at the same times. */
function zoneLike(own: OwnZone, nearMs: number): string | undefined {
  const read = ownOffsets(own)
  const samples: { ms: number; offsetMs: number }[] = []
  for (let ms = nearMs; ms < nearMs + COMPARED_MS; ms += SAMPLE_MS) samples.push({ ms, offsetMs: read(ms) })
  const [first] = samples
  for (const name of COMPARED) {
    const zone = findZone(name)
    // Most zones differ in the first one, which is cheap to read.
    if (zone === undefined || first === undefined || zone.readOffset(first.ms) !== first.offsetMs) continue
    if (!samples.every(({ ms, offsetMs }) => zone.toLocal(ms) - ms === offsetMs)) continue
    // Israel and Greece have the same offsets, but for two days of March.
    const isSame = ({ atMs, beforeMs, afterMs }: ClockChange) =>
      read(atMs - 1000) === beforeMs && read(atMs) === afterMs
    if (changesNear(zone, nearMs).every(isSame)) return name
  }
  return undefined
}

/** In the years that are compared. */
function changesNear(zone: Zone, nearMs: number): ClockChange[] {
  const untilMs = nearMs + COMPARED_MS
  const yearOf = (ms: number) => civilDate(Math.floor(ms / DAY_MS)).year
  return zone.changes(yearOf(nearMs), yearOf(untilMs)).filter(({ atMs }) => atMs >= nearMs && atMs < untilMs)
}
