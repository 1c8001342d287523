/** A JSON object whose members nobody has checked. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object at this member; an empty one where there is none. */
export function readFields(record: Fields, name: string): Fields {
  const value = record[name]
  return isFields(value) ? value : {}
}

/** The text at this member, which may be a number; undefined when it is empty. */
export function readText(record: Fields, name: string): string | undefined {
  const value = record[name]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}
