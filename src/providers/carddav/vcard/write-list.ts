import { type Card, type CardLine, linesNamed, parseCardLine } from './card.ts'
import { isPreferred, readLabels, typeOf } from './types.ts'

/** A property that a contact may have several times, such as EMAIL. */
export interface ListProperty {
  names: readonly string[]
  /** The value as the contact shows it. */
  value(line: CardLine): string
  line(value: string, type: string): string
}

interface Stored {
  index: number
  text: string
  line: CardLine
  value: string
  type: string
}

/**
 * Replaces the lines of a list. One whose value and type are wanted stays as it is, with parameters that this code does not know. The
 * labels of lines that are removed go with them. The first line becomes the preferred one, if another one was.
 */
export function replaceList(
  card: Card,
  property: ListProperty,
  wanted: readonly { value: string; type: string }[],
): void {
  const labels = readLabels(card)
  const stored: Stored[] = linesNamed(card, property.names).map(({ line, index }) => ({
    index,
    text: card.lines[index] ?? '',
    line,
    value: property.value(line),
    type: typeOf(line, labels),
  }))
  const left = [...stored]
  const lines = wanted.map(({ value, type }) => {
    const at = left.findIndex((each) => each.value === value && each.type === type.toLowerCase())
    const [kept] = at === -1 ? [] : left.splice(at, 1)
    return kept?.text ?? property.line(value, type)
  })
  const lostGroups = new Set(left.map(({ line }) => line.group.toLowerCase()).filter((group) => group !== ''))
  const removed = new Set(stored.map(({ index }) => index))
  const [first] = removed
  const ordered = withPreferredFirst(lines)
  const after = card.lines.flatMap((text, index) => {
    if (index === first) return ordered
    return removed.has(index) ? [] : [text]
  })
  card.lines = withoutLabels(first === undefined ? [...card.lines, ...ordered] : after, lostGroups)
}

/** Labels of groups that no other line is in. */
function withoutLabels(lines: readonly string[], groups: ReadonlySet<string>): string[] {
  if (groups.size === 0) return [...lines]
  const groupOf = (text: string) => /^([\w-]+)\./.exec(text)?.[1]?.toLowerCase() ?? ''
  const isLabel = (text: string) => /^[\w-]+\.X-AB(?:LABEL|ADR)[;:]/i.test(text)
  const used = new Set(lines.filter((text) => !isLabel(text)).map(groupOf))
  return lines.filter((text) => !(isLabel(text) && groups.has(groupOf(text)) && !used.has(groupOf(text))))
}

function withPreferredFirst(lines: readonly string[]): string[] {
  const parsed = lines.map((text) => parseCardLine(text))
  const preferred = parsed.findIndex((line) => line !== undefined && isPreferred(line))
  if (preferred <= 0) return [...lines]
  return lines.map((text, at) => (at === 0 ? addPreference(text) : removePreference(text)))
}

function addPreference(text: string): string {
  const [, head = '', rest = ''] = /^([\w.-]+)(.*)$/s.exec(text) ?? []
  return `${head};TYPE=pref${rest}`
}

/** In the parameters only. */
function removePreference(text: string): string {
  const line = parseCardLine(text)
  if (line === undefined || !isPreferred(line)) return text
  const head = text.slice(0, text.length - line.value.length)
  const without = head
    .replaceAll(/;PREF=1(?=[;:])/gi, '')
    .replaceAll(/;(?:TYPE=)?"?pref"?(?=[;:])/gi, '')
    .replaceAll(/(TYPE="?)pref,/gi, '$1')
    .replaceAll(/,pref(?=[",;:])/gi, '')
  return without + line.value
}
