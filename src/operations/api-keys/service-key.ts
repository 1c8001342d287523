import { parseApiKeys } from '../../platform/crypto/api-keys.ts'
import { textMatcher } from '../../platform/crypto/signature.ts'
import { type Authenticator, type Caller, sentKey } from '../../platform/http/index.ts'

/** SERVICE_API_KEY grants every scope. */
const SERVICE_CALLER: Caller = { owner: 'service', scopes: ['read', 'write', 'admin'] }

/** Accepts the one or two keys of SERVICE_API_KEY. The comparison takes constant time. */
export function serviceKey(keys: string): Authenticator {
  const matchers = parseApiKeys(keys).map(textMatcher)
  return {
    async authenticate(request) {
      const sent = sentKey(request)
      if (sent === undefined) return undefined
      // Compares with every key, so that the time does not depend on which one it is.
      const matches = matchers.map((isKey) => isKey(sent))
      return matches.includes(true) ? SERVICE_CALLER : undefined
    },
  }
}
