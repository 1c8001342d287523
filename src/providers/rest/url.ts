import { ProviderError } from '../contract/index.ts'
import type { RestRequest } from './contract.ts'

/** Where a request goes. An address outside the root's origin is refused: it would be shown the token. */
export function requestUrl(root: string, { path, query = {}, doing }: RestRequest): URL {
  const base = new URL(root)
  const text = path.startsWith('/') ? `${base.origin}${base.pathname.replace(/\/+$/, '')}${path}` : path
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw new ProviderError('unavailable', `${doing}: the provider gave an address that is none`)
  if (url.origin !== base.origin || url.username !== '' || url.password !== '') {
    throw new ProviderError('unavailable', `${doing}: the provider pointed to another host (${url.host})`)
  }
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) url.searchParams.append(name, String(one))
    }
  }
  return url
}
