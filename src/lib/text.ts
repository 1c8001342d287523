/**
 * The one text cleaner. PostgreSQL refuses NUL and unpaired surrogates in text, SQLite keeps both; every string
 * from outside passes here before it is stored, so that both engines hold the same thing.
 */
export function cleanText(text: string): string {
  const withoutNul = text.includes('\0') ? text.replaceAll('\0', '') : text
  return withoutNul.toWellFormed()
}

/** Cleans every string inside a JSON value; keys too. */
export function cleanJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, item: unknown) => cleanItem(item)) as T
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
