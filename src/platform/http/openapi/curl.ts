import { curlCommand } from '../../formats/curl.ts'
import type { ExampleRequest } from './examples.ts'
import type { RouteEntry } from './route-table.ts'

/** The request as a curl command. Path parameters without an example stay as `{name}`. */
export function curl(
  route: Pick<RouteEntry, 'method' | 'url' | 'access' | 'schema'>,
  request: ExampleRequest,
  serverUrl: string,
): string {
  const { path = {}, query = {}, headers = {}, body, files } = request
  const at = route.url.replaceAll(/:([A-Za-z0-9_]+)/g, (_match, name: string) =>
    name in path ? encodeURIComponent(path[name] ?? '') : `{${name}}`,
  )
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return curlCommand({
    method: route.method,
    url: `${serverUrl}${at}${search && `?${search}`}`,
    flags: flag(route),
    expanded: route.access === 'public' ? [] : ['Authorization: Bearer $SERVICE_API_KEY'],
    headers,
    ...(body !== undefined && { body: JSON.stringify(body, null, 2) }),
    ...(files !== undefined && { files }),
  })
}

/** Shows a stream as it arrives, and saves a download under the name that the service sends. */
function flag({ schema: { produces = [] } }: Pick<RouteEntry, 'schema'>): string {
  if (produces.includes('text/event-stream')) return '-N '
  return produces.some((type) => type === '*/*' || type === 'message/rfc822') ? '-OJ ' : ''
}
