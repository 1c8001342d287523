// `src/ui/generated/api-objects.ts`: the objects of the API as types for the portal and the
// command line, from the OpenAPI document, and the event types.
import { apiDocument } from '../../src/app/api-document.ts'
import { catalogue } from '../../src/app/feature-list.ts'

export async function apiObjects() {
  const { components } = await apiDocument()
  const types = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${describeType(schema)}\n`,
  )
  const descriptions = Object.fromEntries(catalogue.types.map((type) => [type, catalogue.get(type).description]))
  return [
    '// Generated from the OpenAPI document by `npm run generate`.\n',
    `/** The event types of the API, each with what its events report. */
export const EVENT_TYPES: Readonly<Record<string, string>> = ${JSON.stringify(descriptions, null, 2)}\n`,
    'export type List<Name extends string, Item> = Record<Name, Item[]> & { pagination: Pagination }\n',
    ...types,
  ].join('\n')
}

function describeType(schema, indent = '') {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const parts = Object.entries({ anyOf: ' | ', oneOf: ' | ', allOf: ' & ' }).flatMap(([union, glue]) => {
    // A branch that only says which of the members are required has no type of its own.
    const branches = (schema[union] ?? []).filter(({ required, type }) => required === undefined || type !== undefined)
    return branches.length === 0 ? [] : `(${branches.map((part) => describeType(part, indent)).join(glue)})`
  })
  if (schema.type === undefined && parts.length > 0) return parts.join(' & ')
  const types = [schema.type ?? 'unknown'].flat()
  return [...parts, types.map((type) => plainType(type, schema, indent)).join(' | ')].join(' & ')
}

function plainType(type, schema, indent) {
  if (type === 'integer') return 'number'
  if (type === 'array') return `(${describeType(schema.items ?? {}, indent)})[]`
  return type === 'object' ? objectType(schema, indent) : type
}

function objectType({ properties, required = [], additionalProperties, patternProperties = {} }, indent) {
  if (properties === undefined || Object.keys(properties).length === 0) {
    const [values = additionalProperties] = Object.values(patternProperties)
    const value = typeof values === 'object' ? describeType(values, indent) : 'unknown'
    return `Record<string, ${value}>`
  }
  const deeper = `${indent}  `
  const members = Object.entries(properties).map(
    ([name, member]) =>
      `${deeper}${/^\w+$/.test(name) ? name : JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${describeType(member, deeper)}\n`,
  )
  return `{\n${members.join('')}${indent}}`
}
