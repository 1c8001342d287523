/**
 * Connected mailboxes: their identity, credentials and status, and which process owns each.
 * Other rooms hear of changes through events; sync asks `Ownership` what it may touch.
 */
import './schema.ts'

export {
  type Account,
  type AccountStatus,
  type Accounts,
  type Fence,
  type LinkAccount,
  type Ownership,
  OwnershipLost,
} from './account.ts'
