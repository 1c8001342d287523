/**
 * Who may call the API. Today the one key of the settings, which may do everything; stored keys with scopes are one more
 * `Authenticator` beside it (`firstOf`).
 */
export { serviceKey } from './service-key.ts'
