/** A JSON value in which the order of members does not matter: objects become lists of their members, sorted by name. */
export function canonical(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value ?? null
  if (Array.isArray(value)) return value.map(canonical)
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, inner]) => [name, canonical(inner)])
}
