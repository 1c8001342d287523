// `src/generated/schema.ts`: the objects and operations of the API as types.
import openapiTS, { astToString } from 'openapi-typescript'

const NOTE = '// Generated from openapi.json by `npm run generate`.\n\n'
/** Members of the document that say nothing about types. */
const LEFT_OUT = ['example', 'examples', 'x-codeSamples', 'title']

/** @param {object} document the OpenAPI document */
export async function sdkTypes(document) {
  const { webhooks: _webhooks, ...rest } = withoutExamples(document)
  const { responses: _responses, ...components } = rest.components
  const paths = Object.fromEntries(Object.entries(rest.paths).map(([path, item]) => [path, withoutErrors(item)]))
  const nodes = await openapiTS(
    { ...rest, paths, components },
    // A member with a default may be absent from a request.
    { defaultNonNullable: false, rootTypes: true, rootTypesNoSchemaPrefix: true, rootTypesKeepCasing: true },
  )
  return NOTE + astToString(nodes)
}

/** Members of objects are called `properties`, and may have any name. */
function withoutExamples(part, isProperties = false) {
  if (Array.isArray(part)) return part.map((item) => withoutExamples(item))
  if (part === null || typeof part !== 'object') return part
  const members = Object.entries(part).filter(([name]) => isProperties || !LEFT_OUT.includes(name))
  return Object.fromEntries(members.map(([name, value]) => [name, withoutExamples(value, name === 'properties')]))
}

/** Errors are thrown. They have one form, which `errors.ts` reads. */
function withoutErrors(item) {
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]) => {
      const responses = Object.entries(operation.responses).filter(([status]) => /^[23]/.test(status))
      return [method, { ...operation, responses: Object.fromEntries(responses) }]
    }),
  )
}
