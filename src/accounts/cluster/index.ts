/** Which instance runs which account: every account belongs to one process, and only that process may store what it synced. */

export { databaseStore } from './database-store.ts'
export { DEAD_AFTER_MS } from './dead-instances.ts'
export { fence, sharedFence } from './fence.ts'
export { livingInstances, lockUnowned, syncTotalsOfAll, unownedAccounts } from './instance-store.ts'
export { type OwnershipDeps, type OwnershipTiming, ownership, ownershipOn } from './ownership.ts'
export type { BeatState, OwnedAccount, OwnershipStore, RegisteredInstance } from './ownership-store.ts'
export { runningInstances } from './read.ts'
