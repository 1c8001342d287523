/**
 * Who may call the API. Today the one key of the settings, which may do everything; stored keys with scopes will be
 * one more `Authenticator` beside it.
 */
export { serviceKey } from './service-key.ts'
