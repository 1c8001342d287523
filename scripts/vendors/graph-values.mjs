// Checks JSON values against the types of Graph's metadata.
import { bareType, extendsType, findNavigation, findProperty, isCollection } from './graph-model.mjs'

const FORMATS = {
  DateTimeOffset: /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,12})?)?(Z|[+-]\d\d:\d\d)$/,
  Date: /^\d{4}-\d\d-\d\d$/,
  Binary: /^[A-Za-z0-9+/_-]*=*$/,
}
const TYPES = {
  String: 'string',
  Binary: 'string',
  Guid: 'string',
  DateTimeOffset: 'string',
  Date: 'string',
  Boolean: 'boolean',
  Int16: 'number',
  Int32: 'number',
  Int64: 'number',
  Double: 'number',
}
/** Properties that the documentation of the resource calls read-only. A request that sets one is refused, or the value ignored. */
const READ_ONLY = {
  message: [
    'id',
    'hasAttachments',
    'bodyPreview',
    'parentFolderId',
    'receivedDateTime',
    'conversationId',
    'webLink',
    'changeKey',
  ],
  contact: ['id', 'changeKey', 'createdDateTime', 'lastModifiedDateTime', 'parentFolderId'],
  event: ['id', 'iCalUId', 'webLink', 'isOrganizer', 'type', 'seriesMasterId', 'onlineMeeting', 'onlineMeetingUrl'],
}

/** `add` receives what is wrong with the value, and the value. */
export function checkEntity(model, type, value, add, { path = '', isRequest = false } = {}) {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return add(`${path || type} is no object`, value)
  const actual = actualType(model, type, value, path, add)
  for (const [name, member] of Object.entries(value)) {
    if (name.includes('@')) continue
    const property = findProperty(model, actual, name)
    const target = findNavigation(model, actual, name)
    if (property !== undefined) checkValue(model, property, member, add, `${path}.${name}`)
    else if (target !== undefined) checkValue(model, { type: target, isNullable: true }, member, add, `${path}.${name}`)
    else add(`unknown property ${path}.${name} of ${actual}`, member)
    if (isRequest && path === '' && READ_ONLY[actual]?.includes(name))
      add(`the read-only property ${name} is set`, member)
  }
}

function actualType(model, type, value, path, add) {
  const annotation = value['@odata.type']
  if (annotation === undefined) return type
  const actual = bareType(annotation)
  if (extendsType(model, actual, type)) return actual
  add(`${path} has the @odata.type ${annotation}, which is no ${type}`)
  return type
}

/** `type` is a type of the metadata such as `Collection(microsoft.graph.recipient)` or `Edm.Int32`. */
export function checkValue(model, { type, isNullable }, value, add, path) {
  const bare = bareType(type)
  if (value === null) {
    if (!isNullable) add(`null at ${path}`)
  } else if (isCollection(type)) {
    if (!Array.isArray(value)) add(`${path} is no array`, value)
    else for (const item of value) checkValue(model, { type: type.slice(11, -1), isNullable }, item, add, `${path}[]`)
  } else if (model.enums.has(bare)) {
    const names = typeof value === 'string' ? value.split(',') : [undefined]
    if (!names.every((name) => model.enums.get(bare).has(name))) add(`${path} is not in the enum ${bare}`, value)
  } else if (model.types.has(bare)) checkEntity(model, bare, value, add, { path })
  else if (TYPES[bare] !== undefined && typeof value !== TYPES[bare]) add(`${path} is no ${bare}`, value)
  else if (FORMATS[bare] !== undefined && !FORMATS[bare].test(value)) add(`${path} is no ${bare}`, value)
}
