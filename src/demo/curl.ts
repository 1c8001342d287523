import type { DemoService } from './service.ts'

/** A request to the service as a shell command, complete with the key of this demo. */
export function curlCommand(
  { url, key }: Pick<DemoService, 'url' | 'key'>,
  method: 'GET' | 'POST',
  path: string,
  body?: Record<string, unknown>,
): string {
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url + path)}`]
  lines.push(`-H ${quoted(`Authorization: Bearer ${key}`)}`)
  if (body !== undefined)
    lines.push(`-H ${quoted('Content-Type: application/json')}`, `-d ${quoted(JSON.stringify(body))}`)
  return lines.join(' \\\n  ')
}

function quoted(text: string): string {
  return /^[\w:/.?=&%-]*$/.test(text) && !/[?&]/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
