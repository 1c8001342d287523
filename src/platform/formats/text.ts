/**
 * Cleans every string from outside before it is stored. PostgreSQL rejects NUL and unpaired surrogates, SQLite accepts both; cleaning
 * makes both engines store the same text.
 */
export function cleanText(text: string): string {
  const withoutNul = text.includes('\0') ? text.replaceAll('\0', '') : text
  return withoutNul.toWellFormed()
}

/** The value as JSON with clean strings, including keys. */
export function cleanJson(value: unknown): string {
  const text = JSON.stringify(value)
  // JSON escapes every character that needs cleaning. Skipping texts without escapes saves a twelfth of the cost of an event.
  return text.includes('\\u') ? JSON.stringify(JSON.parse(text, (_key, item: unknown) => cleanItem(item))) : text
}

function cleanItem(item: unknown): unknown {
  if (typeof item === 'string') return cleanText(item)
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return item
  return Object.fromEntries(Object.entries(item).map(([key, inner]) => [cleanText(key), inner]))
}

/** At most `limit` UTF-16 units. Never ends inside a surrogate pair. */
export function truncateText(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : text
        .slice(0, limit)
        .toWellFormed()
        .replace(/\uFFFD$/, '')
}

/** A well-formed copy. V8's slices refer to the text that they were cut from, which may have megabytes. */
export function detached(text: string): string {
  return Buffer.from(text).toString()
}

/** At most `limit` characters of a well-formed text; a surrogate pair counts as one. */
export function truncateCharacters(text: string, limit: number): string {
  if (text.length <= limit) return text
  let units = 0
  for (let count = 0; count < limit && units < text.length; count += 1) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1
  }
  return text.slice(0, units)
}

/** A narrower column would have a word per line. */
const MIN_RIGHT = 24

/** Indented lines of two columns. The right one continues below itself where lines would be wider than `width`. */
export function columns(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): string[] {
  const leftWidth = Math.max(...rows.map(([left = '']) => left.length))
  const indent = leftWidth + 4
  return rows.flatMap(([left = '', right = '']) => {
    const [first = '', ...others] = wrap(right, Math.max(MIN_RIGHT, width - indent))
    return [`  ${left.padEnd(leftWidth)}  ${first}`, ...others.map((line) => ' '.repeat(indent) + line)]
  })
}

/** Breaks a text at its spaces into lines of at most `width` characters; a longer word has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** `message.link_clicked` is `MessageLinkClicked`. */
export function pascalCase(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
