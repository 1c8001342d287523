import { formatObject } from '../../../platform/calendar/formatting.ts'

/** A vCard (RFC 2426, RFC 6350) as its unfolded lines, without BEGIN and END. Lines that nobody changes are written as they were read. */
export interface Card {
  lines: string[]
}

/** A line such as `item1.EMAIL;TYPE=work:ann@example.com`. */
export interface CardLine {
  /** `item1`, which connects it with the lines of the same group; empty without one. */
  group: string
  /** In upper case. */
  name: string
  /** The values of each parameter by its name in upper case. Values without a name, as vCard 2.1 has them, are of TYPE. */
  parameters: Map<string, string[]>
  value: string
}

/** Why a text is not read as a vCard. */
export type CardProblem = 'no_card' | 'too_long' | 'too_many_lines'

/** A group has a line for each member. */
const MAX_LINES = 20_000
/** Limits a card without its photos, sounds and keys. */
const MAX_LENGTH = 1024 * 1024
/** Limits a card that is written again, with its photos. */
const MAX_WRITTEN_LENGTH = 16 * 1024 * 1024
const MAX_PARAMETERS = 50

/** A property with the contents of a file, and the lines that continue it. */
const FILE = /^((?:[\w-]+\.)?(?:PHOTO|LOGO|SOUND|KEY)[;:])(.{0,200}).*(?:\r?\n[ \t].*)*/gim

/**
 * Parses the first vCard of a text: with a byte order mark, any line ends, and the soft line breaks of vCard 2.1. `files: 'skip'` leaves
 * out the contents of photos, which may have megabytes.
 */
export function parseCard(
  text: string,
  { files = 'keep' }: { files?: 'keep' | 'skip' } = {},
): Card | { problem: CardProblem } {
  // Old programs end lines with CR alone.
  const whole = text.includes('\n') ? text : text.replaceAll('\r', '\n')
  const read = files === 'skip' ? whole.replaceAll(FILE, '$1$2') : whole
  if (read.length > (files === 'skip' ? MAX_LENGTH : MAX_WRITTEN_LENGTH)) return { problem: 'too_long' }
  const lines = read
    .replace(/^\ufeff+/, '')
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/, MAX_LINES + 1)
  if (lines.length > MAX_LINES) return { problem: 'too_many_lines' }
  const start = lines.findIndex((line) => /^BEGIN:VCARD\s*$/i.test(line))
  if (start === -1) return { problem: 'no_card' }
  const length = lines.slice(start).findIndex((line) => /^END:VCARD\s*$/i.test(line))
  const own = length === -1 ? lines.slice(start + 1) : lines.slice(start + 1, start + length)
  return { lines: joinSoftBreaks(own).filter((line) => line.trim() !== '') }
}

/** vCard 2.1 continues a quoted-printable value after `=` at the end of a line. */
function joinSoftBreaks(lines: readonly string[]): string[] {
  const joined: string[] = []
  let isOpen = false
  for (const line of lines) {
    if (isOpen) joined.push(`${(joined.pop() ?? '').slice(0, -1)}${line}`)
    else joined.push(line)
    const last = joined.at(-1) ?? ''
    isOpen = last.endsWith('=') && /^[^:]*QUOTED-PRINTABLE/i.test(last)
  }
  return joined
}

/** The text of a card, with folded lines. */
export function formatCard({ lines }: Card): string {
  return formatObject({ name: 'VCARD', lines, components: [] })
}

const NAME = /(?:([\w-]+)\.)?([\w-]+)/y
const PARAMETER = /;\s*([\w-]+)(?:=((?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*))?/y
const ESCAPES: Record<string, string> = { n: '\n', "'": '"', '^': '^' }

/** Undefined when the text is not a line of a vCard. */
export function parseCardLine(line: string): CardLine | undefined {
  NAME.lastIndex = 0
  const [start = '', group = '', name = ''] = NAME.exec(line) ?? []
  if (start === '') return undefined
  const parameters = new Map<string, string[]>()
  let at = start.length
  for (let count = 0; line[at] === ';'; count += 1) {
    if (count === MAX_PARAMETERS) return undefined
    PARAMETER.lastIndex = at
    const [text = '', word = '', list] = PARAMETER.exec(line) ?? []
    if (text === '') return undefined
    const isNamed = list !== undefined
    const key = isNamed ? word.toUpperCase() : 'TYPE'
    const values = isNamed ? splitValues(list) : [word]
    parameters.set(key, [...(parameters.get(key) ?? []), ...values])
    at += text.length
  }
  if (line[at] !== ':') return undefined
  return { group, name: name.toUpperCase(), parameters, value: line.slice(at + 1) }
}

/** `a,"b,c"`; quotes and line breaks as RFC 6868 says. */
function splitValues(list: string): string[] {
  const parts = list.match(/"[^"]*"|[^,]+/g) ?? []
  return parts.map((part) => {
    const value = part.startsWith('"') ? part.slice(1, -1) : part
    return value.replaceAll(/\^([n'^])/g, (_match, escaped: string) => ESCAPES[escaped] ?? '')
  })
}

/** The lines with these names that can be parsed, in order, with their places, at most `limit`. */
export function linesNamed(
  { lines }: Card,
  names: readonly string[],
  limit = 1000,
): { line: CardLine; index: number }[] {
  const places = placesByName(lines)
  const all = names.flatMap((name) => places.get(name) ?? [])
  const found: { line: CardLine; index: number }[] = []
  for (const index of names.length === 1 ? all : all.sort((one, other) => one - other)) {
    if (found.length >= limit) break
    const line = parseCardLine(lines[index] ?? '')
    if (line !== undefined) found.push({ line, index })
  }
  return found
}

export function lineNamed(card: Card, names: readonly string[]): CardLine | undefined {
  return linesNamed(card, names, 1)[0]?.line
}

/** Every property looks for its lines: a card is searched once for all of them. */
const indexes = new WeakMap<readonly string[], { length: number; places: Map<string, number[]> }>()

function placesByName(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const cached = indexes.get(lines)
  if (cached?.length === lines.length) return cached.places
  const places = new Map<string, number[]>()
  for (const [index, text] of lines.entries()) {
    const name = nameOfLine(text)
    const same = places.get(name)
    if (same === undefined) places.set(name, [index])
    else same.push(index)
  }
  indexes.set(lines, { length: lines.length, places })
  return places
}

/** In upper case, without the group. */
function nameOfLine(text: string): string {
  const head = text.slice(0, Math.max(0, text.search(/[:;]/)))
  return head.slice(head.indexOf('.') + 1).toUpperCase()
}
