/**
 * API keys: which callers may use the API, and with which scopes. SERVICE_API_KEY is one, further ones are created over the API
 * and stored as hashes. Each source of keys is an `Authenticator`.
 */

import type { Ids } from '../../platform/ids.ts'
import { apiKeys } from './service.ts'
import { type StoredKeysDeps, storedKeys } from './stored-keys.ts'
import type {} from './tables.ts'

export { apiKeysFeature } from './feature.ts'
export { apiKeyRoutes } from './routes.ts'
export { serviceKey } from './service-key.ts'

/** The stored keys: `authenticator` accepts them, `service` manages them. */
export function keys(deps: StoredKeysDeps & { ids: Ids }) {
  const stored = storedKeys(deps)
  return { authenticator: stored, service: apiKeys({ ...deps, stored }), start: stored.start, stop: stored.stop }
}
