/**
 * Connected mailboxes. identity/ stores accounts and their status, connecting/ checks what a user enters, tokens/ refreshes and
 * revokes OAuth tokens, mailbox/ opens an account's mailbox for requests and numbers its changes. cluster/ (which instance runs
 * an account) and auth/ (the hosted pages) are modules of their own.
 */
import './tables.ts'

export { type FurtherServers, verifyFurtherServers } from './connecting/further-servers.ts'
export { type FormPorts, formPortErrors, verifyImap } from './connecting/imap-check.ts'
export {
  type ImapConnection,
  type ImapField,
  type ImapFields,
  parseImapConnection,
} from './connecting/imap-connection.ts'
export { checkMailbox } from './connecting/mailbox-check.ts'
export { OAUTH_SETTINGS } from './connecting/oauth-import.ts'
export { VerificationLimit } from './connecting/verification-limit.ts'
export { accountsFeature } from './feature.ts'
export {
  ACCOUNTS_TOPIC,
  type Account,
  type Accounts,
  type Fence,
  type LicenceCheck,
  type LinkAccount,
  type LinkedMailbox,
  type Ownership,
  type OwnershipChange,
  OwnershipLost,
  RefreshTokenMissing,
  type SyncScope,
  type SyncTotals,
  type WorkStatus,
} from './identity/account.ts'
export { type Erasure, erasure, requestErasure } from './identity/erasure.ts'
export { type AccountsDeps, accounts } from './identity/service.ts'
export {
  accountsAt,
  accountsBeingErased,
  accountsWithAddresses,
  countAccounts,
  countStalledAccounts,
  existingAccounts,
  mayBeLinked,
} from './identity/store.ts'
export {
  type ApiChanges,
  areLabelsCleared,
  findApiChanges,
  numberApiChange,
  StaleRead,
  setLabelsCleared,
} from './mailbox/api-changes.ts'
export { type LiveMailboxDeps, nameProblemOf, openMailbox, readLive, toAppError } from './mailbox/live-mailbox.ts'
export { readSyncHint, requestedSyncs, SYNC_TOPIC, syncableAccounts } from './mailbox/sync-requests.ts'
export { accountRoutes } from './routes.ts'
export { requireScopes } from './tokens/required-scopes.ts'
export { accessTokenOfGone, type RevocationDeps, revoker } from './tokens/revocation.ts'
export type { RefreshOutcome } from './tokens/tokens.ts'
