import { Validator } from '@seriousme/openapi-schema-validator'
import * as Type from 'typebox'
import { afterEach, describe, expect, it } from 'vitest'
import { testServer } from '../../../../test/kit/http/server.ts'
import { documented, documentedAs, documentedDefault, nullable } from '../../formats/json-schema.ts'
import { type App, errorSchema, listSchema, type OpenApiWebhooks, openApiDocument, pageQuery } from '../index.ts'
import type { Examples } from './examples.ts'

const info = { title: 'Posthorn', version: '1.2.3', description: 'Mail.', serverUrl: 'http://localhost:8080' }
const thing = Type.Object({ id: Type.String(), title: Type.String() }, { title: 'Thing' })

let app: App
afterEach(() => app.close())

function describedServer(): App {
  app = testServer()
  app.get(
    '/things',
    {
      config: { access: 'key:read' },
      schema: {
        tags: ['Things'],
        operationId: 'listThings',
        summary: 'List things',
        querystring: Type.Object(pageQuery),
        response: { 200: listSchema('things', thing) },
      },
    },
    async () => ({
      things: [],
      pagination: { page: 1, limit: 50, total: 0, totalPages: 0, hasNext: false, hasPrev: false },
    }),
  )
  app.post(
    '/things/:thingId/parts',
    {
      config: { access: 'key:write' },
      schema: {
        tags: ['Things'],
        operationId: 'addPart',
        errors: [502],
        summary: 'Add a part',
        body: Type.Object({ name: Type.String(), like: Type.Optional(thing) }),
        response: { 201: thing },
      },
    },
    async (_request, reply) => reply.code(201).send({ id: '1', title: 't' }),
  )
  const openSchema = { tags: ['Things'], operationId: 'readOpen', summary: 'Read what is open' }
  app.get('/open', { config: { access: 'public' }, schema: openSchema }, async () => '')
  app.get('/asset', { config: { access: 'public' }, schema: { hide: true } }, async () => '')
  return app
}

const added = (id: string) => ({ id, title: 't' })

/** As a reader of the JSON gets it. Untyped, because tests assert on its members. */
function buildDocument(
  server: App,
  parts: { webhooks?: OpenApiWebhooks; examples?: Examples } = {},
): ReturnType<typeof JSON.parse> {
  return JSON.parse(JSON.stringify(openApiDocument(server.routeTable, info, parts)))
}

const webhooks: OpenApiWebhooks = {
  headers: [{ name: 'x-note', description: 'Which.', required: true, example: '1' }],
  responses: { '2XX': 'Taken.', default: 'Tried again.' },
  body: { title: 'Announced', oneOf: [thing] },
  events: [{ name: 'thing.made', summary: 'A thing was made.', body: thing, example: { id: '1', title: 't' } }],
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1 and lists every route that is not hidden', async () => {
    const document = buildDocument(describedServer())
    expect(await new Validator().validate(document)).toEqual({ valid: true })
    expect(Object.keys(document.paths)).toEqual(['/things', '/things/{thingId}/parts', '/open'])
  })

  it('describes the access, parameters and errors of each route', async () => {
    const { paths } = buildDocument(describedServer())
    const post = paths['/things/{thingId}/parts'].post
    expect(post.operationId).toBe('addPart')
    expect(post.security).toEqual([{ bearer: ['write'] }, { apiKey: ['write'] }])
    expect(post.parameters).toEqual([
      { name: 'thingId', in: 'path', required: true, schema: { type: 'string' } },
      { $ref: '#/components/parameters/IdempotencyKey' },
    ])
    expect(post.requestBody.required).toBe(true)
    expect(Object.keys(post.responses)).toEqual([
      '201',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '415',
      '422',
      '429',
      '502',
      '503',
      'default',
    ])
    expect(paths['/things'].get.parameters.map((parameter: { name: string }) => parameter.name)).toEqual([
      'page',
      'limit',
      'maxResults',
      'pageToken',
      'cursor',
    ])
    expect(paths['/open'].get.security).toEqual([])
  })

  it.each([
    [undefined, 'GET /twin has no operationId'],
    ['Get twin', 'GET /twin has the operationId "Get twin", which does not match'],
    ['listThings', 'GET /twin has the operationId "listThings" of GET /things'],
  ])('rejects a route with the operationId %s', (operationId, problem) => {
    const { routeTable } = describedServer()
    const [first] = routeTable
    if (first === undefined) throw new Error('there is no route')
    const duplicate = {
      ...first,
      url: '/twin',
      schema: operationId === undefined ? {} : { operationId },
    }
    expect(() => openApiDocument([...routeTable, duplicate], info)).toThrow(problem)
  })

  it('makes one component of a titled schema, and rejects two different ones with the same title', async () => {
    const { paths, components } = buildDocument(describedServer())
    const list = paths['/things'].get.responses['200'].content['application/json'].schema
    expect(list.properties.things.items).toEqual({ $ref: '#/components/schemas/Thing' })
    expect(list.properties.pagination).toEqual({ $ref: '#/components/schemas/Pagination' })
    expect(components.schemas.Thing.properties.title).toEqual({ type: 'string' })
    const duplicate = { operationId: 'getTwin', response: { 200: Type.Object({}, { title: 'Thing' }) } }
    const routes = app.routeTable.concat(
      ...app.routeTable.slice(0, 1).map((route) => ({ ...route, url: '/twin', schema: duplicate })),
    )
    expect(() => openApiDocument(routes, info)).toThrow('two different schemas have the title "Thing"')
  })

  it('merges values that can be null, so that readers see one description', () => {
    app = testServer()
    const text = Type.String({ minLength: 1, description: 'Why.' })
    const members = {
      reason: nullable(text),
      level: nullable(Type.Enum(['low', 'high'])),
      port: nullable(Type.Union([Type.Integer(), Type.String()], { description: 'Of the server.' })),
      strategy: Type.Union([Type.Literal('fixed'), Type.Literal('exponential')], { description: 'Which.' }),
      part: nullable(thing),
    }
    const schema = {
      tags: ['Things'],
      operationId: 'tryThing',
      summary: 'Try',
      response: { 200: Type.Object(members) },
    }
    app.get('/try', { config: { access: 'public' }, schema }, async () => {
      throw new Error('not called')
    })
    const { paths } = buildDocument(app)
    expect(paths['/try'].get.responses['200'].content['application/json'].schema.properties).toEqual({
      reason: { type: ['string', 'null'], minLength: 1, description: 'Why.' },
      level: { type: ['string', 'null'], enum: ['low', 'high', null] },
      port: { type: ['integer', 'string', 'null'], description: 'Of the server.' },
      strategy: { type: 'string', enum: ['fixed', 'exponential'], description: 'Which.' },
      part: { anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }] },
    })
  })

  it('has keywords and schemas that the service does not apply', async () => {
    app = testServer()
    const body = Type.Object(
      {
        retries: Type.Optional(Type.Integer(documentedDefault(3))),
        slot: Type.Optional(Type.String()),
        hold: Type.Optional(Type.String()),
        like: Type.Optional(Type.Unknown(documentedAs(thing))),
      },
      documented({ anyOf: [{ required: ['slot'] }, { required: ['hold'] }] }),
    )
    const response = { 200: Type.Object({ retries: Type.Optional(Type.Integer(documentedDefault(3))) }) }
    const schema = { tags: ['Things'], operationId: 'tryThing', summary: 'Try', body, response }
    const config = { access: 'public' } as const
    app.post('/try', { config, schema }, async (request) => request.body)
    const { requestBody } = buildDocument(app).paths['/try'].post
    expect(requestBody).toEqual({
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              retries: { type: 'integer', default: 3 },
              slot: { type: 'string' },
              hold: { type: 'string' },
              like: { $ref: '#/components/schemas/Thing' },
            },
            anyOf: [{ required: ['slot'] }, { required: ['hold'] }],
          },
        },
      },
    })
    const sent = await app.inject({ method: 'POST', url: '/try', payload: {} })
    expect([sent.statusCode, sent.json()]).toEqual([200, {}])
  })

  it('describes the webhooks of the service', async () => {
    app = testServer()
    const document = buildDocument(app, { webhooks })
    expect(await new Validator().validate(document)).toEqual({ valid: true })
    const { post } = document.webhooks['thing.made']
    expect(post).toMatchObject({
      operationId: 'onThingMade',
      summary: 'thing.made',
      description: 'A thing was made.',
      security: [],
    })
    expect(post.parameters).toEqual([{ $ref: '#/components/parameters/x-note' }])
    expect(document.components.parameters['x-note']).toMatchObject({ in: 'header', required: true, example: '1' })
    expect(document.components.schemas.Announced).toMatchObject({ oneOf: [{ $ref: '#/components/schemas/Thing' }] })
    expect(post.requestBody.content['application/json']).toEqual({
      schema: { $ref: '#/components/schemas/Thing' },
      examples: { sample: { value: { id: '1', title: 't' } } },
    })
  })

  it('shows the examples of an operation: parameters, bodies, responses, errors, curl and TypeScript', async () => {
    const added = { id: '1', title: "Ada's" }
    const missing = { success: false, error: { code: 'not_found' } }
    const examples: Examples = {
      'POST /things/{thingId}/parts': [
        { request: { path: { thingId: 'a/b' }, body: { name: "Ada's" } }, response: { status: 201, body: added } },
        { request: { path: { thingId: 'none' } }, response: { status: 404, body: missing } },
      ],
    }
    const document = buildDocument(describedServer(), { examples })
    expect(await new Validator().validate(document)).toEqual({ valid: true })
    const { post } = document.paths['/things/{thingId}/parts']
    expect(post.parameters[0]).toMatchObject({ name: 'thingId', example: 'a/b' })
    expect(post.requestBody.content['application/json'].example).toEqual({ name: "Ada's" })
    expect(post.responses['201'].content['application/json'].example).toEqual(added)
    expect(post.responses['404'].content['application/json']).toEqual({
      schema: { $ref: '#/components/schemas/Error' },
      example: missing,
    })
    expect(post.responses['401']).toEqual({ $ref: '#/components/responses/Unauthorized' })
    const shared = document.components.responses.Unauthorized.content['application/json'].example
    expect(shared.error).toMatchObject({ docUrl: 'http://localhost:8080/docs/errors#unauthorized' })
    expect(post['x-codeSamples'].map(({ source }: { source: string }) => source)).toEqual([
      `curl -X POST 'http://localhost:8080/things/a%2Fb/parts' \\
  -H "Authorization: Bearer $SERVICE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{
  "name": "Ada'\\''s"
}'`,
      `const response = await fetch('http://localhost:8080/things/a%2Fb/parts', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.SERVICE_API_KEY}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({
    name: 'Ada\\'s',
  }),
})
if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`)
console.log(await response.json())`,
    ])
  })

  it('names the examples of an operation that has several', () => {
    const examples: Examples = {
      'GET /things': [
        { summary: 'First', request: { query: { limit: 2 } }, response: { status: 200, body: { things: [] } } },
        { summary: 'Second', response: { status: 200, body: { things: [added('2')] } } },
      ],
    }
    const { get } = buildDocument(describedServer(), { examples }).paths['/things']
    expect(get.responses['200'].content['application/json'].examples).toEqual({
      First: { summary: 'First', value: { things: [] } },
      Second: { summary: 'Second', value: { things: [added('2')] } },
    })
    expect(get['x-codeSamples'].map(({ label }: { label: string }) => label)).toEqual([
      'curl: First',
      'curl: Second',
      'TypeScript: First',
      'TypeScript: Second',
    ])
    const limit = get.parameters.find(({ name }: { name: string }) => name === 'limit')
    expect(limit.example).toBe(2)
  })

  it('lists its tags as given, then the others by name', () => {
    const tags = ['Webhook events', 'Unused'].map((name) => ({ name, description: `About ${name}.` }))
    const server = describedServer()
    const document = openApiDocument(server.routeTable, { ...info, tags }, { webhooks })
    expect(document.tags).toEqual([tags[0], { name: 'Things' }])
  })

  it('spells status classes as OpenAPI does', async () => {
    app = testServer()
    const schema = { tags: ['Things'], operationId: 'tryThing', summary: 'Try', response: { '4xx': thing } }
    app.get('/try', { config: { access: 'public' }, schema }, async () => ({ id: '1', title: 't' }))
    const document = buildDocument(app)
    expect(document.paths['/try'].get.responses).toHaveProperty('4XX')
    expect(await new Validator().validate(document)).toEqual({ valid: true })
  })

  it('has an error component that a real error matches', async () => {
    const server = describedServer()
    const body = (await server.inject('/nothing')).json()
    const { Compile } = await import('typebox/compile')
    expect(Compile(errorSchema).Check(body)).toBe(true)
  })
})
