import { mergeRanges, type TimeRange } from '../../src/providers/contract/index.ts'
import { type GeneratedCalendar, randomCalendar, type Unit } from '../kit/calendars/proof/calendar.ts'
import { openChoices } from '../kit/calendars/proof/choices.ts'
import { SHAPES, type Shape } from '../kit/calendars/proof/described.ts'
import { utcText } from '../kit/calendars/proof/instants.ts'
import { CHANGED_ZONES } from '../kit/calendars/proof/place.ts'
import { bookableStarts, CalendarReader, rowText } from '../kit/calendars/proof/posthorn.ts'
import { type Expected, expectedByPython } from '../kit/calendars/proof/python.ts'

/** Counts the objects or events of a kind in one shape. */
interface Count {
  units: number
  instances: number
}

export interface CalendarProof {
  calendars: number
  instances: number
  slots: number
  /** By kind of event. */
  kinds: Map<string, Record<Shape, Count>>
  /** Units by the name of a judged difference. */
  judged: Map<string, Record<Shape, number>>
  /** Why each judged difference is right. */
  reasons: Record<string, string>
  newerZones: Record<string, string>
  /** Differences that nobody has judged: calendar, shape, times and the text of the object. */
  unknown: string[]
}

const AT_ONCE = 50
const MINUTE_MS = 60_000

/** Compares generated calendars, read and expanded by Posthorn, with what python-dateutil makes of them. */
export async function proveCalendars(next: () => number, count: number): Promise<CalendarProof> {
  const choices = openChoices(next)
  const proof: CalendarProof = {
    calendars: 0,
    instances: 0,
    slots: 0,
    kinds: new Map(),
    judged: new Map(),
    reasons: {},
    newerZones: {},
    unknown: [],
  }
  while (proof.calendars < count) {
    const size = Math.min(AT_ONCE, count - proof.calendars)
    const calendars = Array.from({ length: size }, (_, index) => randomCalendar(choices, proof.calendars + index))
    const { calendars: expected, judged, newerZones } = expectedByPython(calendars)
    proof.reasons = judged
    proof.newerZones = newerZones
    for (const [zone, from] of Object.entries(newerZones)) {
      if (from < (CHANGED_ZONES[zone] ?? '9999'))
        proof.unknown.push(`${zone} differs from the zone of the system from ${from} on`)
    }
    for (const [index, calendar] of calendars.entries()) {
      for (const shape of SHAPES) await compare(proof, calendar, shape, expected[index]?.[shape])
    }
    proof.calendars += size
  }
  return proof
}

async function compare(
  proof: CalendarProof,
  calendar: GeneratedCalendar,
  shape: Shape,
  expected: Expected | undefined,
): Promise<void> {
  const reader = new CalendarReader(calendar)
  const busy: TimeRange[] = []
  for (const [index, unit] of calendar.shapes[shape].entries()) {
    const { rows: expectedRows, judged } = expected?.units[index] ?? { rows: ['nothing'], judged: [] }
    const rows = await reader.rows(shape, unit)
    busy.push(...rows.filter(({ isBusy }) => isBusy))
    const actualRows = rows.map(rowText)
    if (actualRows.join() !== expectedRows.join())
      proof.unknown.push(describeUnit(calendar, shape, unit, actualRows, expectedRows))
    countUnit(proof, shape, unit, expectedRows.length, judged)
  }
  const merged = mergeRanges(busy)
  const busyHere = merged.map(({ from, to }) => `${utcText(from)}/${utcText(to)}`)
  note(proof, calendar, `${shape}, busy times`, busyHere, expected?.busy ?? [])
  const starts = await bookableStarts(calendar.slots, calendar.window, merged)
  const slots = starts.map(utcText)
  note(proof, calendar, `${shape}, slots ${JSON.stringify(calendar.slots)}`, slots, expected?.slots ?? [])
  for (const text of overlaps(calendar, starts, expected?.busy ?? [])) {
    proof.unknown.push(`calendar ${calendar.number}, ${shape}: ${text}`)
  }
  proof.slots += starts.length
}

/** Slots, with their buffers, that overlap a time that is busy by dateutil. */
function overlaps({ slots }: GeneratedCalendar, starts: readonly number[], busy: readonly string[]): string[] {
  const times = busy.map((text) => text.split('/').map((text) => Date.parse(text)))
  return starts.flatMap((start) => {
    const from = start - slots.before * MINUTE_MS
    const to = start + (slots.length + slots.after) * MINUTE_MS
    const found = times.find(([begin = 0, end = 0]) => begin < to && end > from)
    return found === undefined ? [] : [`the slot at ${utcText(start)} overlaps ${found.map(utcText).join('/')}`]
  })
}

function countUnit(proof: CalendarProof, shape: Shape, { kinds }: Unit, instances: number, judged: string[]): void {
  proof.instances += instances
  for (const kind of kinds) {
    const none = () => ({ units: 0, instances: 0 })
    const counts = proof.kinds.get(kind) ?? { caldav: none(), google: none(), microsoft: none() }
    counts[shape].units += 1
    counts[shape].instances += instances
    proof.kinds.set(kind, counts)
  }
  for (const name of judged) {
    const counts = proof.judged.get(name) ?? { caldav: 0, google: 0, microsoft: 0 }
    counts[shape] += 1
    proof.judged.set(name, counts)
  }
}

function note(
  proof: CalendarProof,
  calendar: GeneratedCalendar,
  what: string,
  actualRows: string[],
  expectedRows: string[],
): void {
  if (actualRows.join() === expectedRows.join()) return
  proof.unknown.push(
    [`calendar ${calendar.number}, ${what}`, ...describeDifference(actualRows, expectedRows)].join('\n'),
  )
}

function describeUnit(
  calendar: GeneratedCalendar,
  shape: Shape,
  unit: Unit,
  actualRows: string[],
  expectedRows: string[],
): string {
  const text = typeof unit.written === 'string' ? unit.written : JSON.stringify(unit.written, null, 1)
  const head = `calendar ${calendar.number} in ${calendar.zone}, ${shape}: ${unit.kinds.join(', ')}`
  const window = `${utcText(calendar.window.from)} to ${utcText(calendar.window.to)}`
  return [head, window, ...describeDifference(actualRows, expectedRows), text].join('\n')
}

const SHOWN = 6

function describeDifference(actualRows: readonly string[], expectedRows: readonly string[]): string[] {
  const only = (one: readonly string[], other: readonly string[]) => one.filter((text) => !other.includes(text))
  const shown = (texts: string[]) => `${texts.length}: ${texts.slice(0, SHOWN).join(' ')}`
  return [
    `only Posthorn ${shown(only(actualRows, expectedRows))}`,
    `only dateutil ${shown(only(expectedRows, actualRows))}`,
  ]
}

/** Tables in Markdown. */
export function formatReport(proof: CalendarProof): string {
  const { calendars, instances, slots, kinds, judged, reasons, newerZones, unknown } = proof
  const cells = (counts: Record<Shape, Count>) =>
    SHAPES.map((shape) => (counts[shape].units === 0 ? '–' : `${counts[shape].units} (${counts[shape].instances})`))
  const names = [...kinds].sort(([one], [other]) => one.localeCompare(other))
  const rows = names.map(([kind, counts]) => `| ${[kind, ...cells(counts)].join(' | ')} |`)
  const differences = Object.entries(reasons).map(([name, reason]) => {
    const counts = SHAPES.map((shape) => judged.get(name)?.[shape] ?? 0)
    return `| ${[name, ...counts, reason].join(' | ')} |`
  })
  const together = judged.get('several together')
  return [
    `${calendars} calendars, ${instances} instances, ${slots} slots, ${unknown.length} unknown differences`,
    '',
    '| events (instances) | CalDAV | Google | Graph |',
    '|---|---|---|---|',
    ...rows,
    '',
    '| judged differences | CalDAV | Google | Graph | reason |',
    '|---|---|---|---|---|',
    ...differences,
    ...(together === undefined
      ? []
      : [
          `| several together | ${SHAPES.map((shape) => together[shape]).join(' | ')} | Each of them hides the others. |`,
        ]),
    ...Object.entries(newerZones).map(([zone, from]) => `newer time zone: ${zone} from ${from} on`),
  ].join('\n')
}
