/**
 * API keys: which callers may use the API, and with which scopes. Only SERVICE_API_KEY exists so far. Each source of keys
 * is an `Authenticator`.
 */
export { serviceKey } from './service-key.ts'
