/**
 * Connected mailboxes. identity/ stores accounts and their status, connecting/ checks what a user enters, tokens/ refreshes and
 * revokes OAuth tokens, tenants/ has the credentials and tokens that open all mailboxes of an organisation, mailbox/ opens an account's mailbox for requests and numbers its changes. cluster/ (which instance runs
 * an account) and auth/ (the hosted pages) are modules of their own.
 */
import type {} from './tables.ts'
import type {} from './tenants/tables.ts'

export { imapSignIn } from './connecting/imap-check.ts'
export type { ImapField, ImapFields } from './connecting/imap-connection.ts'
export { oauthMailboxes } from './connecting/mail-oauth.ts'
export { OAUTH_SETTINGS } from './connecting/oauth-import.ts'
export { VerificationLimit } from './connecting/verification-limit.ts'
export { accountsFeature } from './feature.ts'
export {
  ACCOUNTS_TOPIC,
  type Account,
  type Accounts,
  type Fence,
  type LinkAccount,
  type LinkedMailbox,
  type Ownership,
  type OwnershipChange,
  OwnershipLost,
  RefreshTokenMissing,
  type SyncTotals,
} from './identity/account.ts'
export { erasure, requestErasure } from './identity/erasure.ts'
export { accountQueries } from './identity/queries.ts'
export { accounts } from './identity/service.ts'
export {
  type ApiChanges,
  findApiChanges,
  numberApiChange,
  StaleRead,
} from './mailbox/change-numbers.ts'
export { areLabelsCleared, setLabelsCleared } from './mailbox/cleared-labels.ts'
export { describeNameProblem, type LiveMailboxDeps, openMailbox, readLive, toAppError } from './mailbox/live-mailbox.ts'
export { readSyncHint, SYNC_TOPIC } from './mailbox/sync-requests.ts'
export { accountRoutes } from './routes.ts'
export { openConnections } from './tenants/open.ts'
export type { RefreshOutcome } from './tokens/refresh.ts'
export { scopeChecks } from './tokens/required-scopes.ts'
export { revocations } from './tokens/revocation.ts'
