/**
 * Mailboxes over IMAP: `sync/` keeps one sync connection per account, `request-connection.ts` serves live reads and other folders.
 * Nothing of imapflow leaves this folder; failures leave it as `ProviderError` only. Knows no database and no routes.
 * The service has all of it on a thread of its own, which loads `provider.ts`, imapflow and the parsers.
 */
export type { ImapLimits } from './limits.ts'
export { type ImapOnThread, imapOnThread } from './thread/on-thread.ts'
