import { cleanText, truncateText } from '../../platform/formats/text.ts'

/**
 * Characters that a person does not see but a model reads: control characters, directions of text, and those that Unicode
 * calls ignorable, among them the tags and variation selectors in which text can be hidden. Tab, line feed, joiners and the
 * two selectors of emoji remain, because texts need them.
 */
const INVISIBLE = /(?!\t|\n|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu

/** Text from mail and calendars without invisible characters. Line breaks become `\n`. */
export function visibleText(text: string): string {
  return cleanText(text)
    .replace(/\r\n?|\u2028|\u2029/g, '\n')
    .replace(INVISIBLE, '')
}

/** The same on one line, at most `limit` characters long; a longer text ends in an ellipsis. */
export function shortText(text: string, limit: number): string {
  const line = visibleText(truncateText(text, limit * 4))
    .replace(/\s+/g, ' ')
    .trim()
  return line.length <= limit ? line : `${truncateText(line, limit - 1)}…`
}

/** One value of JSON, with every string and every name of a member cleaned. */
export function visibleValue(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value)
  if (Array.isArray(value)) return value.map(visibleValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [visibleText(name), visibleValue(member)]))
}
