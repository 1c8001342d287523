import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiDocument } from '../../src/app/api-document.ts'
import {
  type Document,
  type Operation,
  operations,
  pointerPart,
  type Schema,
  sample,
  schemaChecker,
} from '../kit/api/openapi.ts'
import { type Api, type ApiResponse, api } from '../kit/http/http.ts'
import { type Service, startService } from '../kit/service/service.ts'

/** Checks every guarantee of the OpenAPI document that does not depend on what a route does. */
const document: Document = JSON.parse(await readFile('openapi.json', 'utf8'))
const all = operations(document)
const keyed = all.filter((operation) => operation.keyed)
const withBody = all.filter((operation) => operation.takesBody)
const named = (some: Operation[]) =>
  some.map((operation) => [`${operation.method} ${operation.path}`, operation] as const)

let service: Service
let owner: Api
let stranger: Api
beforeAll(async () => {
  service = await startService({ environment: { TRUSTED_PROXIES: 'loopback' } })
  owner = api(service.url, service.key)
  stranger = api(service.url)
})
afterAll(() => service.stop())

const schemaErrors = schemaChecker(document)

function expectError(response: ApiResponse, status: number, code: string): void {
  expect([response.status, response.json?.error?.code, response.text.slice(0, 300)]).toEqual([
    status,
    code,
    expect.anything(),
  ])
  expect(schemaErrors(response.json, '/components/schemas/Error')).toEqual([])
  expect(response.json.requestId).toBe(response.headers.get('x-request-id'))
}

const filled = (path: string) => path.replaceAll(/\{(\w+)\}/g, 'nothing_00000000')

describe('the document', () => {
  it('equals the one of the routes, and the service returns it for its own address', async () => {
    expect(JSON.parse(JSON.stringify(await apiDocument()))).toEqual(document)
    const { json } = await stranger.get('/openapi.json')
    expect(json).toEqual({ ...document, servers: [{ url: '.' }] })
  })

  it.each(named(all))('%s has a summary, a tag and schemas that compile', (_name, operation) => {
    const { method, path, responses, body } = operation
    const described = document.paths[path]?.[method.toLowerCase()]
    expect(described?.summary).toBeTruthy()
    expect(described?.tags).toHaveLength(1)
    expect(document.tags.find(({ name }) => name === described?.tags?.[0])?.description).toBeTruthy()
    const at = `/paths/${pointerPart(path)}/${method.toLowerCase()}`
    for (const [status, response] of Object.entries(responses)) {
      for (const type of Object.keys(response.content ?? {})) {
        if (response.content?.[type]?.schema === undefined) continue
        schemaErrors({}, `${at}/responses/${status}/content/${pointerPart(type)}/schema`)
      }
    }
    if (body !== undefined) schemaErrors({}, `${at}/requestBody/content/application~1json/schema`)
  })

  it('names each operation shortly, verb first, and links no other name', async () => {
    const ids = all.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) {
      expect(id).toMatch(/^[a-z][A-Za-z]{2,40}$/)
      expect(id).not.toMatch(/By/)
    }
    const links = [...JSON.stringify(document).matchAll(/#tag\/([\w-]+)\/operation\/(\w+)/g)]
    expect(links.length).toBeGreaterThan(2)
    for (const [, tag, id] of links) {
      expect([id, all.find(({ operationId }) => operationId === id)?.tag?.replaceAll(' ', '-')]).toEqual([id, tag])
    }
  })

  it('describes every parameter', () => {
    const parameters = all.flatMap(({ operationId, parameters }) =>
      parameters.map(({ name, description }) => [operationId, name, description]),
    )
    expect(parameters.length).toBeGreaterThan(200)
    expect(parameters.filter(([, , description]) => !description)).toEqual([])
  })

  it('declares the scope that fits the method, with the exceptions of decision 0047', () => {
    const scopes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]): [string, string | undefined] => [
        `${method.toUpperCase()} ${path}`,
        security.flatMap((need) => Object.values(need).flat())[0],
      ]),
    )
    const exceptions = scopes.filter(([name, scope]) => {
      if (scope === undefined) return false
      return scope !== (name.startsWith('GET ') ? 'read' : 'write')
    })
    const readsOnly = (name: string) => name.endsWith('/availability')
    const isAdministration = (name: string) =>
      / \/(api-keys|audit|settings|encryption-keys|providers\/\{providerName\}\/validate)/.test(name)
    for (const [name, scope] of exceptions) {
      expect([name, scope]).toEqual([name, readsOnly(name) ? 'read' : 'admin'])
      expect([name, readsOnly(name) || isAdministration(name)]).toEqual([name, true])
    }
    expect(scopes.filter(([name, scope]) => isAdministration(name) && scope !== 'admin')).toEqual([])
  })

  it.each([
    ['createAuthSession', 'expiresInMinutes', 30],
    ['connectImapMailbox', 'port', 993],
    ['connectImapMailbox', 'mailbox', 'INBOX'],
    ['listImapFolders', 'port', 993],
    ['createAccount', 'port', 993],
    ['createAccount', 'mailbox', 'INBOX'],
    ['createDraft', 'isHtml', false],
    ['sendMessage', 'isHtml', false],
    ['createExperience', 'isActive', true],
    ['createWebhookEndpoint', 'eventTypes', ['message.received', 'mailbox.changed']],
    ['createWebhookEndpoint', 'isActive', true],
    ['createWebhookEndpoint', 'retryCount', 3],
    ['createWebhookEndpoint', 'retryDelayMs', 1000],
    ['createWebhookEndpoint', 'retryStrategy', 'fixed'],
    ['createWebhookEndpoint', 'timeoutMs', 30_000],
    ['listAccounts', 'page', 1],
    ['listAccounts', 'limit', 50],
    ['listLogs', 'limit', 100],
    ['listLabels', 'includeSystem', false],
  ])('gives the default of %s: %s is %o', (id, member, value) => {
    const operation = all.find(({ operationId }) => operationId === id)
    const parameter = operation?.parameters.find(({ name }) => name === member)
    const schemas = parameter === undefined ? findMembers(operation?.body, member) : [parameter.schema]
    // A member of several kinds of body may have no default in one of them.
    const shown = schemas.length === 1 ? schemas : schemas.filter((schema) => 'default' in schema)
    expect(shown.map((schema) => schema.default)).toEqual([value])
  })

  it('gives bodies that change stored values no defaults, so that clients send only what shall change', () => {
    const changes = all.filter(
      ({ method, operationId }) => ['PATCH', 'PUT'].includes(method) || operationId === 'updateDeduplicationConfig',
    )
    expect(changes.length).toBeGreaterThan(8)
    for (const { operationId, body } of changes) {
      const members = Object.entries(resolved(body)?.properties ?? {})
      expect([operationId, members.length > 0]).toEqual([operationId, true])
      expect([operationId, members.filter(([, schema]) => 'default' in schema)]).toEqual([operationId, []])
    }
  })

  it('writes symbols of Markdown in descriptions as code', () => {
    const descriptions = [...JSON.stringify({ ...document, info: {} }).matchAll(/"description":("(?:[^"\\]|\\.)*")/g)]
    expect(descriptions.length).toBeGreaterThan(200)
    for (const [, text = '""'] of descriptions) expect(JSON.parse(text).replaceAll(/`[^`]*`/g, '')).not.toMatch(/[*<>]/)
  })

  it('gives examples that its own schemas accept', () => {
    for (const [examples, pointer] of walk(document, '')) {
      for (const example of examples) expect([pointer, schemaErrors(example, pointer)]).toEqual([pointer, []])
    }
  })
})

describe('every keyed route', () => {
  it.each(named(keyed))('%s requires the key before anything else', async (_name, { method, path }) => {
    // Wrong keys are limited per address.
    const headers = { 'x-forwarded-for': `203.0.113.${keyed.findIndex((operation) => operation.path === path)}` }
    for (const client of [stranger, api(service.url, 'wrong-key')]) {
      const response = await client.request(method, filled(path), { headers, ...(method !== 'GET' && { body: '{' }) })
      expectError(response, 401, 'unauthorized')
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  const withId = keyed.filter((operation) => operation.path.includes('{'))
  it.each(named(withId))('%s returns 404 for an unknown id', async (_name, { method, path, body }) => {
    const response = await owner.request(method, filled(path), {
      ...(body !== undefined && { body: sample(body, document) }),
    })
    expectError(response, 404, 'not_found')
  })
})

/** Probes often share the address of one proxy. A rate limit would make them restart healthy processes. */
const PROBES = ['/health/live', '/health/ready']

describe('every public route', () => {
  const open = all.filter((operation) => !operation.keyed && !PROBES.includes(operation.path))
  it.each(named(open))('%s limits the rate per address', async (_name, { method, path, responses }) => {
    expect(responses).toHaveProperty('429')
    const response = await stranger.request(method, filled(path))
    expect(Number(response.headers.get('ratelimit-limit'))).toBeGreaterThan(0)
    expect(Number(response.headers.get('ratelimit-remaining'))).toBeGreaterThanOrEqual(0)
    expect(Number(response.headers.get('ratelimit-reset'))).toBeGreaterThan(0)
  })
})

describe('every route with a body', () => {
  it.each(named(withBody))(
    '%s rejects other JSON types, malformed JSON and other media types',
    async (_name, { method, path }) => {
      const headers = { accept: 'application/json' }
      const list = await owner.request(method, filled(path), { body: '[1]', headers })
      expectError(list, 400, 'validation_failed')
      expect(list.json.error.details[0]).toMatchObject({ path: expect.stringMatching(/^body/) })
      expectError(await owner.request(method, filled(path), { body: '{', headers }), 400, 'malformed_json')
      const text = await owner.request(method, filled(path), {
        body: 'x',
        headers: { ...headers, 'content-type': 'text/plain' },
      })
      expectError(text, 415, 'unsupported_media_type')
    },
  )

  it.each(named(withBody))(
    '%s rejects 30,000 levels of JSON, with an Idempotency-Key too',
    async (_name, operation) => {
      const path = filled(operation.path)
      const body = `{"data":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
      for (const key of [{}, { 'idempotency-key': `deep ${operation.method} ${path}` }]) {
        const headers = { accept: 'application/json', ...key }
        expectError(await owner.request(operation.method, path, { body, headers }), 400, 'malformed_json')
      }
    },
  )

  const required = withBody.filter((operation) => (operation.body?.required ?? []).length > 0)
  it.each(named(required))('%s names the missing members', async (_name, { method, path, body, keyed }) => {
    const response = await owner.request(method, filled(path), { body: '{}', headers: { accept: 'application/json' } })
    expectError(response, 400, 'validation_failed')
    const reported = response.json.error.details.map((detail: { path: string }) => detail.path)
    const missing = (body?.required ?? []).map((name) => `body.${name}`)
    // The hosted forms check the session first and report nothing else without one.
    if (keyed) expect(reported).toEqual(expect.arrayContaining(missing))
    else expect(missing).toEqual(expect.arrayContaining(reported))
  })
})

function resolved(schema: Schema | undefined): Schema | undefined {
  return schema?.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1) ?? '']
}

/** The schemas of a member of a body, or of those alternatives of the body that have it. */
function findMembers(body: Schema | undefined, member: string): Schema[] {
  const { properties = {}, oneOf = [] } = resolved(body) ?? {}
  return [properties[member] ?? [], ...oneOf.flatMap((branch) => findMembers(branch, member))].flat()
}

/** Whether an operation with this template serves the path: `/messages/send` is a path of `/messages/{messageId}`, too. */
function isServed(path: string, template: string): boolean {
  const pattern = template.split('/').map((part) => (part.startsWith('{') ? '[^/]+' : part))
  return new RegExp(`^${pattern.join('/')}$`).test(path)
}

describe('every path', () => {
  const paths = Object.keys(document.paths)
  it.each(paths)('%s returns 405 for other methods, and lists the allowed ones', async (path) => {
    const methods = all.filter((operation) => isServed(path, operation.path)).map((operation) => operation.method)
    const other = ['DELETE', 'PUT', 'PATCH', 'POST', 'GET'].find((method) => !methods.includes(method)) ?? 'OPTIONS'
    const response = await owner.request(other, filled(path))
    expectError(response, 405, 'method_not_allowed')
    const allowed = response.headers.get('allow')?.split(', ') ?? []
    const documented = allowed.filter((method) => method !== 'HEAD' && method !== 'OPTIONS')
    expect(new Set(documented)).toEqual(new Set(methods))
  })

  it('returns 404 when unknown, with and without a key', async () => {
    expectError(await owner.post('/no/such/path', {}), 404, 'route_not_found')
    expectError(await stranger.get('/no/such/path'), 404, 'route_not_found')
  })
})

describe('every list', () => {
  const lists = all.filter(
    (operation) =>
      operation.keyed && !operation.path.includes('{') && takes(operation, 'limit') && takes(operation, 'page'),
  )
  it.each(named(lists))('%s pages as specified', async (_name, { path }) => {
    const response = await owner.get(`${path}?limit=100000`)
    expect(response.status).toBe(200)
    expect(schemaErrors(response.json.pagination, '/components/schemas/Pagination')).toEqual([])
    expect(response.json.pagination).toMatchObject({ page: 1, limit: 200, hasPrev: false })
    for (const query of ['page=0', 'page=x', 'limit=0', 'limit=1.5', 'cursor=nonsense']) {
      const rejected = await owner.get(`${path}?${query}`)
      expect([query, rejected.status]).toEqual([query, 400])
      expect(rejected.json.error.details[0].path).toBe(`query.${query.split('=')[0]}`)
    }
  })
})

function takes(operation: Operation, name: string): boolean {
  return operation.parameters.some((parameter) => parameter.in === 'query' && parameter.name === name)
}

/** Every schema inside the document, with its JSON pointer. */
function* walk(part: unknown, pointer: string): Generator<[unknown[], string]> {
  if (part === null || typeof part !== 'object') return
  if ('examples' in part && Array.isArray(part.examples)) yield [part.examples, pointer]
  for (const [name, value] of Object.entries(part)) {
    if (name !== 'examples') yield* walk(value, `${pointer}/${pointerPart(name)}`)
  }
}
