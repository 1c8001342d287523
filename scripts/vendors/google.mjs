// Checks recorded exchanges with Google against its discovery documents, and against limits of its documentation.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from './findings.mjs'
import { checkFieldMask } from './google-fields.mjs'
import { checkErrorBody, checkSchema, resolveSchema } from './google-schema.mjs'

const DOCUMENTS = ['gmail.v1', 'calendar.v3', 'people.v1', 'pubsub.v1', 'admin.directory_v1']
const PATHS = /^\/(gmail|upload\/gmail|batch|calendar|admin\/directory|v1\/(projects|people|contactGroups))\b/
/** Parameters of every method. */
const COMMON = new Set(['alt', 'fields', 'key', 'oauth_token', 'prettyPrint', 'quotaUser', 'uploadType', 'upload_id'])
/** The documented caps of `maxResults`, which the discovery documents leave out. */
const MAX_RESULTS = { gmail: 500, calendar: 2500, admin: 500 }
const MAX_BATCH_PARTS = 100
/** https://developers.google.com/calendar/api/v3/reference/events/list, parameter syncToken. */
const NOT_WITH_SYNC_TOKEN = [
  'iCalUID',
  'orderBy',
  'privateExtendedProperty',
  'q',
  'sharedExtendedProperty',
  'timeMin',
  'timeMax',
  'updatedMin',
]
/** https://developers.google.com/people/api/rest/v1/people.connections/list and contactGroups/list: the cap of `pageSize`. */
const MAX_PAGE_SIZE = { people: 1000 }
const FIELD_MASKS = ['personFields', 'updatePersonFields', 'groupFields']
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** `folder` contains the discovery documents, such as `gmail.v1.json`. */
export function googleChecker(folder, findings) {
  const methods = DOCUMENTS.flatMap((name) =>
    listMethods(JSON.parse(readFileSync(join(folder, 'google', `${name}.json`), 'utf8'))),
  )
  return {
    name: 'Google',
    handles: (path) => PATHS.test(path),
    check(record) {
      if (record.url.startsWith('/batch')) checkBatch(methods, record, findings)
      else checkExchange(methods, record, findings)
    },
  }
}

/** Every method of a document, those for uploads with the path of the upload. */
function listMethods(api, resource = api) {
  const own = Object.values(resource.methods ?? {}).flatMap((method) => {
    const path = `/${api.servicePath}${method.flatPath ?? method.path}`
    const uploads = Object.values(method.mediaUpload?.protocols ?? {}).map((protocol) => protocol.path)
    return [
      { api, method, path, pattern: buildPattern(path), isUpload: false },
      ...uploads.map((upload) => ({ api, method, path: upload, pattern: buildPattern(upload), isUpload: true })),
    ]
  })
  return [...own, ...Object.values(resource.resources ?? {}).flatMap((resource) => listMethods(api, resource))]
}

function buildPattern(path) {
  const parts = path.split(/\{\+?[^}]*\}/).map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('([^/]+)')}$`)
}

function checkExchange(methods, { method, url, headers, body, status, responseBody, isComplete }, findings) {
  const { pathname, searchParams } = new URL(url, 'http://google.test')
  const found = methods
    .filter((candidate) => candidate.method.httpMethod === method && candidate.pattern.test(pathname))
    .sort((left, right) => left.path.split('{').length - right.path.split('{').length)[0]
  // https://developers.google.com/gmail/api/guides/uploads: the bytes of an upload session.
  if (found === undefined && method === 'PUT' && searchParams.has('upload_id')) return
  if (found === undefined) return findings.add('request', `${method} ${pathname}`, 'no such method', status)
  const where = `${method} ${found.path}`
  const add = (side) => (what, example) => findings.add(side, where, what, example)
  checkParameters(found, searchParams, add('request'))
  checkRequestBody(found, headers, body, add('request'))
  if (isComplete && responseBody !== null) checkResponse(found, status, responseBody, add('response'))
}

function checkParameters({ api, method }, query, add) {
  const parameters = { ...api.parameters, ...method.parameters }
  const names = [...new Set(query.keys())]
  for (const name of names) {
    const parameter = parameters[name]
    if (parameter === undefined && !COMMON.has(name)) add(`unknown parameter ${name}`, query.get(name))
    if (parameter === undefined) continue
    if (query.getAll(name).length > 1 && parameter.repeated !== true) add(`${name} is repeated`)
    for (const value of query.getAll(name)) checkParameter(name, parameter, value, add)
  }
  for (const [name, parameter] of Object.entries(method.parameters ?? {})) {
    if (parameter.required && parameter.location === 'query' && !query.has(name)) add(`${name} is missing`)
  }
  const maxResults = Number(query.get('maxResults') ?? 0)
  if (maxResults > (MAX_RESULTS[api.name] ?? Infinity)) add('maxResults is over the cap', maxResults)
  if (query.has('fields') && method.response) checkFieldMask(api, method.response, query.get('fields'), add)
  const pageSize = Number(query.get('pageSize') ?? 0)
  if (pageSize > (MAX_PAGE_SIZE[api.name] ?? Infinity)) add('pageSize is over the cap', pageSize)
  for (const name of FIELD_MASKS) checkPaths(parameters[name], name, query.get(name), add)
  if (query.has('sortOrder') && (query.has('requestSyncToken') || query.has('syncToken'))) add('sortOrder with a sync')
  const forbidden = query.has('syncToken') ? NOT_WITH_SYNC_TOKEN.filter((name) => query.has(name)) : []
  if (forbidden.length > 0) add(`syncToken together with ${forbidden}`)
}

/** A mask of names, which the description of the parameter lists: `* addresses * ageRanges`. */
function checkPaths(parameter, name, mask, add) {
  if (parameter === undefined || mask === null) return
  const allowed = [...parameter.description.matchAll(/\* (\w+)/g)].map(([, path]) => path)
  for (const path of mask.split(',')) if (!allowed.includes(path)) add(`${name} names the unknown ${path}`, mask)
}

function checkParameter(name, { type, format, enum: values, minimum, maximum }, value, add) {
  if (values !== undefined && !values.includes(value)) add(`${name} is not in its enum`, value)
  if (type === 'boolean' && value !== 'true' && value !== 'false') add(`${name} is no boolean`, value)
  if (type === 'integer' && !/^-?\d+$/.test(value)) add(`${name} is no integer`, value)
  if (maximum !== undefined && Number(value) > Number(maximum)) add(`${name} is over ${maximum}`, value)
  if (minimum !== undefined && Number(value) < Number(minimum)) add(`${name} is below ${minimum}`, value)
  if (format === 'date-time' && !RFC_3339.test(value)) add(`${name} is no RFC 3339 time`, value)
}

function checkRequestBody({ api, method }, headers, body, add) {
  if (!body || !String(headers['content-type'] ?? '').includes('json')) return
  const json = parseJson(body)
  if (json === undefined) add('the body is no JSON', body)
  else if (method.request) checkSchema(api, method.request, json, { add, isRequest: true })
  else if (Object.keys(json).length > 0) add('a body where none is taken', Object.keys(json))
}

function checkResponse({ api, method, isUpload }, status, text, add) {
  const json = parseJson(text)
  if (status >= 400) return checkErrorBody(status, json, add)
  if (json === undefined) {
    if (method.response && !isUpload) add(`${status} without JSON`, text)
    return
  }
  if (method.response) checkSchema(api, resolveSchema(api, method.response), json, { add, isRequest: false })
  else if (Object.keys(json).length > 0) add('a body where none is returned', Object.keys(json))
}

/** Each part of a batch is an exchange of its own. https://developers.google.com/gmail/api/guides/batch */
function checkBatch(methods, { body, status, responseBody }, findings) {
  const add = (side, what, example) => findings.add(side, 'POST /batch', what, example)
  const parts = parseParts(body ?? '')
  if (parts === undefined) return add('request', 'no boundary', body)
  if (parts.length > MAX_BATCH_PARTS) add('request', `over ${MAX_BATCH_PARTS} parts`, parts.length)
  if (status >= 300 || responseBody === null) return
  const responses = new Map()
  for (const { id, rest } of parseParts(responseBody) ?? []) {
    const [, code] = /^HTTP\/1\.1 (\d+)/.exec(rest) ?? []
    if (!id.startsWith('response-')) add('response', 'the Content-ID does not begin with response-', id)
    responses.set(id.replace(/^response-/, ''), { status: Number(code), responseBody: messageContent(rest) })
  }
  for (const { id, rest } of parts) {
    const [method, url] = rest.split(' ')
    const response = responses.get(id)
    const headers = Object.fromEntries(rest.split('\r\n\r\n')[0].split('\r\n').slice(1).map(parseHeader))
    if (response === undefined) continue
    checkExchange(
      methods,
      { method, url, headers, body: messageContent(rest), ...response, isComplete: true },
      findings,
    )
  }
}

/** The Content-ID of each part and its HTTP message. */
function parseParts(text) {
  const [boundary] = /^--\S+/.exec(text.trimStart()) ?? []
  if (boundary === undefined) return undefined
  return text
    .split(boundary)
    .slice(1, -1)
    .map((part) => {
      const [head, ...rest] = part.split('\r\n\r\n')
      const [, id = ''] = /^content-id:\s*<?(.*?)>?\s*$/im.exec(head) ?? []
      return { id, rest: rest.join('\r\n\r\n') }
    })
}

function messageContent(message) {
  return message.split('\r\n\r\n').slice(1).join('\r\n\r\n').trim()
}

function parseHeader(line) {
  const [name, ...value] = line.split(':')
  return [name.toLowerCase(), value.join(':').trim()]
}
