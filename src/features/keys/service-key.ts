import { type Authenticator, type Caller, sentKey } from '../../infra/http/index.ts'
import { sameText } from '../../lib/signature.ts'

/** The holder of SERVICE_API_KEY. */
const SERVICE_CALLER: Caller = { owner: 'service', scopes: ['read', 'write', 'admin'] }

/** Knows SERVICE_API_KEY; the comparison takes the same time for every wrong key. */
export function serviceKey(key: string): Authenticator {
  return {
    async authenticate(request) {
      const sent = sentKey(request)
      return sent !== undefined && sameText(sent, key) ? SERVICE_CALLER : undefined
    },
  }
}
