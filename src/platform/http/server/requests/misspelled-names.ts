import { addToGroup } from '../../../group-by.ts'
/** A member that the schema does not declare, but that equals a declared one except for case, `_` and `-`. */
export interface MisspelledName {
  path: string[]
  /** The name that the schema declares. */
  declared: string
}

/** Returns at most `limit` misspelled names of a value, in the order of its members. */
type FindMisspelledNames = (value: unknown, limit: number) => MisspelledName[]

type Schema = Readonly<Record<string, unknown>>

/** The declared members of an object, and of the objects inside it. */
interface Shape {
  members: Map<string, Shape | undefined>
  /** The declared names by their folded form. */
  byFolded: Map<string, string>
  items: Shape | undefined
}

/**
 * Reads the declared names of a schema. Unknown members are allowed, so `redirect_uri` would otherwise be ignored without a
 * word. The names of all branches of a union are known together. Objects without declared members are not searched.
 */
export function misspelledNames(schema: unknown): FindMisspelledNames {
  const shape = buildShape([schema])
  return (value, limit) => {
    const found: MisspelledName[] = []
    if (shape !== undefined) search(value, shape, [], limit, found)
    return found
  }
}

function search(value: unknown, shape: Shape, path: string[], limit: number, found: MisspelledName[]): void {
  if (typeof value !== 'object' || value === null || found.length >= limit) return
  if (Array.isArray(value)) {
    const { items } = shape
    if (items === undefined) return
    for (const [index, item] of value.entries()) search(item, items, [...path, String(index)], limit, found)
    return
  }
  for (const [name, member] of Object.entries(value)) {
    const inner = shape.members.get(name)
    if (inner !== undefined) search(member, inner, [...path, name], limit, found)
    if (shape.members.has(name)) continue
    const declared = shape.byFolded.get(folded(name))
    if (declared !== undefined && found.length < limit) found.push({ path: [...path, name], declared })
  }
}

function buildShape(schemas: readonly unknown[]): Shape | undefined {
  const branches = schemas.flatMap(collectBranches)
  if (branches.length === 0) return undefined
  const declared = new Map<string, unknown[]>()
  for (const { properties } of branches) {
    if (!isSchema(properties)) continue
    for (const [name, schema] of Object.entries(properties)) addToGroup(declared, name, schema)
  }
  const items = buildShape(branches.flatMap((branch) => (isSchema(branch.items) ? [branch.items] : [])))
  if (declared.size === 0 && items === undefined) return undefined
  return {
    members: new Map([...declared].map(([name, inner]) => [name, buildShape(inner)])),
    byFolded: new Map([...declared.keys()].map((name) => [folded(name), name])),
    items,
  }
}

/** The schema itself and the branches of its unions and intersections. */
function collectBranches(schema: unknown): Schema[] {
  if (!isSchema(schema)) return []
  const inner = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((branches) =>
    Array.isArray(branches) ? branches : [],
  )
  return [schema, ...inner.flatMap(collectBranches)]
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}

function folded(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}
