// `src/generated/resources.ts`: a class for each resource, with a method for each operation.
import { RESOURCES } from './names.mjs'

const HEAD = `// Generated from openapi.json by \`npm run generate\`.

import { type ApiRequest, type Client, type IdempotentOptions, path, type RequestOptions } from '../http/client.ts'
import { readStream, type StreamOptions } from '../http/event-stream.ts'
import { listPages, type PagedList } from '../http/page.ts'
import type { Files } from '../http/upload.ts'
import type { Body, List, Query, Result } from '../operation-types.ts'
import type { Event, LogEntry } from './schema.ts'
`

/** The items of streams, which the document describes as texts. */
const STREAMED = { streamEvents: 'Event', streamLogs: 'LogEntry' }
const KEY = 'idempotency-key'
/** The resource's own parameters of a stream; the options have the same. */
const STREAM_HEADER = 'last-event-id'

/** @param {object} document the OpenAPI document. Throws for an operation without a method, and the reverse. */
export function sdkResources(document) {
  const operations = readOperations(document)
  const named = Object.values(RESOURCES).flatMap(({ methods }) => Object.values(methods))
  const unnamed = [...operations.keys()].filter((id) => !named.includes(id))
  if (unnamed.length > 0) throw new Error(`Name the method for ${unnamed.join(', ')} in sdk/generator/names.mjs.`)
  const classes = Object.entries(RESOURCES).map(([name, { about, methods }]) => {
    const texts = Object.entries(methods).map(([method, id]) => {
      const operation = operations.get(id)
      if (operation === undefined) throw new Error(`sdk/generator/names.mjs names ${id}, which the API does not have.`)
      return describeMethod(method, operation)
    })
    return `/** ${about} */
export class ${className(name)} {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

${texts.join('\n\n')}
}
`
  })
  return [HEAD, ...classes, resourcesClass()].join('\n')
}

function resourcesClass() {
  const names = Object.keys(RESOURCES)
  return `/** Every resource of the API. */
export class Resources {
${names.map((name) => `  /** ${RESOURCES[name].about} */\n  readonly ${name}: ${className(name)}`).join('\n')}

  constructor(client: Client) {
${names.map((name) => `    this.${name} = new ${className(name)}(client)`).join('\n')}
  }
}
`
}

const className = (name) => name[0].toUpperCase() + name.slice(1)

/** The operations by their id, with what a method depends on. */
function readOperations(document) {
  const operations = new Map()
  for (const [address, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const parameters = (operation.parameters ?? []).map((parameter) => resolve(document, parameter))
      const of = (where) => parameters.filter((parameter) => parameter.in === where).map(({ name }) => name)
      const headers = of('header').map((name) => name.toLowerCase())
      const [content = {}] = Object.entries(operation.responses)
        .filter(([status]) => /^2/.test(status))
        .map(([, response]) => response.content)
      operations.set(operation.operationId, {
        id: operation.operationId,
        method: method.toUpperCase(),
        address,
        operation,
        ids: of('path'),
        hasQuery: of('query').length > 0,
        headers: headers.filter((name) => name !== KEY && name !== STREAM_HEADER),
        takesKey: headers.includes(KEY),
        body: operation.requestBody,
        takesFiles: 'multipart/form-data' in (operation.requestBody?.content ?? {}),
        kind: responseKind(operation, content),
        listed: listedMember(content),
      })
    }
  }
  return operations
}

function resolve(document, parameter) {
  if (parameter.$ref === undefined) return parameter
  return document.components.parameters[parameter.$ref.split('/').at(-1)]
}

/** The member with the items of a list, which has a cursor. */
function listedMember(content) {
  const { properties = {} } = content['application/json']?.schema ?? {}
  if (properties.pagination === undefined) return undefined
  return Object.keys(properties).find((name) => properties[name].type === 'array')
}

function responseKind({ operationId }, content) {
  const types = Object.keys(content ?? {})
  if (listedMember(content ?? {}) !== undefined) return 'list'
  if (types.includes('application/json')) return 'json'
  if (operationId in STREAMED) return 'stream'
  return types.some((type) => type.startsWith('text/')) ? 'text' : 'raw'
}

function describeMethod(name, described) {
  const { id, method, address, ids, hasQuery, body, headers, takesKey, takesFiles, kind, listed } = described
  const signature = [
    ...ids.map((parameter) => `${parameter}: string`),
    ...(body === undefined ? [] : [`body${body.required ? '' : '?'}: Body<'${id}'>`]),
    ...(hasQuery ? [`query?: Query<'${id}'>`] : []),
    `options?: ${optionsType(described)}`,
  ]
  const request = [
    `method: '${method}'`,
    `path: path\`${address.replaceAll('{', '$' + '{')}\``,
    ...(hasQuery ? ['query'] : []),
    ...(body === undefined ? [] : [body.required ? 'body' : `body: body ?? {}`]),
    ...(takesFiles ? ['files: options?.files'] : []),
    ...(headers.length === 0
      ? []
      : [`headers: { ${headers.map((header) => `'${header}': options?.${camelCase(header)}`).join(', ')} }`]),
    ...(takesKey ? ['takesKey: true', 'idempotencyKey: options?.idempotencyKey'] : []),
  ]
  const [type, call] = {
    list: [
      `PagedList<${`List<'${id}', '${listed}'>`}, Result<'${id}'>>`,
      `listPages(this.#client, request, '${listed}', options)`,
    ],
    json: [`Promise<Result<'${id}'>>`, 'this.#client.json(request, options)'],
    text: ['Promise<string>', 'this.#client.text(request, options)'],
    raw: ['Promise<Response>', 'this.#client.raw(request, options)'],
    stream: [`AsyncGenerator<${STREAMED[id]}, void, undefined>`, 'readStream(this.#client, request, options)'],
  }[kind]
  return [
    documentation(described),
    `  ${name}(${signature.join(', ')}): ${type} {`,
    '    const request: ApiRequest = {',
    ...request.map((member) => `      ${member},`),
    '    }',
    `    return ${call}`,
    '  }',
  ].join('\n')
}

function optionsType({ headers, takesKey, takesFiles, kind }) {
  if (kind === 'stream') return 'StreamOptions'
  const members = [
    ...(takesFiles ? ['files?: Files | undefined'] : []),
    ...headers.map((header) => `${camelCase(header)}?: string | undefined`),
  ]
  const base = takesKey ? 'IdempotentOptions' : 'RequestOptions'
  return members.length === 0 ? base : `${base} & { ${members.join('; ')} }`
}

const camelCase = (header) => header.replaceAll(/-(\w)/g, (_dash, letter) => letter.toUpperCase())

function documentation({ method, address, operation }) {
  const { summary, description } = operation
  const lines = [
    summary,
    ...(description === undefined ? [] : ['', ...description.split('\n')]),
    '',
    `\`${method} ${address}\``,
  ]
  return ['  /**', ...lines.map((line) => `   * ${line.replaceAll('*/', '*\\/')}`.trimEnd()), '   */'].join('\n')
}
