import { spawnSync } from 'node:child_process'
import type { GeneratedCalendar } from './calendar.ts'
import { ME, type Shape } from './described.ts'
import { FIRST_YEAR, LAST_YEAR, ZONE_NAMES, ZONES, zoneNamed } from './place.ts'

/** The results of dateutil for a calendar. Times are in UTC. */
export interface Expected {
  /** In the order of the units. `judged` names the differences without which the rows would be others. */
  units: { rows: string[]; judged: string[] }[]
  /** `start/end`, joined. */
  busy: string[]
  /** Starts of slots. */
  slots: string[]
}

export interface PythonResult {
  calendars: Record<Shape, Expected>[]
  /** The reasons of the judged differences, by name. */
  judged: Record<string, string>
  /** Zones that the system knows in an older version, and when they differ first. */
  newerZones: Record<string, string>
}

const PYTHON = '/usr/bin/python3'
const SCRIPT = 'test/kit/calendars/proof/python/expected.py'
const MAX_BYTES = 1024 ** 3

export function expectedByPython(calendars: readonly GeneratedCalendar[]): PythonResult {
  const windows = Object.entries(ZONES).filter(([, name]) => name !== null)
  const input = JSON.stringify({
    me: ME,
    windows: Object.fromEntries(windows.map(([zone, name]) => [name, zone])),
    zones: clockChanges(),
    calendars: calendars.map(({ zone, window, shapes, slots }) => ({
      zone,
      slots,
      window: [window.from, window.to],
      shapes: Object.fromEntries(
        Object.entries(shapes).map(([shape, units]) => [shape, units.map(({ input }) => input)]),
      ),
    })),
  })
  const { status, stdout, stderr, error } = spawnSync(PYTHON, ['-B', SCRIPT], { input, maxBuffer: MAX_BYTES })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${PYTHON} ${SCRIPT} failed. It needs python3-dateutil.\n${stderr.toString()}`)
  return JSON.parse(stdout.toString())
}

/** Lists the clock changes of Posthorn's zone database: the first offset, then each change and the offset after it. */
function clockChanges(): Record<string, [first: number, changes: [atMs: number, offsetMs: number][]]> {
  return Object.fromEntries(
    ZONE_NAMES.map((name) => {
      const changes = zoneNamed(name).changes(FIRST_YEAR - 5, LAST_YEAR + 4)
      const first = zoneNamed(name).readOffset(Date.UTC(FIRST_YEAR - 5, 0, 1))
      return [name, [first, changes.map(({ atMs, afterMs }) => [atMs, afterMs])]]
    }),
  )
}
