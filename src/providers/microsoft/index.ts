/**
 * Outlook and Microsoft 365 over Graph v1.0: signing in, the mailbox (one position per folder, told by delta queries), live reads
 * and subscriptions to changes. Every id is an immutable one. Failures leave as `ProviderError` only; `map.ts` alone knows both
 * vocabularies. Knows no database and no routes.
 */
export { type MicrosoftLoginOptions, microsoftLogin } from './login.ts'
export { type MicrosoftDeps, microsoftProvider } from './mail.ts'
