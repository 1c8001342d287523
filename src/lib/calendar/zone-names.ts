import { WINDOWS_NAMES } from './windows-names.ts'
import { WINDOWS_ZONES } from './windows-zones.ts'
import { zoneOf } from './zone.ts'

/** Longer names belong to no zone. */
const MAX_LENGTH = 200
const FIXED_OFFSET = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?00)?$/i

/**
 * The IANA name of a zone that calendar programs call something else:
 *
 *     W. Europe Standard Time               Windows, by the table of CLDR
 *     /mozilla.org/20050126_1/Europe/Berlin, tzone://Microsoft/Utc
 *     Europe/Berlin (GMT+1)
 *     europe/berlin
 *     UTC+01:00
 *
 * Undefined when no rule applies.
 */
export function ianaZone(given: string): string | undefined {
  if (given.length > MAX_LENGTH) return undefined
  const name = given.trim().replace(/^"(.*)"$/, '$1')
  return (
    spelled(name) ??
    WINDOWS_ZONES.get(name.toLowerCase()) ??
    withoutComment(name) ??
    endOfPath(name) ??
    fixedOffset(name.replaceAll(' ', ''))
  )
}

function spelled(name: string): string | undefined {
  return zoneOf(name)?.name
}

function withoutComment(name: string): string | undefined {
  const bare = name.replace(/\s*\([^()]*\)$/, '')
  return bare === name || bare === '' ? undefined : ianaZone(bare)
}

function endOfPath(name: string): string | undefined {
  const segments = name.split('/')
  for (const length of [3, 2, 1]) {
    const found = segments.length > length ? spelled(segments.slice(-length).join('/')) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** The signs of `Etc/GMT-1` are those of POSIX: it is an hour ahead of UTC. */
function fixedOffset(name: string): string | undefined {
  const [, sign, hours] = FIXED_OFFSET.exec(name) ?? []
  if (hours === undefined) return undefined
  return spelled(Number(hours) === 0 ? 'UTC' : `Etc/GMT${sign === '+' ? '-' : '+'}${Number(hours)}`)
}

/** What Windows calls an IANA zone; the IANA name where it has none. */
export function windowsZone(ianaName: string): string {
  return ianaName === 'UTC' ? 'UTC' : (WINDOWS_NAMES.get(ianaName) ?? ianaName)
}
