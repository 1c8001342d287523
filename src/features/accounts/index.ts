/**
 * Connected mailboxes: their identity, credentials and status. connecting/ checks what a user enters, tokens/ refreshes
 * and revokes OAuth tokens, ownership/ assigns each account to one process, scheduler/ runs the accounts of a process.
 */
import './tables.ts'

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
} from './account.ts'
export { releaseAccounts } from './after-restore.ts'
export {
  type ApiChanges,
  areLabelsCleared,
  eraseApiChanges,
  findApiChanges,
  numberApiChange,
  StaleRead,
  setLabelsCleared,
} from './api-changes.ts'
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
export { type Erase, type Erasure, erasure, requestErasure } from './erasure.ts'
export { accountEvents } from './events.ts'
export { type LiveMailboxDeps, nameProblemOf, openMailbox, readLive, toAppError } from './live-mailbox.ts'
export { fence } from './ownership/fence.ts'
export { livingInstances, lockUnowned, syncTotalsOfAll, unownedAccounts } from './ownership/instance-store.ts'
export { type OwnershipTiming, ownership } from './ownership/ownership.ts'
export { runningInstances } from './ownership/read.ts'
export { accountRoutes } from './routes.ts'
export {
  errorText,
  OwnedScheduler,
  type RunContext,
  type RunResult,
  type RunState,
  type RunTotals,
} from './scheduler/owned-scheduler.ts'
export { type AccountsDeps, accounts } from './service.ts'
export {
  accountsAt,
  accountsBeingErased,
  accountsWithAddresses,
  countAccounts,
  countStalledAccounts,
  existingAccounts,
  mayBeLinked,
} from './store.ts'
export { readSyncHint, requestedSyncs, SYNC_TOPIC, syncableAccounts } from './sync-requests.ts'
export { SEALED_ACCOUNTS } from './tokens/account-secrets.ts'
export { requireScopes } from './tokens/required-scopes.ts'
export { accessTokenOfGone, type RevocationDeps, revoker, SEALED_REVOCATIONS } from './tokens/revocation.ts'
export type { RefreshOutcome } from './tokens/tokens.ts'
