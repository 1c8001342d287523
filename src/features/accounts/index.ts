/**
 * Connected mailboxes: their identity, credentials and status, and which process owns each.
 * Other rooms hear of changes through events; sync asks `Ownership` what it may touch.
 */
import './schema.ts'

export {
  ACCOUNTS_TOPIC,
  type Account,
  type AccountChanges,
  type AccountStatus,
  type Accounts,
  type Fence,
  type LicenceCheck,
  type LinkAccount,
  type Ownership,
  type OwnershipChange,
  OwnershipLost,
  type TokenSummary,
  type WorkStatus,
} from './account.ts'
export { type Erase, type Erasure, type ErasureDeps, erasure } from './erasure.ts'
export { fence } from './fence.ts'
export { formPortFaults, verifyImap } from './imap-check.ts'
export {
  IMAP_FIELDS,
  type ImapConnection,
  type ImapField,
  type ImapFields,
  parseImapConnection,
} from './imap-connection.ts'
export { livingInstances } from './instance-store.ts'
export { type OwnershipDeps, type OwnershipTiming, ownership } from './ownership.ts'
export { type AccountRoutesDeps, accountRoutes } from './routes.ts'
export { accountSchema, imapFieldSchemas } from './schemas.ts'
export { type AccountsDeps, accounts } from './service.ts'
export { countAccounts, resolveAccount } from './store.ts'
