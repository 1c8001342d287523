import { WINDOWS_NAMES } from './generated/windows-names.ts'
import { WINDOWS_ZONES } from './generated/windows-zones.ts'
import { findZone } from './zone.ts'

/** Longer names belong to no zone. */
const MAX_LENGTH = 200
const FIXED_OFFSET = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?00)?$/i

/**
 * The IANA name of a zone that calendar programs call something else. Undefined when no rule applies:
 *
 *     Europe/Berlin (GMT+1)                 and the other names of `regionZone`
 *     EST, GMT
 *     UTC+01:00
 */
export function ianaZone(text: string): string | undefined {
  const name = withoutQuotes(text)
  if (name === undefined) return undefined
  return regionZone(name) ?? spelled(name) ?? spelled(withoutComment(name)) ?? fixedOffset(name.replaceAll(' ', ''))
}

/**
 * The same for names that mean one zone of the world, whatever else is said about it:
 *
 *     Europe/Berlin, europe/berlin, UTC
 *     W. Europe Standard Time               Windows, by the table of CLDR
 *     /mozilla.org/20050126_1/Europe/Berlin, tzone://Microsoft/Utc
 *     Europe/Berlin (GMT+1)
 */
export function regionZone(text: string): string | undefined {
  const name = withoutQuotes(text)
  if (name === undefined) return undefined
  const bare = withoutComment(name)
  return region(name) ?? windowsRegion(name) ?? region(bare) ?? windowsRegion(bare) ?? endOfPath(name)
}

function withoutQuotes(text: string): string | undefined {
  return text.length > MAX_LENGTH ? undefined : text.trim().replace(/^"(.*)"$/, '$1')
}

function withoutComment(name: string): string {
  return name.replace(/\s*\([^()]*\)$/, '')
}

function spelled(name: string): string | undefined {
  return findZone(name)?.name
}

/** Abbreviations such as EST have no part before a slash. */
function region(name: string): string | undefined {
  return name.includes('/') || /^utc$/i.test(name) ? spelled(name) : undefined
}

function windowsRegion(name: string): string | undefined {
  return WINDOWS_ZONES.get(name.toLowerCase())
}

function endOfPath(name: string): string | undefined {
  const segments = name.split('/')
  for (const length of [3, 2, 1]) {
    const found = segments.length > length ? region(segments.slice(-length).join('/')) : undefined
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

/** Returns Windows' name for an IANA zone; the IANA name where it has none. */
export function windowsZone(ianaName: string): string {
  return ianaName === 'UTC' ? 'UTC' : (WINDOWS_NAMES.get(ianaName) ?? ianaName)
}
