/** A JSON value: a JSON Schema, or any part of the document. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

export interface Components {
  /** Returns the schema with a reference in place of every titled part. */
  reference(schema: unknown): Json
  /** Whether a referenced schema rejects an object without members. */
  requiresMembers(schema: Json): boolean
  /** The schemas referenced so far, by title. */
  schemas(): Record<string, Json>
}

const REFERENCE = '#/components/schemas/'

/** Collects schemas with a `title` as components, so that generated clients have one type for each. Throws when two schemas with one title differ. */
export function components(): Components {
  const named = new Map<string, Json>()

  function reference(schema: unknown): Json {
    return walk(JSON.parse(JSON.stringify(schema ?? {})))
  }

  function walk(part: Json): Json {
    if (part === null || typeof part !== 'object') return part
    if (Array.isArray(part)) return part.map(walk)
    const other = part['x-documented-as']
    if (other !== undefined) return walk(other)
    const { 'x-documented': keywords, ...shown } = part
    if (isObject(keywords ?? null)) return walk({ ...shown, ...Object(keywords) })
    const walked = merged(Object.fromEntries(Object.entries(part).map(([name, value]) => [name, walk(value)])))
    const { title } = walked
    if (typeof title !== 'string' || !isSchema(walked)) return walked
    const earlier = named.get(title)
    if (earlier !== undefined && JSON.stringify(earlier) !== JSON.stringify(walked)) {
      throw new Error(`two different schemas have the title "${title}"`)
    }
    named.set(title, walked)
    return { $ref: REFERENCE + title }
  }

  function requiresMembers(schema: Json): boolean {
    if (!isObject(schema)) return false
    const { $ref, required = [], minProperties, anyOf, oneOf } = schema
    if (typeof $ref === 'string') return requiresMembers(named.get($ref.slice(REFERENCE.length)) ?? null)
    if (minProperties !== undefined || (Array.isArray(required) && required.length > 0)) return true
    const branches = anyOf ?? oneOf
    return Array.isArray(branches) && branches.every(requiresMembers)
  }

  return {
    reference,
    requiresMembers,
    schemas: () => Object.fromEntries([...named].sort(([left], [right]) => (left < right ? -1 : 1))),
  }
}

const SIMPLE_TYPES = new Set<Json | undefined>(['string', 'integer', 'number', 'boolean', 'null'])

/**
 * Merges a union of simple values into one schema with several types, and gives texts with fixed values their type. Renderers
 * show the description of such a schema at once, and that of a branch of a union only on request.
 */
function merged(part: Record<string, Json>): Record<string, Json> {
  const { anyOf, ...rest } = part
  if (Array.isArray(part.enum) && part.type === undefined && part.enum.every((value) => typeof value === 'string')) {
    return { type: 'string', ...part }
  }
  if (!Array.isArray(anyOf)) return part
  const branches = anyOf.filter(isObject)
  const constants = branches.map((branch) => branch.const)
  if (constants.every((value) => typeof value === 'string')) return { type: 'string', enum: constants, ...rest }
  const [first, ...others] = branches
  if (first === undefined) return part
  const description = rest.description ?? first.description
  const types = branches.flatMap(({ type = 'any' }) => type)
  const isPlain = ({ type, ...more }: Record<string, Json>) => Object.keys(more).length === 0
  if (!types.every((type) => SIMPLE_TYPES.has(type)) || !others.every(isPlain) || 'const' in first) {
    return description === undefined ? part : { ...part, description }
  }
  const { enum: values } = first
  return { ...first, type: types, ...(Array.isArray(values) && { enum: [...values, null] }), ...rest }
}

function isObject(part: Json): part is Record<string, Json> {
  return part !== null && typeof part === 'object' && !Array.isArray(part)
}

/** Distinguishes a schema from an object with a property called "title": a schema also has a type. */
function isSchema(part: Record<string, Json>): boolean {
  return 'type' in part
    ? typeof part.type === 'string'
    : 'anyOf' in part || 'oneOf' in part || 'allOf' in part || 'const' in part
}
