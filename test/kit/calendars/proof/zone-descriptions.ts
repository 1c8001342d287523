import { formatLocal } from '../../../../src/platform/calendar/days.ts'
import { formatObject, offsetText } from '../../../../src/platform/calendar/formatting.ts'
import { describeZone } from '../../../../src/platform/calendar/write-vtimezone.ts'
import type { Choices } from './choices.ts'
import type { ZoneForm } from './described.ts'
import { FIRST_YEAR, LAST_YEAR, type Place, ZONES, zoneNamed } from './place.ts'
import { basic } from './times.ts'

/** The TZID of a zone in some form, and the lines of its VTIMEZONE if the object has one. */
export function zoneNames(zone: string, form: ZoneForm, ownZone: string[]): { tzid: string; lines: string[] } {
  const city = zone.split('/').at(-1) ?? ''
  switch (form) {
    case 'own':
      return { tzid: OWN_NAME, lines: ownZone }
    case 'stale':
      return { tzid: zone, lines: described(zone, constant(7)) }
    case 'windows':
      return { tzid: ZONES[zone] ?? zone, lines: described(ZONES[zone] ?? zone, findDates(zone)) }
    case 'path':
      return { tzid: `/freeassociation.sourceforge.net/${zone}`, lines: [] }
    case 'comment':
      return { tzid: `${zone} (GMT)`, lines: [] }
    case 'dates':
      return { tzid: `Office in ${city}`, lines: described(`Office in ${city}`, findDates(zone)) }
    case 'rules':
      return { tzid: `Rules, ${city}`, lines: describeRules(zone, `Rules\\, ${city}`) }
    case 'outlook':
      return { tzid: `Customized ${city}`, lines: describeRules(zone, `Customized ${city}`).map(sinceEver) }
    case 'location':
      return { tzid: `At ${city}`, lines: described(`At ${city}`, [`X-LIC-LOCATION:${zone}`, ...constant(-3)]) }
    case 'region':
      return { tzid: zone, lines: [] }
  }
}

const OWN_NAME = 'Works'

/** A zone with a clock change near the place, of which the world has none. */
export function ownDescription(choices: Choices, { changeLocalMs }: Place): string[] {
  const minutes = choices.whole(-40, 50) * 15 + choices.pick([0, 0, 5])
  const summer = minutes + choices.pick([20, 30, 60, 60, 120])
  const [, month = '01', day = '01'] = formatLocal(changeLocalMs).slice(0, 10).split('-')
  const monthDay = Math.min(28, Number(day))
  const other = ((Number(month) + 5) % 12) + 1
  const clock = choices.pick(['000000', '010000', '020000', '030000', '233000'])
  const [first, second] = choices.is(0.5) ? [summer, minutes] : [minutes, summer]
  return described(OWN_NAME, [
    ...yearly(Number(month), monthDay, clock, second, first),
    ...yearly(other, monthDay, clock, first, second),
  ])
}

function yearly(month: number, day: number, clock: string, before: number, after: number): string[] {
  const [two, days] = [month, day].map((value) => String(value).padStart(2, '0'))
  return observance(before, after, [
    `DTSTART:2019${two}${days}T${clock}`,
    `RRULE:FREQ=YEARLY;BYMONTH=${month};BYMONTHDAY=${day}`,
  ])
}

/** Every clock change by its date. */
function findDates(zone: string): string[] {
  const changes = zoneNamed(zone).changes(FIRST_YEAR - 4, LAST_YEAR + 3)
  if (changes.length === 0) return constant(zoneNamed(zone).readOffset(Date.UTC(FIRST_YEAR, 0, 1)) / 3_600_000)
  return changes.flatMap(({ atMs, beforeMs, afterMs }) =>
    observance(beforeMs / 60_000, afterMs / 60_000, [`DTSTART:${basic(formatLocal(atMs + beforeMs))}`]),
  )
}

/** As Posthorn describes zones to others. */
function describeRules(zone: string, tzid: string): string[] {
  const component = describeZone(zone, Date.UTC(FIRST_YEAR - 3, 6, 1))
  if (component === undefined) return []
  return formatObject({ ...component, lines: [`TZID:${tzid}`] })
    .trimEnd()
    .split('\r\n')
}

/** Outlook begins its rules in the year 1601, on a day that they do not match. */
function sinceEver(line: string, index: number, lines: readonly string[]): string {
  const hasRule = lines[index + 3]?.startsWith('RRULE') === true
  return hasRule ? line.replace(/^DTSTART:\d{8}/, 'DTSTART:16010101') : line
}

function described(tzid: string, lines: string[]): string[] {
  return ['BEGIN:VTIMEZONE', `TZID:${tzid}`, ...lines, 'END:VTIMEZONE']
}

function constant(hours: number): string[] {
  return observance(hours * 60, hours * 60, ['DTSTART:19700101T000000'])
}

function observance(before: number, after: number, lines: string[]): string[] {
  const name = after > before ? 'DAYLIGHT' : 'STANDARD'
  const [from, to] = [before, after].map((minutes) => offsetText(minutes * 60_000))
  return [`BEGIN:${name}`, `TZOFFSETFROM:${from}`, `TZOFFSETTO:${to}`, ...lines, `END:${name}`]
}
