/**
 * Connected mailboxes: their identity, credentials and status, and which process owns each.
 * Other rooms hear of changes through events; sync asks `Ownership` what it may touch.
 */
import './schema.ts'

export {
  ACCOUNTS_TOPIC,
  type Account,
  type Accounts,
  type Fence,
  type LicenceCheck,
  type LinkAccount,
  type Ownership,
  type OwnershipChange,
  OwnershipLost,
  RefreshTokenMissing,
  type SyncScope,
  type WorkStatus,
} from './account.ts'
export { type Erase, type Erasure, erasure, requestErasure } from './erasure.ts'
export { accountEvents } from './events.ts'
export { fence } from './fence.ts'
export { formPortFaults, verifyImap } from './imap-check.ts'
export {
  type ImapConnection,
  type ImapField,
  type ImapFields,
  parseImapConnection,
} from './imap-connection.ts'
export { livingInstances, syncTotalsOfAll } from './instance-store.ts'
export { checkMailbox } from './mailbox-check.ts'
export { type OwnershipTiming, ownership } from './ownership.ts'
export { accountsAt } from './read.ts'
export { type RevocationDeps, refreshTokenOfGone, revoker } from './revocation.ts'
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
export { accountsBeingErased, countAccounts } from './store.ts'
export { readSyncHint, requestedSyncs, SYNC_TOPIC, syncableAccounts } from './sync-requests.ts'
