/** A JSON Schema, or any part of the document. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

export interface Components {
  /** The schema with every titled part replaced by a reference to it. */
  reference(schema: unknown): Json
  /** Everything referenced so far, by title. */
  schemas(): Record<string, Json>
}

/**
 * Schemas with a `title` become components: one place in the document, one type in generated clients. Two different
 * schemas under one title are a mistake and throw.
 */
export function components(): Components {
  const named = new Map<string, Json>()

  function reference(schema: unknown): Json {
    return walk(JSON.parse(JSON.stringify(schema ?? {})))
  }

  function walk(part: Json): Json {
    if (part === null || typeof part !== 'object') return part
    if (Array.isArray(part)) return part.map(walk)
    const walked = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, walk(value)]))
    const { title } = walked
    if (typeof title !== 'string' || !isSchema(walked)) return walked
    const known = named.get(title)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(walked)) {
      throw new Error(`two different schemas have the title "${title}"`)
    }
    named.set(title, walked)
    return { $ref: `#/components/schemas/${title}` }
  }

  return {
    reference,
    schemas: () => Object.fromEntries([...named].sort(([left], [right]) => (left < right ? -1 : 1))),
  }
}

/** A property may be called "title" too; a schema's own title stands beside its type. */
function isSchema(part: Record<string, Json>): boolean {
  return 'type' in part ? typeof part.type === 'string' : 'anyOf' in part || 'allOf' in part || 'const' in part
}
