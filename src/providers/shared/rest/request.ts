import { ProviderError } from '../../contract/index.ts'
import type { RestRequest } from './contract.ts'

/** Refuses an address outside the root's origin, because the request carries the token. */
export function requestUrl(root: string, { path, query = {}, doing }: RestRequest): URL {
  const base = new URL(root)
  const text = path.startsWith('/') ? `${base.origin}${base.pathname.replace(/\/+$/, '')}${path}` : path
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw new ProviderError('unavailable', `${doing}: the provider returned an invalid link`)
  if (url.origin !== base.origin || url.username !== '' || url.password !== '') {
    throw new ProviderError('unavailable', `${doing}: the provider returned a link to another host (${url.host})`)
  }
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) url.searchParams.append(name, String(item))
    }
  }
  return url
}

export function requestHeaders({ headers, body }: RestRequest, token: string | undefined): Record<string, string> {
  return {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    // Google compresses responses only for clients that also name gzip here.
    'user-agent': 'Posthorn (gzip)',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
}

export function requestBody({ body }: RestRequest): string | Buffer | null {
  if (body === undefined) return null
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
}

/** Whether it may be sent twice. */
export function mayRepeat({ method, isRepeatable }: RestRequest): boolean {
  return method === 'GET' || isRepeatable === true
}
