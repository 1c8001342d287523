import { type ContentLine, parseContentLine } from './content-line.ts'

/** A component of an iCalendar object, such as VEVENT. */
export interface Component {
  /** In upper case. */
  name: string
  /** Unfolded content lines, unparsed: most of them are never read. */
  lines: string[]
  components: Component[]
}

const MAX_LINES = 50_000
const MAX_DEPTH = 5
/** Limits a TEXT value as it is written. Fields of events are shorter. */
const MAX_TEXT_LENGTH = 64 * 1024
/** Limits an object without its attachments. One of a megabyte takes about 10 ms. */
const MAX_OBJECT_LENGTH = 1024 * 1024

/**
 * Parses an object of RFC 5545. Reads what programs write: a byte order mark, any line ends, several VCALENDARs, whose components then
 * belong to the first. Lines that make no sense stay lines. `attachments: 'skip'` leaves out their contents, which may have megabytes.
 * Undefined when it is no VCALENDAR, or too large.
 */
export function parseObject(
  text: string,
  { attachments = 'keep' }: { attachments?: 'keep' | 'skip' } = {},
): Component | undefined {
  const lines = unfoldedLines(text.replace(/^\ufeff+/, ''), attachments)
  if (lines === undefined) return undefined
  let calendar: Component | undefined
  const open: Component[] = []
  for (const line of lines) {
    const [, keyword, name = ''] = /^(BEGIN|END):([\w-]+)\s*$/i.exec(line) ?? []
    if (keyword === undefined) {
      if (line !== '') open.at(-1)?.lines.push(line)
    } else if (keyword.toUpperCase() === 'END') {
      open.pop()
    } else {
      if (open.length >= MAX_DEPTH) return undefined
      const isRoot = open.length === 0
      if (isRoot && calendar !== undefined && name.toUpperCase() === 'VCALENDAR') {
        open.push({ ...calendar, lines: [] })
        continue
      }
      const component: Component = { name: name.toUpperCase(), lines: [], components: [] }
      if (isRoot) calendar ??= component
      else open.at(-1)?.components.push(component)
      open.push(component)
    }
  }
  return calendar?.name === 'VCALENDAR' ? calendar : undefined
}

/** An attachment with the lines that continue it. */
const ATTACHMENT = /^ATTACH[;:].*(?:\r?\n[ \t].*)*/gim

/** Undefined when there are too many, or too much is in them. */
function unfoldedLines(content: string, attachments: 'keep' | 'skip'): string[] | undefined {
  // Old programs end lines with CR alone.
  const text = content.includes('\n') ? content : content.replaceAll('\r', '\n')
  const isLong = text.length > MAX_OBJECT_LENGTH
  const read = isLong && attachments === 'skip' ? text.replaceAll(ATTACHMENT, 'ATTACH:') : text
  if (read.length > MAX_OBJECT_LENGTH) return undefined
  const lines = read.replaceAll(/\r?\n[ \t]/g, '').split(/\r?\n/, MAX_LINES + 1)
  return lines.length > MAX_LINES ? undefined : lines
}

/** The lines with this name that can be parsed, at most `limit`. */
export function properties({ lines }: Component, name: string, limit = 1000): ContentLine[] {
  const found: ContentLine[] = []
  for (const line of lines.length < MANY_LINES ? lines : (linesByName(lines).get(name) ?? [])) {
    if (found.length >= limit) break
    if (!isNamed(line, name)) continue
    const parsed = parseContentLine(line)
    if (parsed !== undefined) found.push(parsed)
  }
  return found
}

export function property(component: Component, name: string): ContentLine | undefined {
  return properties(component, name, 1)[0]
}

/** With fewer lines, comparing all of them for each property costs less than an index. */
const MANY_LINES = 200

/** Indexes of long components. A series may have thousands of dates, and every property would be looked for among them. */
const indexes = new WeakMap<readonly string[], { length: number; byName: Map<string, string[]> }>()

function linesByName(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const cached = indexes.get(lines)
  if (cached?.length === lines.length) return cached.byName
  const byName = new Map<string, string[]>()
  for (const line of lines) {
    const name = line.slice(0, line.search(/[:;]/)).toUpperCase()
    const same = byName.get(name)
    if (same === undefined) byName.set(name, [line])
    else same.push(line)
  }
  indexes.set(lines, { length: lines.length, byName })
  return byName
}

function isNamed(line: string, name: string): boolean {
  const end = line[name.length]
  return (end === ':' || end === ';') && line.slice(0, name.length).toUpperCase() === name
}

export function withoutProperties({ lines }: Component, names: readonly string[]): string[] {
  return lines.filter((line) => !names.some((name) => isNamed(line, name)))
}

/** The beginning of a TEXT property's value. */
export function readText(component: Component, name: string): string {
  const value = property(component, name)?.value.slice(0, MAX_TEXT_LENGTH) ?? ''
  return value.replaceAll(/\\([\\;,nN])/g, (_match, escaped: string) =>
    escaped.toLowerCase() === 'n' ? '\n' : escaped,
  )
}
