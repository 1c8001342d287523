import type { Tx } from '../../platform/db/index.ts'

/** Frees the deliveries of a restored backup: the workers that held them are gone. */
export async function releaseDeliveries(tx: Tx): Promise<void> {
  await tx
    .updateTable('webhookDeliveries')
    .set({ lease: null, leasedUntil: null })
    .where('leasedUntil', 'is not', null)
    .execute()
}
