import type { ZoneDatabase } from '../../platform/calendar/zone-data/database.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type Check, type Finding, ok, warning } from './check.ts'

type Used = Pick<ZoneDatabase, 'source' | 'version' | 'released'>

const OLD_MS = 183 * 24 * 60 * 60 * 1000

/** Whether the time zone database may lack what governments decided since: it changes several times a year. */
export function timeZonesCheck(database: () => Used, clock: Clock): Check {
  return { name: 'time zones', run: async () => check(database(), clock.now()) }
}

const SOURCES = { shipped: 'this program', system: 'the operating system', runtime: 'Node.js' } as const

function check({ source, version, released }: Used, nowMs: number): Finding {
  const message = `Those of ${SOURCES[source]} are used: version ${version}, of ${released}.`
  if (nowMs - Date.parse(released) < OLD_MS) return ok(message)
  return warning(
    message,
    "Update Posthorn or the operating system's zoneinfo (Debian: tzdata), and restart. Times are wrong where rules have changed since.",
  )
}
