// Writes windows-zones.ts and windows-names.ts in src/platform/calendar/generated from the data of Unicode CLDR, for a new release of
// it:
//
//     npm install --no-save cldr-core cldr-bcp47 && node scripts/windows-zones.mjs
import { readFileSync, writeFileSync } from 'node:fs'

const read = (path) => JSON.parse(readFileSync(`node_modules/${path}`, 'utf8'))

const { version } = read('cldr-core/package.json')
const { mapTimezones } = read('cldr-core/supplemental/windowsZones.json').supplemental.windowsZones

/** CLDR keeps the oldest name of a zone; `_iana` is the present one. */
const present = new Map(
  Object.values(read('cldr-bcp47/bcp47/timezone.json').keyword.u.tz)
    .filter((zone) => typeof zone === 'object' && zone._iana !== undefined)
    .flatMap((zone) => zone._alias.split(' ').map((alias) => [alias, zone._iana])),
)

const zones = mapTimezones.map(({ mapZone }) => mapZone)

const lines = zones
  // 001 is the world: the zone that Windows means where the country is not known.
  .filter(({ _territory }) => _territory === '001')
  .map(({ _other, _type }) => `  ['${_other.toLowerCase()}', '${present.get(_type) ?? _type}'],`)

/** By the oldest name and the present one. */
const names = new Map(
  zones.flatMap(({ _other, _type }) =>
    _type.split(' ').flatMap((zone) => [zone, present.get(zone) ?? zone].map((name) => [name, _other])),
  ),
)

const HEADER = `// Written by scripts/windows-zones.mjs from Unicode CLDR ${version}. Copyright \u00a9 1991-2026 Unicode, Inc., Unicode License v3
// (https://www.unicode.org/license.txt).`

write(
  'windows-zones.ts',
  `${HEADER}
/** IANA zones by the name of the zone in Windows, in lower case. */
export const WINDOWS_ZONES: ReadonlyMap<string, string> = new Map([
${lines.join('\n')}
])
`,
)
write(
  'windows-names.ts',
  `${HEADER}
/** Names of zones in Windows by the IANA name. */
export const WINDOWS_NAMES: ReadonlyMap<string, string> = new Map([
${[...names]
  .sort()
  .map(([zone, name]) => `  ['${zone}', '${name}'],`)
  .join('\n')}
])
`,
)

function write(name, text) {
  writeFileSync(new URL(`../src/platform/calendar/generated/${name}`, import.meta.url), text)
}
