import { type ContentLine, parseContentLine } from './content-line.ts'

/** A component of an iCalendar object, such as VEVENT. */
export interface Component {
  /** In upper case. */
  name: string
  /** Unfolded content lines, unparsed: most of them are never read. */
  lines: string[]
  components: Component[]
}

/** Larger objects are not read. One of a megabyte takes about 10 ms. */
const MAX_OBJECT_LENGTH = 1024 * 1024
const MAX_LINES = 50_000
const MAX_DEPTH = 5
/** Of a TEXT value, as it is written. Fields of events are shorter. */
const MAX_TEXT_LENGTH = 64 * 1024

/** Parses an object of RFC 5545 that has one VCALENDAR. Undefined when it is not one, or too large. Lines that make no sense stay lines. */
export function parseObject(text: string): Component | undefined {
  if (text.length > MAX_OBJECT_LENGTH) return undefined
  const lines = text.replaceAll(/\r?\n[ \t]/g, '').split(/\r?\n/, MAX_LINES + 1)
  if (lines.length > MAX_LINES) return undefined
  let calendar: Component | undefined
  const open: Component[] = []
  for (const line of lines) {
    const [, keyword, name = ''] = /^(BEGIN|END):([\w-]+)\s*$/i.exec(line) ?? []
    if (keyword === undefined) {
      if (line !== '') open.at(-1)?.lines.push(line)
    } else if (keyword.toUpperCase() === 'END') {
      open.pop()
    } else {
      const component: Component = { name: name.toUpperCase(), lines: [], components: [] }
      if (open.length >= MAX_DEPTH) return undefined
      if (open.length === 0) calendar ??= component
      else open.at(-1)?.components.push(component)
      open.push(component)
    }
  }
  return calendar?.name === 'VCALENDAR' ? calendar : undefined
}

/** The lines with this name that can be parsed, at most `limit`. */
export function properties({ lines }: Component, name: string, limit = 1000): ContentLine[] {
  const found: ContentLine[] = []
  for (const line of lines) {
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

function isNamed(line: string, name: string): boolean {
  const end = line[name.length]
  return (end === ':' || end === ';') && line.slice(0, name.length).toUpperCase() === name
}

export function withoutProperties({ lines }: Component, names: readonly string[]): string[] {
  return lines.filter((line) => !names.some((name) => isNamed(line, name)))
}

/** The beginning of a TEXT property's value. */
export function textOf(component: Component, name: string): string {
  const value = property(component, name)?.value.slice(0, MAX_TEXT_LENGTH) ?? ''
  return value.replaceAll(/\\([\\;,nN])/g, (_match, escaped: string) =>
    escaped.toLowerCase() === 'n' ? '\n' : escaped,
  )
}
