import type { Json } from './components.ts'
import type { Example, ExampleRequest } from './examples.ts'
import type { RouteEntry } from './route-table.ts'

const KEY = `Authorization: \`Bearer \${process.env.SERVICE_API_KEY}\``
const FAILED = `if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`)`

type Route = Pick<RouteEntry, 'method' | 'url' | 'access' | 'schema'>

/** The request as a module for Node, without packages. It prints what the service sends. */
export function typescript(route: Route, example: Partial<Example>, serverUrl: string): string {
  const { request = {}, response } = example
  const isRedirect = response?.headers?.location !== undefined
  const isUnchanged = response?.status === 304
  const { path = {}, query = {}, body, files } = request
  const at = route.url.replaceAll(/:([A-Za-z0-9_]+)/g, (_match, name: string) =>
    name in path ? encodeURIComponent(path[name] ?? '') : `{${name}}`,
  )
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  const url = quoted(`${serverUrl}${at}${search && `?${search}`}`)
  const options = [...requestOptions(route, request), ...(isRedirect ? [`redirect: 'manual',`] : [])]
  return [
    ...(files === undefined ? [] : formLines(body, files)),
    options.length === 0 ? `const response = await fetch(${url})` : `const response = await fetch(${url}, {`,
    ...(options.length === 0 ? [] : [...options.map((line) => `  ${line}`), '})']),
    ...(isUnchanged
      ? ['console.log(response.status)']
      : isRedirect
        ? [`console.log(response.status, response.headers.get('location'))`]
        : [FAILED, ...resultLines(route, response)]),
  ].join('\n')
}

function requestOptions(route: Route, { headers = {}, body, files }: ExampleRequest): string[] {
  const fields = [
    ...(route.access === 'public' ? [] : [KEY]),
    ...Object.entries(headers).map(([name, value]) => `${memberName(name)}: ${quoted(value)}`),
    ...(body !== undefined && files === undefined && !hasType(headers) ? [`'Content-Type': 'application/json'`] : []),
  ]
  const sent = sentBody(body, files)
  return [
    ...(route.method === 'GET' ? [] : [`method: '${route.method}',`]),
    ...(fields.length === 0 ? [] : ['headers: {', ...fields.map((field) => `  ${field},`), '},']),
    ...(sent === undefined ? [] : `body: ${sent},`.split('\n')),
  ]
}

const hasType = (headers: Readonly<Record<string, string>>) =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')

function sentBody(body: Json | undefined, files: ExampleRequest['files']): string | undefined {
  if (files !== undefined) return 'form'
  return body === undefined ? undefined : `JSON.stringify(${literal(body)})`
}

/** A form with the JSON as the field `message`, and the files of the working folder. */
function formLines(body: Json | undefined, files: NonNullable<ExampleRequest['files']>): string[] {
  return [
    `import { openAsBlob } from 'node:fs'`,
    '',
    'const form = new FormData()',
    ...(body === undefined ? [] : `form.append('message', JSON.stringify(${literal(body)}))`.split('\n')),
    ...files.map(
      ({ part, filename, contentType }) =>
        `form.append(${quoted(part)}, await openAsBlob(${quoted(filename)}, { type: ${quoted(contentType)} }), ${quoted(filename)})`,
    ),
    '',
  ]
}

/** Prints a stream as it arrives, the type and the size of a file, and anything else as it is. */
function resultLines({ schema: { produces = [] } }: Route, response: Example['response'] | undefined): string[] {
  if (produces.includes('text/event-stream')) {
    return [
      'const decoder = new TextDecoder()',
      'for await (const chunk of response.body ?? []) console.log(decoder.decode(chunk, { stream: true }))',
    ]
  }
  if (produces.some((type) => type === '*/*' || type === 'message/rfc822')) {
    return ['const file = await response.blob()', 'console.log(file.type, file.size)']
  }
  if (response?.type !== undefined && response.type !== 'application/json')
    return ['console.log(await response.text())']
  return response?.body === undefined ? [] : ['console.log(await response.json())']
}

/** The value as people write it: names without quotes where that is allowed, texts in single quotes. */
function literal(value: Json, indent = ''): string {
  if (typeof value === 'string') return quoted(value)
  if (value === null || typeof value !== 'object') return String(value)
  const inner = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(([name, member]) => `${memberName(name)}: ${literal(member ?? null, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (parts.length === 0) return `${open}${close}`
  const line = `[${parts.join(', ')}]`
  if (Array.isArray(value) && line.length <= 80 && value.every((item) => typeof item !== 'object')) return line
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`
}

const memberName = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name))

/** JSON escapes what a text in quotes may not contain. */
function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
