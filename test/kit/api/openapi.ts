import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/** The parts of an OpenAPI operation that tests read. */
export interface Operation {
  method: string
  path: string
  operationId: string
  tag: string | undefined
  keyed: boolean
  takesBody: boolean
  /** The JSON Schema of the body, references resolved one level deep. */
  body: Schema | undefined
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Schema }[]
  responses: Record<string, { $ref?: string; content?: Record<string, { schema?: Schema }> }>
}

export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  format?: string
  pattern?: string
  minLength?: number
  minimum?: number
  minItems?: number
  examples?: unknown[]
  default?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}

export interface Document {
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, RawOperation>>
  components: { schemas: Record<string, Schema> }
}

interface RawOperation {
  operationId: string
  summary?: string
  tags?: string[]
  security: Record<string, string[]>[]
  parameters: ({ $ref?: string } & Operation['parameters'][number])[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Operation['responses']
}

export function operations(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => ({
      method: method.toUpperCase(),
      path,
      operationId: raw.operationId,
      tag: raw.tags?.[0],
      keyed: raw.security.length > 0 && raw.security.every((need) => Object.keys(need).length > 0),
      // Routes that take any text validate their bodies themselves.
      takesBody: raw.requestBody !== undefined && !('text/plain' in raw.requestBody.content),
      body: raw.requestBody?.content['application/json']?.schema,
      parameters: raw.parameters.filter((parameter) => parameter.$ref === undefined),
      responses: raw.responses,
    })),
  )
}

/** The smallest value that a schema accepts. */
export function sample(schema: Schema, document: Document): unknown {
  if (schema.$ref !== undefined) {
    const target = document.components.schemas[schema.$ref.split('/').at(-1) ?? '']
    if (target === undefined) throw new Error(`The document has no ${schema.$ref}.`)
    return sample(target, document)
  }
  if (schema.const !== undefined) return schema.const
  const [example] = schema.examples ?? schema.enum ?? []
  if (example !== undefined) return example
  const [branch] = schema.oneOf ?? schema.anyOf ?? []
  if (branch !== undefined) return sampleOfBranch(schema, branch, document)
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sample(schema.properties?.[name] ?? {}, document)]),
      )
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items ?? {}, document))
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    default:
      return FORMATS[schema.format ?? ''] ?? 'x'.repeat(Math.max(8, schema.minLength ?? 0))
  }
}

/** A branch may only add required members to those of the schema. */
function sampleOfBranch(
  { anyOf: _anyOf, oneOf: _oneOf, ...rest }: Schema,
  branch: Schema,
  document: Document,
): unknown {
  if (rest.type === undefined) return sample(branch, document)
  const required = [...(rest.required ?? []), ...(branch.required ?? [])]
  return sample({ ...rest, properties: { ...rest.properties, ...branch.properties }, required }, document)
}

const FORMATS: Record<string, string> = {
  email: 'nobody@example.com',
  uri: 'https://example.com/hook',
  'date-time': '2026-01-31T08:00:00.000Z',
}

/** Returns a function for the differences between a value and the schema at a JSON pointer of the document. */
export function schemaChecker(document: object): (value: unknown, pointer: string) => unknown[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'openapi.json', ...document })
  return (value, pointer) => {
    const check = ajv.getSchema(`openapi.json#${pointer}`)
    if (check === undefined) throw new Error(`The document has no ${pointer}.`)
    check(value)
    return check.errors ?? []
  }
}

/** One part of a JSON pointer. */
export function pointerPart(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1')
}
