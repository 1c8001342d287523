/** Which instance runs which account: every account belongs to one process, and only that process may store what it synced. */
export { fence, sharedFence } from './fence.ts'
export { livingInstances, lockUnowned, syncTotalsOfAll, unownedAccounts } from './instance-store.ts'
export { type OwnershipTiming, ownership } from './ownership.ts'
export { runningInstances } from './read.ts'
