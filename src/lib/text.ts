/**
 * The one text cleaner. PostgreSQL refuses NUL and unpaired surrogates in text, SQLite keeps both; every string
 * from outside passes here before it is stored, so that both engines hold the same thing.
 */
export function cleanText(text: string): string {
  const withoutNul = text.includes('\0') ? text.replaceAll('\0', '') : text
  return withoutNul.toWellFormed()
}

/** A value as JSON text in which every string is clean, keys too. */
export function cleanJson(value: unknown): string {
  const text = JSON.stringify(value)
  // What is to be cleaned is always escaped, so nearly every text is clean as it stands; walking all of them was a
  // twelfth of what an event cost.
  return text.includes('\\u') ? JSON.stringify(JSON.parse(text, (_key, item: unknown) => cleanItem(item))) : text
}

function cleanItem(item: unknown): unknown {
  if (typeof item === 'string') return cleanText(item)
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return item
  return Object.fromEntries(Object.entries(item).map(([key, inner]) => [cleanText(key), inner]))
}

/** At most `limit` UTF-16 units, never ending inside a surrogate pair. */
export function truncateText(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : text
        .slice(0, limit)
        .toWellFormed()
        .replace(/\uFFFD$/, '')
}
