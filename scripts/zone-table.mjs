// Writes src/platform/calendar/generated/zone-table.ts from the system's time zone database, if that is newer (Debian's package tzdata;
// ZONEINFO names another folder). Part of `npm run generate`.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePosixRule } from '../src/platform/calendar/zone-data/posix-rule.ts'
import { readTzif } from '../src/platform/calendar/zone-data/tzif.ts'

const FILE = new URL('../src/platform/calendar/generated/zone-table.ts', import.meta.url)
const SAMPLE_SECONDS = 10 * 86_400

/** Returns the version that was written, if any. */
export function updateZoneTable(folder = process.env.ZONEINFO ?? '/usr/share/zoneinfo') {
  const index = join(folder, 'tzdata.zi')
  if (!existsSync(index)) return undefined
  const source = readFileSync(index, 'utf8')
  const version = /^# version (\d{4}[a-z]+)/.exec(source)?.[1]
  const shipped = existsSync(FILE) ? /VERSION = '(\w+)'/.exec(readFileSync(FILE, 'utf8'))?.[1] : undefined
  if (version === undefined || (shipped !== undefined && version <= shipped)) return undefined
  const released = statSync(index).mtime.toISOString().slice(0, 10)
  writeFileSync(FILE, buildTable(source, folder, version, released))
  return version
}

function buildTable(source, folder, version, released) {
  const zones = [...source.matchAll(/^Z (\S+)/gm)].map(([, name]) => name)
  const links = [...source.matchAll(/^L (\S+) (\S+)/gm)].map(([, target, name]) => [name, target])
  const packed = zones.map((name) => [name, packClock(readTzif(readFileSync(join(folder, name))))])
  return `// Written by scripts/zone-table.mjs from the time zone database of IANA, which is in the public domain.

export const VERSION = '${version}'
/** When this version was packaged. */
export const RELEASED = '${released}'

/** Zones as \`unpackClock\` reads them. */
export const ZONES: ReadonlyMap<string, string> = new Map([
${lines(packed)}
])

/** Other names of zones. */
export const LINKS: ReadonlyMap<string, string> = new Map([
${lines(links)}
])
`
}

function lines(pairs) {
  return pairs
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `  ['${name}', '${value}'],`)
    .join('\n')
}

/** As `unpackClock` describes it. */
function packClock(clock) {
  const { initial, footer } = clock
  const changes = withoutFooterChanges(clock)
  const offsets = [...new Set([initial, ...changes.map(({ offset }) => offset)])]
  let before = 0
  const packed = changes.map(({ at, offset }) => {
    const text = `${offsets.indexOf(offset).toString(36)}${(at - before).toString(36)}`
    before = at
    return text
  })
  return [offsets.map((offset) => offset.toString(36)).join(' '), packed.join(' '), footer].join('|')
}

/** Debian's files list the changes until 2037, although the footer says the same. The first of these changes stays. */
function withoutFooterChanges({ changes, footer }) {
  const rule = parsePosixRule(footer)
  if (rule === undefined) return changes
  let length = changes.length
  while (length > 1 && isOfRule(rule, changes[length - 2], changes[length - 1])) length -= 1
  return changes.slice(0, length)
}

/** Whether the rule has both changes and none between them. */
function isOfRule(rule, before, change) {
  for (let at = before.at; at < change.at; at += SAMPLE_SECONDS) if (rule.offsetAt(at) !== before.offset) return false
  return rule.offsetAt(change.at - 1) === before.offset && rule.offsetAt(change.at) === change.offset
}
