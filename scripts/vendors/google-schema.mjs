// Checks values against the schemas of a discovery document.

const FORMATS = {
  int64: /^-?\d+$/,
  uint64: /^\d+$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/,
  date: /^\d{4}-\d\d-\d\d$/,
  byte: /^[A-Za-z0-9_-]*=*$/,
}

export function resolveSchema(api, schema) {
  return schema.$ref === undefined ? schema : api.schemas[schema.$ref]
}

/** `add` receives what is wrong with the value, and the value. A request may contain null, which removes a member. */
export function checkSchema(api, givenSchema, value, { add, isRequest, path = '' }) {
  const schema = resolveSchema(api, givenSchema)
  const inside = (name, innerSchema, member) =>
    checkSchema(api, innerSchema, member, { add, isRequest, path: `${path}${name}` })
  if (value === null) {
    if (!isRequest) add(`null at ${path}`)
  } else if (schema.type === 'object') checkObject(schema, value, { add, path, inside })
  else if (schema.type === 'array') {
    if (!Array.isArray(value)) add(`${path} is no array`, value)
    else for (const item of value) inside('[]', schema.items, item)
  } else if (schema.type === 'string') checkString(schema, value, path, add)
  else if (schema.type === 'boolean') {
    if (typeof value !== 'boolean') add(`${path} is no boolean`, value)
  } else if (schema.type === 'integer' || schema.type === 'number') {
    if (typeof value !== 'number') add(`${path} is no ${schema.type}`, value)
  }
}

function checkObject({ properties = {}, additionalProperties }, value, { add, path, inside }) {
  if (typeof value !== 'object' || Array.isArray(value)) return add(`${path} is no object`, value)
  for (const [name, member] of Object.entries(value)) {
    const schema = properties[name] ?? additionalProperties
    if (schema === undefined) add(`unknown property ${path}.${name}`, member)
    else inside(properties[name] === undefined ? '.*' : `.${name}`, schema, member)
  }
}

function checkString({ format, enum: values }, value, path, add) {
  if (typeof value !== 'string') return add(`${path} is no string`, value)
  if (values !== undefined && !values.includes(value)) add(`${path} is not in its enum`, value)
  if (FORMATS[format] !== undefined && !FORMATS[format].test(value)) add(`${path} is no ${format}`, value)
}

/** https://developers.google.com/gmail/api/guides/handle-errors: the code of the status, and a reason for each error. */
export function checkErrorBody(status, body, add) {
  const error = body?.error
  if (typeof error !== 'object' || error === null) return add(`error ${status} without an error object`, body)
  if (error.code !== status) add(`error.code differs from the status ${status}`, error.code)
  const reasons = [...(error.errors ?? []), ...(error.details ?? [])].flatMap(({ reason }) => reason ?? [])
  if (reasons.length === 0) add(`error ${status} without a reason`, error)
}
