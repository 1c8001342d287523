// Checks recorded exchanges with Microsoft Graph against its metadata, and against rules of its documentation.
import { join } from 'node:path'
import { parseJson } from './findings.mjs'
import { readGraphModel, resolvePath } from './graph-model.mjs'
import { checkConsistency, checkPrefer, checkQuery, queryOptions } from './graph-query.mjs'
import { checkEntity, checkValue } from './graph-values.mjs'

const MAX_BATCH_ITEMS = 20
const BATCH_MEMBERS = ['id', 'method', 'url', 'headers', 'body', 'dependsOn']
/** Documented statuses, where they are not 200 for GET and PATCH, 201 for a POST that creates, and 204 for DELETE. */
const STATUSES = {
  'POST /me/messages/{id}/send': 202,
  'POST /me/messages/{id}/permanentDelete': 204,
  'POST /me/sendMail': 202,
  'POST /me/calendar/getSchedule': 200,
  'POST /me/calendars/{id}/events/{id}/accept': 202,
  'POST /me/calendars/{id}/events/{id}/decline': 202,
  'POST /me/calendars/{id}/events/{id}/tentativelyAccept': 202,
}
const USUAL_STATUSES = { GET: 200, PATCH: 200, POST: 201, DELETE: 204 }

/** `folder` contains the metadata as `graph-v1.0.csdl`. */
export function graphChecker(folder, findings) {
  const model = readGraphModel(join(folder, 'graph-v1.0.csdl'))
  return {
    name: 'Graph',
    handles: (path) => path.startsWith('/v1.0/'),
    check(record) {
      if (record.url.split('?')[0] === '/v1.0/$batch') checkBatch(model, record, findings)
      else checkExchange(model, { ...record, isPart: false }, findings)
    },
  }
}

function checkExchange(model, exchange, findings) {
  const { method, url, headers, body, status, responseBody, isComplete } = exchange
  const { pathname, search } = new URL(url, 'http://graph.test')
  const resource = resolvePath(model, pathname.replace('/v1.0', ''))
  if (resource === undefined) return findings.add('request', `${method} ${pathname}`, 'no such resource', status)
  const where = `${method} ${resource.pattern}`
  const add = (side) => (what, example) => findings.add(side, where, what, example)
  const options = queryOptions(search)
  checkQuery(model, resource, options, add('request'))
  checkPrefer(resource, headers, add('request'))
  checkConsistency(resource, options, headers, add('request'))
  checkRequestBody(model, resource, exchange, add('request'))
  if (resource.operation?.kind === 'Action' && method !== 'POST') findings.add('request', where, 'an action takes POST')
  if (!isComplete || responseBody === null || body === null) return
  checkResponse(model, resource, { ...exchange, where, options }, add('response'))
}

function checkRequestBody(model, { type, operation }, { headers, body }, add) {
  if (!body || String(headers['content-type'] ?? '').startsWith('text/plain')) return
  const json = parseJson(body)
  if (json === undefined) return add('the body is no JSON', body)
  if (operation === undefined) {
    if (type !== undefined) checkEntity(model, type, json, add, { isRequest: true })
    return
  }
  for (const [name, value] of Object.entries(json)) {
    const [, parameter] =
      [...operation.parameters].find(([parameterName]) => parameterName.toLowerCase() === name.toLowerCase()) ?? []
    if (parameter === undefined) add(`unknown parameter ${name} of the action`, value)
    else checkValue(model, { type: parameter, isNullable: true }, value, add, name)
  }
}

function checkResponse(
  model,
  { type, isList, operation },
  { method, status, responseBody, isPart, where, options },
  add,
) {
  const json = parseJson(responseBody)
  if (status >= 400) {
    const { code, message } = json?.error ?? {}
    if (typeof code !== 'string' || typeof message !== 'string')
      add(`error ${status} without code and message`, responseBody)
    return
  }
  const expected = STATUSES[where] ?? USUAL_STATUSES[method]
  if (status !== expected) add(`status ${status}, documented is ${expected}`)
  if (type === undefined || method === 'DELETE' || (operation !== undefined && operation.returns === undefined)) {
    if (json && !where.endsWith('/$value')) add('a body where none is returned', json)
    return
  }
  if (json === undefined) return add(`${status} without JSON`, responseBody)
  if (!isPart && json['@odata.context'] === undefined) add('no @odata.context')
  const isListed = isList && (method === 'GET' || operation !== undefined)
  if (isListed) checkList(model, type, json, add)
  else checkEntity(model, type, json, add)
  if (method === 'GET') checkSelected(isListed ? json.value : [json], options, add)
}

function checkList(model, type, json, add) {
  for (const name of Object.keys(json)) {
    if (name !== 'value' && !name.startsWith('@odata')) add(`unknown member ${name} of a list`)
  }
  for (const item of json.value ?? []) {
    const removed = item['@removed']
    if (removed !== undefined) {
      if (!['deleted', 'changed'].includes(removed.reason)) add('unknown reason of @removed', item)
      continue
    }
    checkEntity(model, type, item, add)
    if (type === 'scheduleInformation') continue
    if (typeof item.id !== 'string') add('an item without id', item)
    if (['message', 'event', 'contact'].includes(type) && item['@odata.etag'] === undefined)
      add('an item without @odata.etag')
  }
}

/** With $select a response has the selected members, the id and what was expanded. */
function checkSelected(items, options, add) {
  const select = options.get('$select')
  if (select === undefined) return
  const names = [...select.split(','), ...(options.get('$expand') ?? '').split(',')]
  const wanted = new Set(['id', ...names.map((name) => name.trim().split('(')[0].split('/').at(-1))])
  for (const item of items ?? []) {
    for (const name of Object.keys(item))
      if (!name.includes('@') && !wanted.has(name)) add(`${name}, which is not selected`)
  }
}

/** https://learn.microsoft.com/graph/json-batching */
function checkBatch(model, { body, responseBody, isComplete }, findings) {
  const add = (side, what, example) => findings.add(side, 'POST /$batch', what, example)
  const requests = parseJson(body ?? '')?.requests
  if (!Array.isArray(requests)) return add('request', 'no requests', body)
  if (requests.length > MAX_BATCH_ITEMS) add('request', `over ${MAX_BATCH_ITEMS} items`, requests.length)
  if (new Set(requests.map(({ id }) => id)).size !== requests.length) add('request', 'ids are repeated')
  const responses = (isComplete && parseJson(responseBody ?? '')?.responses) || []
  for (const response of responses) {
    if (typeof response.id !== 'string' || typeof response.status !== 'number')
      add('response', 'id or status of a wrong type', response)
  }
  for (const request of requests) {
    for (const name of Object.keys(request)) if (!BATCH_MEMBERS.includes(name)) add('request', `unknown member ${name}`)
    const headers = Object.fromEntries(
      Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    )
    if (request.body !== undefined && headers['content-type'] === undefined)
      add('request', 'a body without Content-Type')
    const response = responses.find(({ id }) => id === request.id)
    if (response === undefined) continue
    checkExchange(
      model,
      {
        method: request.method,
        url: `/v1.0${request.url}`,
        headers,
        body: request.body === undefined ? '' : JSON.stringify(request.body),
        status: response.status,
        responseBody: response.body === undefined ? '' : JSON.stringify(response.body),
        isComplete: true,
        isPart: true,
      },
      findings,
    )
  }
}
