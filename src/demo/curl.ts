import { curlCommand } from '../platform/formats/curl.ts'
import type { DemoService } from './service.ts'

/** A request to the service as a shell command, complete with the key of this demo. */
export function demoCurl(
  { url, key }: Pick<DemoService, 'url' | 'key'>,
  method: 'GET' | 'POST',
  path: string,
  body?: Record<string, unknown>,
): string {
  return curlCommand({
    method,
    url: url + path,
    headers: { Authorization: `Bearer ${key}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}
