import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, toDay } from '../days.ts'
import { LINKS, RELEASED, VERSION, ZONES } from '../generated/zone-table.ts'
import { type OffsetChange, offsetReader, type ReadOffset, type ZoneClock } from './clock.ts'
import { readTzif } from './tzif.ts'

/** The time zone database of IANA, as one of those at hand has it. */
export interface ZoneDatabase {
  /** `shipped`: with this program. `system`: the operating system's zoneinfo. `runtime`: Node's `Intl`. */
  source: 'shipped' | 'system' | 'runtime'
  /** `2026f` */
  version: string
  /** The day on which this version was packaged or, of `runtime`, the version that is shipped and older. `YYYY-MM-DD`. */
  released: string
  /** Undefined for a zone that it does not have. The name is spelled as IANA does. */
  read(name: string): ReadOffset | undefined
}

const SHIPPED: ZoneDatabase = {
  source: 'shipped',
  version: VERSION,
  released: RELEASED,
  read(name) {
    const packed = ZONES.get(LINKS.get(name) ?? name)
    return packed === undefined ? undefined : offsetReader(unpackClock(packed))
  },
}

const SYSTEM_FOLDER = '/usr/share/zoneinfo'

let chosen: ZoneDatabase | undefined

/** The newest that is at hand. It stays the same until the process ends. */
export function zoneDatabase(): ZoneDatabase {
  chosen ??= newest([SHIPPED, systemDatabase(SYSTEM_FOLDER), runtimeDatabase(process.versions.tz)])
  return chosen
}

/** Returns the database with the latest version; among equals, the first one. */
export function newest(databases: readonly (ZoneDatabase | undefined)[]): ZoneDatabase {
  let found = SHIPPED
  for (const database of databases) if (database !== undefined && database.version > found.version) found = database
  return found
}

/** The compiled zones of a folder. Undefined when it has none, or does not say which version they are. */
export function systemDatabase(folder: string): ZoneDatabase | undefined {
  const index = join(folder, 'tzdata.zi')
  const version = /^# version (\d{4}[a-z]{1,2})\b/.exec(readText(index) ?? '')?.[1]
  if (version === undefined) return undefined
  return {
    source: 'system',
    version,
    released: statSync(index).mtime.toISOString().slice(0, 10),
    read(name) {
      const bytes = readBytes(join(folder, name))
      const clock = bytes === undefined ? undefined : readTzif(bytes)
      return clock === undefined ? SHIPPED.read(name) : offsetReader(clock)
    },
  }
}

/** `version`: of the database that Node was built with. */
export function runtimeDatabase(version = ''): ZoneDatabase {
  return { source: 'runtime', version, released: RELEASED, read: runtimeReader }
}

function readText(path: string): string | undefined {
  return readBytes(path)?.toString('latin1')
}

/** Undefined for what is not there, or is no file that may be read. */
function readBytes(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}

/** Names in the spelling of IANA by the same in lower case. */
const NAMES: ReadonlyMap<string, string> = new Map(
  [...ZONES.keys(), ...LINKS.keys()].map((name) => [name.toLowerCase(), name]),
)

const REGION = /^[A-Za-z][\w+-]{1,30}(?:\/[A-Za-z][\w+-]{1,30}){1,2}$/

/**
 * The name as IANA spells it, whatever its case. Undefined for other names: `Intl` knows some that mean different zones in different
 * countries, such as BST. A region may be newer than the shipped names.
 */
export function spelledZone(name: string): string | undefined {
  return NAMES.get(name.toLowerCase()) ?? (REGION.test(name) ? name : undefined)
}

/**
 * Reads a zone of the shipped table, as `scripts/zone-table.mjs` wrote it: its offsets, the first of which is the initial one; for each
 * change the index of its offset and the seconds since the change before; the footer. Numbers are in base 36.
 *
 *     2h4 2s0 5k0|1-1421154 2c1n0x4 17ves0 …|CET-1CEST,M3.5.0,M10.5.0/3
 */
function unpackClock(packed: string): ZoneClock {
  const [offsetsText = '', changesText = '', footer = ''] = packed.split('|')
  const offsets = offsetsText.split(' ').map((text) => Number.parseInt(text, 36))
  const changes: OffsetChange[] = []
  let at = 0
  for (const text of changesText === '' ? [] : changesText.split(' ')) {
    at += Number.parseInt(text.slice(1), 36)
    changes.push({ at, offset: offsets[Number.parseInt(text.charAt(0), 36)] ?? 0 })
  }
  return { initial: offsets[0] ?? 0, changes, footer }
}

/** Local mean time applies to everything before. */
const FIRST_MS = toDay(1800, 1, 1) * DAY_MS

/** Offsets as `Intl` has them, at a microsecond each. Undefined for a zone that it does not know. */
export function runtimeReader(name: string): ReadOffset | undefined {
  const format = formatIn(name)
  if (format === undefined) return undefined
  return (utcMs) => {
    const atMs = Math.floor(Math.max(utcMs, FIRST_MS) / 1000) * 1000
    const [month = 0, day = 0, year = 0, hours = 0, minutes = 0, seconds = 0] = (
      format.format(atMs).match(/\d+/g) ?? []
    ).map(Number)
    return toDay(year, month, day) * DAY_MS + (hours * 3600 + minutes * 60 + seconds) * 1000 - atMs
  }
}

function formatIn(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
