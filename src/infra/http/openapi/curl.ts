import type { OperationExample } from './examples.ts'
import type { RouteEntry } from './route-table.ts'

/** The request as a curl command. Path parameters without an example stay as `{name}`. */
export function curl(route: RouteEntry, example: OperationExample, serverUrl: string): string {
  const { path = {}, query = {}, body } = example.request ?? {}
  const at = route.url.replaceAll(/:([A-Za-z0-9_]+)/g, (_match, name: string) => path[name] ?? `{${name}}`)
  const search = new URLSearchParams(query).toString()
  const lines = [
    `curl ${route.method === 'GET' ? '' : `-X ${route.method} `}'${serverUrl}${at}${search && `?${search}`}'`,
  ]
  if (route.access.startsWith('key:')) lines.push(`-H "Authorization: Bearer $SERVICE_API_KEY"`)
  if (body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`)
  }
  return lines.join(' \\\n  ')
}
