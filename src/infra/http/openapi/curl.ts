import type { ExampleRequest } from './examples.ts'
import type { RouteEntry } from './route-table.ts'

/** The request as a curl command. Path parameters without an example stay as `{name}`. */
export function curl(
  route: Pick<RouteEntry, 'method' | 'url' | 'access' | 'schema'>,
  request: ExampleRequest,
  serverUrl: string,
): string {
  const { path = {}, query = {}, headers = {}, body } = request
  const at = route.url.replaceAll(/:([A-Za-z0-9_]+)/g, (_match, name: string) =>
    name in path ? encodeURIComponent(path[name] ?? '') : `{${name}}`,
  )
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  const method = route.method === 'GET' ? '' : `-X ${route.method} `
  const lines = [`curl ${flag(route)}${method}${quoted(`${serverUrl}${at}${search && `?${search}`}`)}`]
  if (route.access !== 'public') lines.push(`-H "Authorization: Bearer $SERVICE_API_KEY"`)
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, null, 2))}`)
  }
  return lines.join(' \\\n  ')
}

/** Shows a stream as it arrives, and saves a download under the name that the service sends. */
function flag({ schema: { produces = [] } }: Pick<RouteEntry, 'schema'>): string {
  if (produces.includes('text/event-stream')) return '-N '
  return produces.some((type) => type === '*/*' || type === 'message/rfc822') ? '-OJ ' : ''
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
