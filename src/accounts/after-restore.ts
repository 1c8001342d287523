import type { Tx } from '../platform/db/index.ts'

/** Frees the accounts of a restored backup: the instances that owned them, or refreshed their tokens, are gone. */
export async function releaseAccounts(tx: Tx): Promise<void> {
  await tx.updateTable('accounts').set({ ownerInstance: null, tokenLease: null, tokenLeaseUntil: null }).execute()
}
