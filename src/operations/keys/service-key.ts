import { textMatcher } from '../../platform/crypto/signature.ts'
import { type Authenticator, type Caller, sentKey } from '../../platform/http/index.ts'

/** SERVICE_API_KEY grants every scope. */
const SERVICE_CALLER: Caller = { owner: 'service', scopes: ['read', 'write', 'admin'] }

/** Accepts SERVICE_API_KEY. The comparison takes constant time. */
export function serviceKey(key: string): Authenticator {
  const isKey = textMatcher(key)
  return {
    async authenticate(request) {
      const sent = sentKey(request)
      return sent !== undefined && isKey(sent) ? SERVICE_CALLER : undefined
    },
  }
}
